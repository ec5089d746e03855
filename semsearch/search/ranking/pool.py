"""The candidates of several queries in one array, so that a passage that many queries share is read once.

The candidates of a thousand queries are a few thousand passages, each of which is read and decoded one time. To this
end the pairs of a query and a passage are visited in the order of the passages.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TypeVar

import numpy as np
import numpy.typing as npt

from semsearch.arrays.id_ranges import are_new, distinct

Int64 = npt.NDArray[np.int64]
Float64 = npt.NDArray[np.float64]
Bool = npt.NDArray[np.bool_]
Number = TypeVar("Number", np.int64, np.float64)


@dataclass(frozen=True, slots=True)
class Pool:
    """Pairs of a query and a passage: those of one query stand together, with rising ids of passages."""

    ids: Int64  # (p,) of the passages
    owners: Int64  # (p,) index of the query
    bounds: Int64  # (q + 1,) query i has the pairs bounds[i] to bounds[i + 1]

    @classmethod
    def of(cls, found: Sequence[Int64]) -> Pool:
        """Build from the ids found for each query; an id counts once for a query."""
        ids = np.concatenate([np.zeros(0, dtype=np.int64), *found])
        span = int(ids.max(initial=0)) + 1
        keys = distinct(np.repeat(np.arange(len(found)) * span, [len(each) for each in found]) + ids)
        owners = keys // span
        return cls(keys - owners * span, owners, np.searchsorted(owners, np.arange(len(found) + 1)))

    @property
    def slices(self) -> Iterator[slice]:
        """The slice of each query's pairs."""
        edges = self.bounds.tolist()
        return map(slice, edges[:-1], edges[1:])

    def largest(self, values: Float64, *, least: float) -> Float64:
        """The largest value of each query, ignoring NaN; `least` if none is larger. (p,) -> (q,)"""
        result = np.full(len(self.bounds) - 1, least)
        having = np.flatnonzero(self.bounds[1:] > self.bounds[:-1])
        if len(having):
            result[having] = np.fmax(np.fmax.reduceat(values, self.bounds[having]), least)
        return result

    def by_passage(self) -> PairGroups:
        """Group the pairs by their passages."""
        order = np.argsort(self.ids, kind="stable")
        rising = self.ids[order]
        is_new = are_new(rising)
        return PairGroups(rising[is_new], order, np.cumsum(is_new) - 1)


@dataclass(frozen=True, slots=True)
class PairGroups:
    """The pairs of a pool, grouped by their passages."""

    ids: Int64  # (u,) different ones, rising
    order: Int64  # (p,) positions in the pool
    which: Int64  # (p,) for each pair in that order, the index of its passage among the ids

    def parts(self, sizes: Int64, most: int) -> Iterator[tuple[slice, slice]]:
        """Divide the passages into parts whose sizes (u,) sum to about `most`: slices of the ids, and of the order."""
        groups = np.cumsum(sizes) // most
        starts = np.flatnonzero(are_new(groups))
        pairs = np.searchsorted(self.which, starts).tolist()
        edges, ends = [*starts.tolist(), len(sizes)], [*pairs, len(self.which)]
        return zip(map(slice, edges, edges[1:]), map(slice, ends, ends[1:]), strict=False)

    def to_pool(self, values: npt.NDArray[Number]) -> npt.NDArray[Number]:
        """Spread a value of each passage over all pairs of the pool that have it. (u,) -> (p,)"""
        result = np.empty(len(self.order), dtype=values.dtype)
        result[self.order] = values[self.which]
        return result
