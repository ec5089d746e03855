"""The vectors of out-of-vocabulary (OOV) words, cached."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from threading import Lock
from typing import Any

import numpy as np

from semsearch.arrays.hash_table import HashIndex
from semsearch.arrays.types import Float16, Float32
from semsearch.text.ragged import OovWords
from semsearch.word_vectors.loading import Reference, VectorsReference
from semsearch.word_vectors.table import Guessing, WordVectors


class WordMemory:
    """Caches the vectors that a function gives to words, for the first `most` words that it is called with.

    Vectors are rounded to float16, so that a word has the same vector whether it is cached or not. Threads may share a
    cache.
    """

    def __init__(self, of: Callable[[OovWords], Float32], dimension: int, *, most: int = 1 << 18) -> None:
        self._of = of
        self._index = HashIndex()
        self._rows = np.empty((most, dimension), dtype=np.float16)  # takes memory as it is filled
        self._lock = Lock()

    def __call__(self, unknown_words: OovWords) -> Float32:
        """The vectors of words, from the cache or the function. (u,) -> (u, d)"""
        result = np.empty((len(unknown_words), self._rows.shape[1]), dtype=np.float32)
        with self._lock:
            rows = self._index.look_up(unknown_words.hashes)
            known = np.flatnonzero(rows >= 0)
            result[known] = self._rows[rows[known]]
        new = np.flatnonzero(rows < 0)
        if len(new):
            distinct, which = unknown_words.take(new).distinct()
            found = self._of(distinct).astype(np.float16)  # by several threads at once: some words twice
            result[new] = found[which]
            self._remember(distinct, found)
        return result

    def _remember(self, words: OovWords, rows: Float16) -> None:
        with self._lock:
            first = len(self._index)
            fresh = np.flatnonzero(self._index.look_up(words.hashes) < 0)[: len(self._rows) - first]
            self._rows[first : first + len(fresh)] = rows[fresh]
            self._index.insert(words.hashes[fresh], np.arange(first, first + len(fresh), dtype=np.int32))


class OovVectors:
    """The vectors of OOV words: those of their pieces, or else zero.

    It is pickled with the word vectors by reference, and without its cache.
    """

    def __init__(self, vectors: WordVectors) -> None:
        self._vectors = vectors

    def __call__(self, unknown_words: OovWords) -> Float32:
        """The vectors of OOV words. (u,) -> (u, d)"""
        if self._by_pieces is None:
            return np.zeros((len(unknown_words), self._vectors.dimension), dtype=np.float32)
        return self._by_pieces(unknown_words)

    @cached_property
    def _by_pieces(self) -> WordMemory | None:
        vectors = self._vectors
        return WordMemory(vectors.guess, vectors.dimension) if isinstance(vectors, Guessing) else None

    def __reduce__(self) -> tuple[Any, ...]:
        return _opened, (VectorsReference.of(self._vectors),)


def _opened(vectors: Reference) -> OovVectors:
    return OovVectors(vectors.open())
