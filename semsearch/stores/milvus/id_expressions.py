"""Which rows of a collection may be found, as conditions on the id that Milvus reads quickly. Pure.

A condition takes time to read: five microseconds for each id in a list, half a millisecond for each range, and a chain
of fifty `or` is refused, being nested too deeply. So a few ids are listed, or those that are left out, and a few ranges
are told as a balanced tree. Where there are too many, the condition lets some unwanted rows through: then more are
asked for, and those are left out here (semsearch.stores.milvus.partition_reader).

Rows are counted over the ids that some segments hold, in their order; a run is the rows [start, stop).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

from semsearch.arrays.id_ranges import IdRanges

Int64 = npt.NDArray[np.int64]
Bool = npt.NDArray[np.bool_]

FIELD = "id"
LISTED = 2048  # ids in a condition, at most: ten milliseconds
RUNS = 16  # runs in a condition, at most


@dataclass(frozen=True)
class WantedRows:
    """The rows of held ids that are wanted, as rising runs with unwanted rows between them. (r,), (r,)"""

    held: IdRanges
    start: Int64
    stop: Int64

    @classmethod
    def among(cls, held: IdRanges, *, allowed: IdRanges | None, removed: IdRanges) -> WantedRows:
        """The rows of held ids that are allowed, if any are given, and not removed."""
        total = len(held)
        start, stop = _runs(held, removed)
        start, stop = np.concatenate(([0], stop)), np.concatenate((start, [total]))
        if allowed is not None:
            start, stop = _overlap(start, stop, *_runs(held, allowed))
        kept = stop > start
        start, stop = start[kept], stop[kept]
        apart = start[1:] != stop[:-1]
        return cls(held, start[np.append(True, apart)[: len(start)]], stop[np.append(apart, True)[: len(stop)]])

    def __len__(self) -> int:
        """The number of wanted rows."""
        return int((self.stop - self.start).sum())

    @cached_property
    def condition(self) -> str | None:
        """The condition of exactly these rows: "" if all are wanted; None if there is no quick one."""
        unwanted = len(self.held) - len(self)
        if not unwanted:
            return ""
        if len(self) <= LISTED:
            return f"{FIELD} in {self.ids.tolist()}"
        if len(self.start) <= RUNS:
            return self._ranges()
        if unwanted <= LISTED:
            return f"{FIELD} not in {self._others.ids.tolist()}"
        return None

    @property
    def ids(self) -> Int64:
        """The ids of the wanted rows, rising. (len(self),)"""
        counts = self.stop - self.start
        rows = np.arange(counts.sum()) + np.repeat(self.start - (np.cumsum(counts) - counts), counts)
        return self.held.ids(rows)

    @cached_property
    def cover(self) -> WantedRows:
        """These rows and as few more as leave so few runs that there is a condition: the smallest gaps are closed."""
        gaps = self.start[1:] - self.stop[:-1]
        if len(gaps) < RUNS:
            return self
        kept = np.sort(np.argsort(-gaps, kind="stable")[: RUNS - 1])
        first = np.concatenate(([0], kept + 1))
        last = np.append(kept, len(self.start) - 1)
        return WantedRows(self.held, self.start[first], self.stop[last])

    def has(self, ids: Int64) -> Bool:
        """Return which of some ids are those of wanted rows. (n,) -> (n,)"""
        return self.held.has(ids) & _inside(self.held.below(ids), self.start, self.stop)

    def pieces(self, most: int) -> Iterator[WantedRows]:
        """Divide the rows into pieces of at most `most`, each of which has a condition."""
        begins = np.cumsum(self.stop - self.start) - (self.stop - self.start)
        done, total = 0, len(self)
        while done < total:
            at = int(np.searchsorted(begins, done, side="right")) - 1
            by_runs = int(begins[at + RUNS]) if at + RUNS < len(begins) else total  # so many runs have a condition
            end = min(total, done + most, max(by_runs, done + min(most, LISTED)))
            yield self._between(begins, done, end)
            done = end

    def _between(self, begins: Int64, done: int, end: int) -> WantedRows:
        """The wanted rows from the `done`-th to the `end`-th, without it."""
        first = int(np.searchsorted(begins, done, side="right")) - 1
        last = int(np.searchsorted(begins, end - 1, side="right"))
        start, stop = self.start[first:last].copy(), self.stop[first:last].copy()
        start[0] += done - begins[first]
        stop[-1] = start[-1] + end - max(done, int(begins[last - 1]))
        return WantedRows(self.held, start, stop)

    @property
    def _others(self) -> WantedRows:
        start, stop = np.concatenate(([0], self.stop)), np.append(self.start, len(self.held))
        kept = stop > start
        return WantedRows(self.held, start[kept], stop[kept])

    def _ranges(self) -> str:
        first, last = self.held.ids(self.start).tolist(), self.held.ids(self.stop - 1).tolist()
        return _either([f"{a} <= {FIELD} <= {b}" for a, b in zip(first, last, strict=True)])


def _runs(held: IdRanges, ids: IdRanges) -> tuple[Int64, Int64]:
    """The runs of held rows with some ids; runs may be next to each other, or empty."""
    return held.below(ids.first), held.below(ids.first + ids.count)


def _overlap(a_start: Int64, a_stop: Int64, b_start: Int64, b_stop: Int64) -> tuple[Int64, Int64]:
    """The rows that are in runs of both."""
    edges = np.unique(np.concatenate((a_start, a_stop, b_start, b_stop)))
    start, stop = edges[:-1], edges[1:]
    inside = _inside(start, a_start, a_stop) & _inside(start, b_start, b_stop)
    return start[inside], stop[inside]


def _inside(rows: Int64, start: Int64, stop: Int64) -> Bool:
    """Return which rows are in rising runs."""
    if not len(start):
        return np.zeros(len(rows), dtype=np.bool_)
    at = np.searchsorted(start, rows, side="right") - 1
    return np.asarray((at >= 0) & (rows < stop[at]))


def _either(conditions: list[str]) -> str:
    """Join conditions by `or` as a balanced tree."""
    if len(conditions) == 1:
        return conditions[0]
    half = len(conditions) // 2
    return f"({_either(conditions[:half])}) or ({_either(conditions[half:])})"
