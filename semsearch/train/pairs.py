"""Count how often two words occur near each other: a symmetric window, counted by sorting, in bounded memory.

A pair at distance δ counts for L - δ + 1, the number out of L that word2vec would give it on average, which draws each
word's window from 1 to L ("dynamic context windows" in Levy, Goldberg, Dagan 2015, TACL 3, section 3.1). Here nothing
is drawn: the average itself is counted, in whole units, so that parts add up exactly. Words without a vector keep their
positions. Since the window is symmetric, only pairs with the smaller id first are kept.
"""

from __future__ import annotations

import logging

import numpy as np
import numpy.typing as npt
from scipy.sparse import csr_array

from semsearch.text.ragged import Ragged

Int32 = npt.NDArray[np.int32]
Int64 = npt.NDArray[np.int64]

MOST_PAIRS = 1 << 26  # distinct pairs in memory: 0.8 GB, and about eight times as much while they become vectors
_BATCH = 10_000_000  # pairs counted at a time
_log = logging.getLogger(__name__)


class PairCounter:
    """Counts pairs of V words in texts, some texts at a time.

    If more than `most` distinct pairs are found, the rarest are left out; `dropped_` is the largest count of those.
    """

    def __init__(self, size: int, *, window: int, most: int = MOST_PAIRS) -> None:
        self.size = size
        self.window = window
        self.most = most
        self.dropped_ = 0
        self._waiting: list[Ragged] = []
        self._words = 0  # that wait
        self._parts: list[csr_array] = []

    def add(self, texts: Ragged) -> None:
        """Count the pairs of some texts, in which the id -1 is a word without a vector."""
        self._waiting.append(texts)
        self._words += len(texts.ids)
        if self._words * self.window >= _BATCH:
            self._count()

    def finish(self) -> csr_array:
        """Return the counts of all pairs of ids i <= j, in units of 1/L. (V, V) int64"""
        self._count()
        while len(self._parts) > 1:
            self._merge()
        if self.dropped_:
            _log.warning(
                "more than %s different pairs of words; the rarest, up to a count of %s/%s, were left out",
                f"{self.most:,}", self.dropped_, self.window,
            )  # fmt: skip
        return self._parts[0]

    def _count(self) -> None:
        self._parts.append(count_pairs(Ragged.concatenate(self._waiting), self.size, window=self.window))
        self._waiting, self._words = [], 0
        while len(self._parts) > 1 and 2 * self._parts[-1].nnz > self._parts[-2].nnz:  # each is copied a few times
            self._merge()
        if sum(part.nnz for part in self._parts) > self.most:
            while len(self._parts) > 1:
                self._merge()
            if self._parts[0].nnz > self.most:
                self._drop()

    def _merge(self) -> None:
        last = self._parts.pop()
        self._parts[-1] = self._parts[-1] + last

    def _drop(self) -> None:
        """Drop the rarest pairs, so that at most three quarters of `most` remain."""
        (pairs,) = self._parts
        rank = pairs.nnz - 3 * self.most // 4
        rarest = int(np.partition(pairs.data, rank)[rank])
        pairs.data[pairs.data <= rarest] = 0
        pairs.eliminate_zeros()
        self.dropped_ = max(self.dropped_, rarest)


def count_pairs(texts: Ragged, size: int, *, window: int) -> csr_array:
    """Count the pairs of texts at once, in units of 1/L, the smaller id first. -> (V, V) int64"""
    rows = np.repeat(np.arange(len(texts)), texts.lengths)
    keys = [np.zeros(0, dtype=np.int64)]
    for distance in range(1, window + 1):
        left, right = texts.ids[:-distance], texts.ids[distance:]
        near = np.flatnonzero((rows[:-distance] == rows[distance:]) & (left >= 0) & (right >= 0))
        first, second = left[near].astype(np.int64), right[near].astype(np.int64)
        pair = np.minimum(first, second) * size + np.maximum(first, second)
        keys.append(pair * window + (window - distance))
    return _summed(np.concatenate(keys), size, window)


def _summed(keys: Int64, size: int, window: int) -> csr_array:
    """Add up the units of equal pairs: sorting the keys, each of a pair and its units, brings them together."""
    keys.sort()
    pairs, units = np.divmod(keys, window)
    starts = np.flatnonzero(np.diff(pairs, prepend=-1))
    sums = np.add.reduceat(units + 1, starts) if len(starts) else np.zeros(0, dtype=np.int64)
    rows, columns = np.divmod(pairs[starts], size)
    indptr = np.searchsorted(rows, np.arange(size + 1))
    return csr_array((sums, columns.astype(np.int32), indptr.astype(np.int32)), shape=(size, size))
