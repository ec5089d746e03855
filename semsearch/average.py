"""Ragged word ids and word vectors to the averages of each text.

The average is a sparse matrix, a row a text and a column a word, times the table of word vectors.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from semsearch.strangers import NONE, Strangers

Float32 = npt.NDArray[np.float32]


@dataclass(frozen=True, slots=True)
class Ragged:
    """The words of n texts: text i has the word ids ids[indptr[i]:indptr[i + 1]]. (t,) int32, (n + 1,) int64

    An id below zero is a word outside the table, of those that come with the texts: -1 - i is strangers[i].
    """

    ids: npt.NDArray[np.int32]
    indptr: npt.NDArray[np.int64]
    strangers: Strangers = NONE

    def __len__(self) -> int:
        return len(self.indptr) - 1

    @property
    def lengths(self) -> npt.NDArray[np.int64]:
        """How many words each text has. (n,)"""
        return np.diff(self.indptr)

    def joined(self, starts: npt.NDArray[np.int64]) -> Ragged:
        """Rows starts[i] to starts[i + 1] as one row: sentences to passages. (m + 1,) -> m rows"""
        return Ragged(
            self.ids[self.indptr[starts[0]] : self.indptr[starts[-1]]],
            self.indptr[starts] - self.indptr[starts[0]],
            self.strangers,
        )

    def take(self, rows: npt.NDArray[np.integer[Any]]) -> Ragged:
        """Some of the rows, in the order given."""
        lengths = self.lengths[rows]
        indptr = np.concatenate(([0], np.cumsum(lengths)))
        places = np.arange(indptr[-1]) + np.repeat(self.indptr[rows] - indptr[:-1], lengths)
        return Ragged(self.ids[places], indptr, self.strangers)

    def part(self, first: int, last: int) -> Ragged:
        """Rows first to last."""
        start, end = self.indptr[first], self.indptr[last]
        return Ragged(self.ids[start:end], self.indptr[first : last + 1] - start, self.strangers)

    def only(self, chosen: npt.NDArray[np.bool_]) -> Ragged:
        """The chosen words of each text. (t,) -> n rows"""
        dropped = np.flatnonzero(~chosen)
        return Ragged(self.ids[chosen], self.indptr - np.searchsorted(dropped, self.indptr), self.strangers)

    def without_repetitions(self) -> Ragged:
        """Each text's words once, in order of their ids."""
        rows = np.repeat(np.arange(len(self), dtype=np.int64), self.lengths)
        pairs = np.unique(rows << 32 | self.ids.view(np.uint32))
        bounds = np.searchsorted(pairs, np.arange(len(self) + 1, dtype=np.int64) << 32)
        return Ragged((pairs & 0xFFFFFFFF).astype(np.uint32).view(np.int32), bounds, self.strangers)

    @staticmethod
    def concatenate(parts: Sequence[Ragged]) -> Ragged:
        """All rows of all parts, in order."""
        if not parts:
            return Ragged(np.zeros(0, dtype=np.int32), np.zeros(1, dtype=np.int64))
        lengths = np.concatenate([part.lengths for part in parts])
        before = np.cumsum([0, *(len(part.strangers) for part in parts)])
        ids = [np.where(part.ids < 0, part.ids - first, part.ids) for part, first in zip(parts, before, strict=False)]
        return Ragged(
            np.concatenate(ids).astype(np.int32),
            np.concatenate(([0], np.cumsum(lengths))),
            Strangers.concatenate([part.strangers for part in parts]),
        )


def average(texts: Ragged, table: Float32, strangers: Float32 | None = None) -> Float32:
    """(1/|s|) Σ_{w∈s} table[w]; a zero row for a text without words. n texts, (V, d), (u, d) -> (n, d)

    Where texts have strangers, their rows must be given.
    """
    shares = np.repeat((1 / np.maximum(texts.lengths, 1)).astype(np.float32), texts.lengths)
    return _weighed(texts, shares, table, strangers)


def total(texts: Ragged, table: Float32, strangers: Float32 | None = None) -> Float32:
    """Σ_{w∈s} table[w], the same without the division. n texts, (V, d), (u, d) -> (n, d)"""
    return _weighed(texts, np.ones(len(texts.ids), dtype=np.float32), table, strangers)


def _weighed(texts: Ragged, shares: Float32, table: Float32, strangers: Float32 | None) -> Float32:
    strange = texts.ids < 0 if strangers is not None and len(strangers) else None
    if strangers is None or strange is None or not strange.any():
        return _product(texts, shares, table)
    result = _product(texts.only(~strange), shares[~strange], table)
    some = np.unique(np.repeat(np.arange(len(texts)), texts.lengths)[strange])  # most texts have none
    others = texts.only(strange).take(some)
    result[some] += _product(Ragged(-1 - others.ids, others.indptr), shares[strange], strangers)
    return result


def _product(texts: Ragged, shares: Float32, table: Float32) -> Float32:
    """Σ_{w∈s} share[w] table[w]. n texts, (t,), (V, d) -> (n, d)"""
    from scipy.sparse import csr_array  # start-up time: a query needs no sparse product

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
