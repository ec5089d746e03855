"""Ragged word ids and word vectors to the averages of each text.

The average is a sparse matrix, a row a text and a column a word, times the table of word vectors.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

Float32 = npt.NDArray[np.float32]


@dataclass(frozen=True, slots=True)
class Ragged:
    """The known words of n texts: text i has the word ids ids[indptr[i]:indptr[i + 1]]. (t,) int32, (n + 1,) int64"""

    ids: npt.NDArray[np.int32]
    indptr: npt.NDArray[np.int64]

    def __len__(self) -> int:
        return len(self.indptr) - 1

    @property
    def lengths(self) -> npt.NDArray[np.int64]:
        """How many known words each text has. (n,)"""
        return np.diff(self.indptr)

    def joined(self, starts: npt.NDArray[np.int64]) -> Ragged:
        """Rows starts[i] to starts[i + 1] as one row: sentences to passages. (m + 1,) -> m rows"""
        return Ragged(
            self.ids[self.indptr[starts[0]] : self.indptr[starts[-1]]],
            self.indptr[starts] - self.indptr[starts[0]],
        )

    def take(self, rows: npt.NDArray[np.integer[Any]]) -> Ragged:
        """Some of the rows, in the order given."""
        lengths = self.lengths[rows]
        indptr = np.concatenate(([0], np.cumsum(lengths)))
        places = np.arange(indptr[-1]) + np.repeat(self.indptr[rows] - indptr[:-1], lengths)
        return Ragged(self.ids[places], indptr)

    def part(self, first: int, last: int) -> Ragged:
        """Rows first to last."""
        start, end = self.indptr[first], self.indptr[last]
        return Ragged(self.ids[start:end], self.indptr[first : last + 1] - start)

    def without_repetitions(self) -> Ragged:
        """Each text's words once, in order of their ids."""
        rows = np.repeat(np.arange(len(self), dtype=np.int64), self.lengths)
        pairs = np.unique(rows << 32 | self.ids)
        bounds = np.searchsorted(pairs, np.arange(len(self) + 1, dtype=np.int64) << 32)
        return Ragged((pairs & 0xFFFFFFFF).astype(np.int32), bounds)

    @staticmethod
    def concatenate(parts: Sequence[Ragged]) -> Ragged:
        """All rows of all parts, in order."""
        if not parts:
            return Ragged(np.zeros(0, dtype=np.int32), np.zeros(1, dtype=np.int64))
        lengths = np.concatenate([part.lengths for part in parts])
        return Ragged(np.concatenate([part.ids for part in parts]), np.concatenate(([0], np.cumsum(lengths))))


def average(texts: Ragged, table: Float32) -> Float32:
    """(1/|s|) Σ_{w∈s} table[w]; a zero row for a text without words. n texts, (V, d) -> (n, d)"""
    from scipy.sparse import csr_array  # start-up time: a query needs no sparse product

    lengths = texts.lengths
    shares = np.repeat((1 / np.maximum(lengths, 1)).astype(np.float32), lengths)
    indptr = texts.indptr.astype(np.int32)  # indices of one type are not copied
    matrix = csr_array((shares, texts.ids, indptr), shape=(len(texts), len(table)))
    return np.asarray(matrix @ table, dtype=np.float32)


def average_few(texts: Ragged, rows: Float32) -> Float32:
    """The same where few words' rows are at hand, one for each word of the texts. n texts, (t, d) -> (n, d)"""
    result = np.zeros((len(texts), rows.shape[1]), dtype=np.float32)
    lengths = texts.lengths
    filled = np.flatnonzero(lengths)
    if len(filled):
        result[filled] = np.add.reduceat(rows, texts.indptr[filled], axis=0) / lengths[filled, None].astype(np.float32)
    return result
