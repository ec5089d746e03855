"""The vectors of out-of-vocabulary (OOV) words, from their pieces, and remembered."""

from __future__ import annotations

from threading import Lock
from typing import Any

import numpy as np

from semsearch.arrays.hash_table import HashIndex
from semsearch.arrays.types import Float16, Float32
from semsearch.text.ragged import OovWords
from semsearch.word_vectors.loading import Reference, VectorsReference
from semsearch.word_vectors.table import Guessing, WordVectors


class OovVectors:
    """The vectors of OOV words by `WordVectors.guess`, or zeros; those of the first `most` words are remembered.

    Vectors are rounded to float16, so that a word has the same vector whether it is remembered or not. Threads may
    share it. It is pickled with the word vectors by reference, and without what it remembers.
    """

    def __init__(self, vectors: WordVectors, *, most: int = 1 << 18) -> None:
        self._vectors = vectors
        self._index = HashIndex()
        self._rows = np.empty((most, vectors.dimension), dtype=np.float16)  # takes memory as it is filled
        self._lock = Lock()

    def __call__(self, unknown_words: OovWords) -> Float32:
        """The vectors of OOV words. (u,) -> (u, d)"""
        result: Float32 = np.zeros((len(unknown_words), self._rows.shape[1]), dtype=np.float32)
        if not isinstance(self._vectors, Guessing):
            return result
        with self._lock:
            rows = self._index.look_up(unknown_words.hashes)
            known = np.flatnonzero(rows >= 0)
            result[known] = self._rows[rows[known]]
        new = np.flatnonzero(rows < 0)
        if len(new):
            distinct, which = unknown_words.take(new).distinct()
            vectors = self._vectors.guess(distinct).astype(np.float16)  # by several threads at once: some words twice
            result[new] = vectors[which]
            self._remember(distinct, vectors)
        return result

    def _remember(self, words: OovWords, rows: Float16) -> None:
        with self._lock:
            first = len(self._index)
            fresh = np.flatnonzero(self._index.look_up(words.hashes) < 0)[: len(self._rows) - first]
            self._rows[first : first + len(fresh)] = rows[fresh]
            self._index.insert(words.hashes[fresh], np.arange(first, first + len(fresh), dtype=np.int32))

    def __reduce__(self) -> tuple[Any, ...]:
        return _opened, (VectorsReference.of(self._vectors),)


def _opened(vectors: Reference) -> OovVectors:
    return OovVectors(vectors.open())
