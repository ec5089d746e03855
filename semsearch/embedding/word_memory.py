"""A cache for a function that gives words their vectors."""

from __future__ import annotations

from collections.abc import Callable
from threading import Lock

import numpy as np
import numpy.typing as npt

from semsearch.arrays.hash_table import HashIndex
from semsearch.text.unknown_words import UnknownWords

Float32 = npt.NDArray[np.float32]


class WordMemory:
    """Caches the vectors that a function gives to words, for the first `most` words that it is called with.

    Vectors are rounded to float16, so that a word has the same vector whether it is cached or not. Threads may share a
    cache.
    """

    def __init__(self, of: Callable[[UnknownWords], Float32], dimension: int, *, most: int = 1 << 18) -> None:
        self._of = of
        self._index = HashIndex()
        self._rows = np.empty((most, dimension), dtype=np.float16)  # takes memory as it is filled
        self._lock = Lock()

    def __call__(self, unknown_words: UnknownWords) -> Float32:
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

    def _remember(self, words: UnknownWords, rows: npt.NDArray[np.float16]) -> None:
        with self._lock:
            first = len(self._index)
            fresh = np.flatnonzero(self._index.look_up(words.hashes) < 0)[: len(self._rows) - first]
            self._rows[first : first + len(fresh)] = rows[fresh]
            self._index.insert(words.hashes[fresh], np.arange(first, first + len(fresh), dtype=np.int32))
