"""What a function of words gave, remembered for the words that come again."""

from __future__ import annotations

from collections.abc import Callable
from threading import Lock

import numpy as np
import numpy.typing as npt

from semsearch.arrays.hash_table import HashIndex
from semsearch.text.unknown_words import Strangers

Bytes = npt.NDArray[np.uint8]
Float32 = npt.NDArray[np.float32]
Int32 = npt.NDArray[np.int32]
Int64 = npt.NDArray[np.int64]


class Memory:
    """A function of words, rounded to float16; what it gives for the first words that it meets is remembered.

    Threads may share one. It gives a word the same whether it remembers it or not.
    """

    def __init__(self, of: Callable[[Strangers], Float32], dimension: int, *, most: int = 1 << 18) -> None:
        self._of = of
        self._index = HashIndex()
        self._rows = np.empty((most, dimension), dtype=np.float16)  # takes memory as it is filled
        self._lock = Lock()

    def __call__(self, strangers: Strangers) -> Float32:
        """(u,) -> (u, d)"""
        result = np.empty((len(strangers), self._rows.shape[1]), dtype=np.float32)
        with self._lock:
            places = self._index.look_up(strangers.hashes)
            known = np.flatnonzero(places >= 0)
            result[known] = self._rows[places[known]]
        new = np.flatnonzero(places < 0)
        if len(new):
            distinct, which = strangers.take(new).distinct()
            found = self._of(distinct).astype(np.float16)  # by several threads at once: some words twice
            result[new] = found[which]
            self._remember(distinct, found)
        return result

    def _remember(self, words: Strangers, rows: npt.NDArray[np.float16]) -> None:
        with self._lock:
            first = len(self._index)
            fresh = np.flatnonzero(self._index.look_up(words.hashes) < 0)[: len(self._rows) - first]
            self._rows[first : first + len(fresh)] = rows[fresh]
            self._index.insert(words.hashes[fresh], np.arange(first, first + len(fresh), dtype=np.int32))
