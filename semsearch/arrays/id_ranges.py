"""The ids of a segment's rows, as ranges: row offset + i has the id first + i, for i below count.

Ids are handed out in sequence and rise with the rows, so a segment of a million vectors is one range, and a few more
after merges have dropped what was removed. No array as long as the segment is ever stored, loaded or searched.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from semsearch.arrays.types import Bool, Int64


@dataclass(frozen=True)
class IdRanges:
    """Rising, disjoint ranges of ids: first (r,) and count (r,), int64, counts above zero."""

    first: Int64
    count: Int64

    @classmethod
    def of(cls, ranges: Iterable[tuple[int, int]]) -> IdRanges:
        """Build from (first, count) pairs in any order. Adjacent ranges are joined, empty ones dropped."""
        array: Int64 = np.array(sorted(ranges), dtype=np.int64).reshape(-1, 2)
        array = array[array[:, 1] > 0]
        first, count = array[:, 0], array[:, 1]
        heads = np.flatnonzero(np.concatenate(([True], first[1:] != first[:-1] + count[:-1]))) if len(first) else first
        return cls(first[heads], np.add.reduceat(count, heads) if len(first) else count)

    @classmethod
    def union(cls, parts: Iterable[IdRanges]) -> IdRanges:
        """The ids of all parts, which have none in common."""
        return cls.of(pair for part in parts for pair in zip(part.first.tolist(), part.count.tolist(), strict=True))

    @classmethod
    def of_ids(cls, ids: Int64) -> IdRanges:
        """Build from rising ids. (n,)"""
        heads = np.flatnonzero(np.concatenate(([True], np.diff(ids) != 1))) if len(ids) else np.zeros(0, dtype=np.int64)
        return cls(ids[heads], np.diff(np.concatenate((heads, [len(ids)]))))

    @cached_property
    def offset(self) -> Int64:
        """The row of each range's first id. (r,)"""
        return np.cumsum(self.count) - self.count

    def __len__(self) -> int:
        """The number of ids in all ranges."""
        return int(self.count.sum())

    @property
    def ranges(self) -> list[tuple[int, int]]:
        """(first, count) of each range."""
        return list(zip(self.first.tolist(), self.count.tolist(), strict=True))

    def ids(self, rows: Int64) -> Int64:
        """The ids at the given rows. (n,) -> (n,)"""
        index = np.searchsorted(self.offset, rows, side="right") - 1
        return np.asarray(self.first[index] + rows - self.offset[index])

    def all_ids(self) -> Int64:
        """All ids of all ranges, rising. (len(self),)"""
        return self.ids(np.arange(len(self), dtype=np.int64))

    def below(self, ids: Int64) -> Int64:
        """For each given id, count the ids of the ranges below it: its row, or the next id's if it has none.

        (n,) -> (n,)
        """
        if not len(self.first):
            return np.zeros(len(ids), dtype=np.int64)
        index = np.searchsorted(self.first, ids, side="right") - 1
        inside = np.minimum(ids - self.first[index], self.count[index])
        return np.where(index < 0, 0, self.offset[index] + inside)

    def has(self, ids: Int64) -> Bool:
        """Return which of the given ids are in the ranges. (n,) -> (n,)"""
        if not len(self.first):
            return np.zeros(len(ids), dtype=np.bool_)
        index = np.searchsorted(self.first, ids, side="right") - 1
        return np.asarray((index >= 0) & (ids - self.first[index] < self.count[index]))

    def rows_in(self, others: IdRanges) -> Bool:
        """Return which rows have an id that is also in `others`. (len(self),)"""
        edges = np.zeros(len(self) + 1, dtype=np.int64)
        np.add.at(edges, self.below(others.first), 1)
        np.add.at(edges, self.below(others.first + others.count), -1)
        return np.cumsum(edges[:-1]) > 0

    def overlap(self, others: IdRanges) -> int:
        """Count the ids that are also in `others`."""
        return int((self.below(others.first + others.count) - self.below(others.first)).sum())

    def without(self, others: IdRanges) -> IdRanges:
        """Return the ranges of the ids that are not in `others`."""
        kept = ~self.rows_in(others)
        return self if kept.all() else IdRanges.of_ids(self.all_ids()[kept])

    def to_bytes(self) -> bytes:
        """The pairs of first and count as little-endian int64."""
        return np.stack((self.first, self.count), axis=1).astype("<i8").tobytes()

    @classmethod
    def from_bytes(cls, data: bytes) -> IdRanges:
        """Read what `to_bytes` wrote."""
        array = np.frombuffer(data, dtype="<i8").reshape(-1, 2).astype(np.int64)
        return cls(array[:, 0], array[:, 1])


def distinct(ids: Int64) -> Int64:
    """The distinct ids, rising. np.unique would import numpy.ma, which takes a twentieth of a cold query's time."""
    rising = np.sort(ids)
    return rising[are_new(rising)]


def are_new(values: npt.NDArray[Any]) -> Bool:
    """Return which values differ from the one before; the first always does. (n,)

    For few values, np.diff takes four times as long.
    """
    new = np.ones(len(values), dtype=np.bool_)
    new[1:] = values[1:] != values[:-1]
    return new


def evenly(count: int, most: int) -> Int64:
    """Choose at most `most` of the numbers below `count`, at even distances, rising."""
    size = min(count, most)
    return np.arange(size, dtype=np.int64) * count // max(size, 1)
