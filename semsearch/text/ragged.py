"""Texts as word ids: rows of different lengths in one array, with the offsets of the rows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from semsearch.text.unknown_words import NONE, UnknownWords


@dataclass(frozen=True, slots=True)
class Ragged:
    """The word ids of n texts: text i has ids[indptr[i]:indptr[i + 1]]. (t,) int32, (n + 1,) int64

    An id below zero is an unknown word: -1 - i is word i of those that come with the texts.
    """

    ids: npt.NDArray[np.int32]
    indptr: npt.NDArray[np.int64]
    unknown_words: UnknownWords = NONE

    def __len__(self) -> int:
        return len(self.indptr) - 1

    @property
    def lengths(self) -> npt.NDArray[np.int64]:
        """The number of words of each text. (n,)"""
        return np.diff(self.indptr)

    @property
    def known_shares(self) -> npt.NDArray[np.float64]:
        """The share of each text's words that are known; 0 for a text without words. (n,)"""
        owners = np.repeat(np.arange(len(self)), self.lengths)
        return np.bincount(owners, weights=self.ids >= 0, minlength=len(self)) / np.maximum(self.lengths, 1)

    def joined(self, starts: npt.NDArray[np.int64]) -> Ragged:
        """Join rows starts[i] to starts[i + 1] into one row, as sentences into passages. (m + 1,) -> m rows"""
        return Ragged(
            self.ids[self.indptr[starts[0]] : self.indptr[starts[-1]]],
            self.indptr[starts] - self.indptr[starts[0]],
            self.unknown_words,
        )

    def take(self, rows: npt.NDArray[np.integer[Any]]) -> Ragged:
        """The rows with the given numbers, in the order given."""
        lengths = self.lengths[rows]
        indptr = np.concatenate(([0], np.cumsum(lengths)))
        positions = np.arange(indptr[-1]) + np.repeat(self.indptr[rows] - indptr[:-1], lengths)
        return Ragged(self.ids[positions], indptr, self.unknown_words)

    def part(self, first: int, last: int) -> Ragged:
        """The rows from `first` up to, not including, `last`."""
        start, end = self.indptr[first], self.indptr[last]
        return Ragged(self.ids[start:end], self.indptr[first : last + 1] - start, self.unknown_words)

    def only(self, chosen: npt.NDArray[np.bool_]) -> Ragged:
        """Keep only the chosen words of each text. (t,) -> n rows"""
        dropped = np.flatnonzero(~chosen)
        return Ragged(self.ids[chosen], self.indptr - np.searchsorted(dropped, self.indptr), self.unknown_words)

    def with_distinct_unknown(self) -> Ragged:
        """The same texts with each of their unknown words once, in order of the hashes, as the tokeniser gives them."""
        is_unknown = self.ids < 0
        distinct, which = self.unknown_words.take(-1 - self.ids[is_unknown].astype(np.int64)).distinct()
        ids = self.ids.copy()
        ids[is_unknown] = -1 - which
        return Ragged(ids, self.indptr, distinct)

    def without_repetitions(self) -> Ragged:
        """The distinct words of each text, in order of their ids."""
        rows = np.repeat(np.arange(len(self), dtype=np.int64), self.lengths)
        pairs = np.unique(rows << 32 | self.ids.view(np.uint32))
        bounds = np.searchsorted(pairs, np.arange(len(self) + 1, dtype=np.int64) << 32)
        return Ragged((pairs & 0xFFFFFFFF).astype(np.uint32).view(np.int32), bounds, self.unknown_words)

    @staticmethod
    def concatenate(parts: Sequence[Ragged]) -> Ragged:
        """All rows of all parts, in order."""
        if not parts:
            return Ragged(np.zeros(0, dtype=np.int32), np.zeros(1, dtype=np.int64))
        lengths = np.concatenate([part.lengths for part in parts])
        before = np.cumsum([0, *(len(part.unknown_words) for part in parts)])
        ids = [np.where(part.ids < 0, part.ids - first, part.ids) for part, first in zip(parts, before, strict=False)]
        return Ragged(
            np.concatenate(ids).astype(np.int32),
            np.concatenate(([0], np.cumsum(lengths))),
            UnknownWords.concatenate([part.unknown_words for part in parts]),
        )
