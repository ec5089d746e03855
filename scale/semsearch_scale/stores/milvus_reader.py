"""Search and fetch from the partitions of a generation in Milvus, under conditions on ids.

A condition takes time to parse: five microseconds for each id in a list, half a millisecond for each range; and a chain
of fifty `or` is refused as nested too deeply. So a few allowed ids, or a few excluded ones, are listed, and a few
ranges are sent as a balanced tree. Where there are too many, the condition lets some unwanted rows through; then more
are asked for, and the unwanted are dropped here. Rows are counted over the ids that some segments hold, in their order;
a run is the rows [start, stop).

Milvus takes writes from a log, and a query may arrive before it has read them. So each segment keeps the time at which
it was written, by the server's clock, and a query says up to when Milvus must have read: a new segment answers
completely, and an older one without waiting.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Any

import numpy as np

from semsearch.arrays.id_ranges import IdRanges
from semsearch.arrays.top_k import TopKResult, merged, nothing_found, stacked
from semsearch.arrays.types import Bool, Float32, Int64
from semsearch.dense.stored_vectors import StoredVectors, nothing_stored
from semsearch.dense.vector_store import check_dimension
from semsearch.errors import IndexDamaged, StorageError
from semsearch.storage.segments import Segment
from semsearch_scale.stores.milvus_server import Collections

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
        """The condition of exactly these rows: "" if all are wanted; None if it would take too long."""
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
        """These rows with the smallest gaps closed, until there are few enough runs for a condition."""
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


# -- Partition reader --------------------------------------------------------------------------------------------------


DEEPEST = 16384  # answers to a query, at most
_AT_ONCE = 1 << 20  # answers to all queries of a call
_BYTES = 1 << 22  # of vectors that are fetched by a call
_ROUNDING = 2e-3  # the error of a number in half precision, at most
_FEWEST = 64  # rows more than that
_SPARE = 1.5  # times as many rows are requested as should contain enough wanted ones
_FARTHEST = 32768  # `ef`, as Milvus has it
_NARROW = 1.25  # the power of 1 / share by which graphs are searched farther for a share of their rows


@dataclass(frozen=True, slots=True)
class PartitionDigest:
    """The manifest's digest of a partition: its collection, the time of its last write by the server's clock, how far
    its graph is searched, and the digest of its numbers."""

    collection: str
    written: int
    ef: int
    digest: str

    @property
    def text(self) -> str:
        """All of it as a text."""
        return f"{self.collection} {self.written} {self.ef} {self.digest}"

    @classmethod
    def of(cls, segment: Segment) -> PartitionDigest:
        """Read what a segment keeps. Raises IndexDamaged."""
        try:
            collection, written, ef, digest = segment.digest.split(" ")
            return cls(collection, int(written), int(ef), digest)
        except ValueError as error:
            raise IndexDamaged(
                f"{segment.file} is not a segment of Milvus: its digest is {segment.digest!r}; run: "
                "semsearch index --rebuild"
            ) from error


class PartitionsOfCollection:
    """The segments of a generation in one collection, which are searched together."""

    def __init__(self, collections: Collections, which: str, segments: Sequence[Segment]) -> None:
        self.which = which
        self.dimension = int(which.rsplit("_", 1)[1])
        self.held = IdRanges.of(pair for segment in segments for pair in segment.id_ranges.ranges)
        self.segments = segments
        self._collections = collections
        self._partitions = [segment.file for segment in segments]
        kept = [PartitionDigest.of(segment) for segment in segments]
        self._ef = max(one.ef for one in kept)
        self._asked: dict[str, Any] = {
            "collection_name": f"{collections.name}_{which}",
            "partition_names": self._partitions,
            "consistency_level": "Customized",
            "guarantee_timestamp": max(one.written for one in kept),
        }

    def search(self, queries: Float32, n: int, wanted: WantedRows, *, ef: int = 0) -> TopKResult:
        """Find the n best of wanted rows for each query; `ef`: how far graphs are searched. (q, d) -> (q, ≤ n)"""
        n = min(n, len(wanted))
        if not n or not len(queries):
            return nothing_found(len(queries))
        if n > DEEPEST:
            return self._in_pieces(queries, n, wanted, ef)
        if wanted.condition is not None:
            return self._found(queries, n, wanted, ef)
        share = len(wanted) / len(wanted.cover)
        if (more := int(n / share * _SPARE) + _FEWEST) <= DEEPEST:
            found = self._found(queries, more, wanted.cover, ef)
            kept = _only(found, wanted, n)
            if (kept.ids[:, -1] >= 0).all():
                return kept
        return self._in_pieces(queries, n, wanted, ef)

    def fetch(self, ids: Int64) -> tuple[Int64, Float32]:
        """Fetch the vectors of held ids, in any order; those that are missing are left out. (n,) -> (m,), (m, d)"""
        size = max(1, min(LISTED, _BYTES // (4 * self.dimension)))
        parts = [self._fetched(ids[first : first + size]) for first in range(0, len(ids), size)]
        return np.concatenate([part[0] for part in parts]), np.concatenate([part[1] for part in parts])

    def _in_pieces(self, queries: Float32, n: int, wanted: WantedRows, ef: int) -> TopKResult:
        best = nothing_found(len(queries))
        for piece in wanted.pieces(DEEPEST):
            found = self._found(queries, min(n, len(piece)), piece, ef)
            best = merged([best, found], n)
        return best

    def _found(self, queries: Float32, n: int, rows: WantedRows, ef: int) -> TopKResult:
        size = max(1, _AT_ONCE // n)
        far = {"params": {"ef": _far(ef or self._ef, n, len(rows) / len(self.held))}} if self._ef else {}
        asked = {
            **self._asked,
            "anns_field": "vector",
            "limit": n,
            "filter": rows.condition or "",
            "search_params": {"metric_type": "IP", **far},
        }
        parts = [queries[first : first + size] for first in range(0, len(queries), size)]
        return stacked([self._ask(partial(_search, asked, part)) for part in parts])

    def _fetched(self, ids: Int64) -> tuple[Int64, Float32]:
        first, last = int(ids.min()), int(ids.max())
        rows = self.held.below(np.array([first, last]))
        are_all = int(rows[1] - rows[0]) + 1 == len(ids)
        condition = f"{first} <= {FIELD} <= {last}" if are_all else f"{FIELD} in {ids.tolist()}"
        found = self._ask(partial(_query, {**self._asked, "filter": condition, "output_fields": [FIELD, "vector"]}))
        vectors = np.array([row["vector"] for row in found], dtype=np.float32).reshape(-1, self.dimension)
        return np.array([row[FIELD] for row in found], dtype=np.int64), vectors

    def count(self) -> int:
        """Count the rows that answer. Raises StorageError, FileNotFoundError."""
        (row,) = self._ask(partial(_query, {**self._asked, "filter": "", "output_fields": ["count(*)"]}))
        return int(row["count(*)"])

    def _ask(self, work: Any) -> Any:
        try:
            return self._collections.server.ask(work)
        except StorageError as error:
            if "partition" in str(error):  # it may be gone; without an answer, there is no other request
                check_partitions(self._collections, self._partitions)
            raise


class PartitionReader:
    """A reader of one generation's partitions that leaves out rows with removed ids."""

    rounding = _ROUNDING

    def __init__(self, parts: Sequence[PartitionsOfCollection], removed: IdRanges) -> None:
        self._parts = parts
        self._removed = removed

    def search(self, queries: Float32, n: int, *, allowed: IdRanges | None = None) -> TopKResult:
        """Find the n best ids for each query: exactly, except where there are graphs. (q, d) -> (q, ≤ n)"""
        for part in self._parts[:1]:
            check_dimension(queries, part.dimension)
        wanted = (
            self._alive
            if allowed is None
            else [WantedRows.among(part.held, allowed=allowed, removed=self._removed) for part in self._parts]
        )
        found = [part.search(queries, n, rows) for part, rows in zip(self._parts, wanted, strict=True)]
        return merged(found, n) if found else nothing_found(len(queries))

    def fetch(self, ids: Int64) -> StoredVectors:
        """Fetch the vectors of ids; those that are missing or removed are left out. (n,)"""
        positions: list[Int64] = []
        rows: list[Float32] = []
        for part in self._parts:
            inside = np.flatnonzero(part.held.has(ids) & ~self._removed.has(ids))
            if len(inside):
                found, vectors = part.fetch(np.unique(ids[inside]))
                order = np.argsort(found)
                at = np.searchsorted(found, ids[inside], sorter=order)
                is_there = found[order[np.minimum(at, len(found) - 1)]] == ids[inside] if len(found) else at < 0
                positions.append(inside[is_there])
                rows.append(vectors[order[at[is_there]]])
        if not rows:
            return nothing_stored(len(ids))
        return StoredVectors(np.concatenate(positions), np.concatenate(rows), len(ids))

    @cached_property
    def _alive(self) -> list[WantedRows]:
        return [WantedRows.among(part.held, allowed=None, removed=self._removed) for part in self._parts]


def check_partitions(collections: Collections, partitions: Iterable[str]) -> None:
    """Check that partitions exist. Raises FileNotFoundError that names a missing one; StorageError."""
    there = collections.partitions()
    for name in partitions:
        if name not in there:
            raise FileNotFoundError(2, "no such partition in Milvus", name)


def _far(ef: int, n: int, share: float) -> int:
    """How far graphs are searched for the n best of a share of their rows, where all are searched as far as `ef`.

    A condition leaves few ways through a graph. Of 40,000 vectors, with an ef of 16 that found .979 of the ten best, a
    range of a tenth of them found .826; with 64 it was .918, and with 256 .985. Where less than some 7 % are wanted,
    Milvus compares them all.
    """
    return max(n, min(round(ef / math.pow(share, _NARROW)), _FARTHEST))


def _search(asked: dict[str, Any], queries: Float32, client: Any, seconds: float) -> TopKResult:
    answers = client.search(data=list(queries), timeout=seconds, **asked)
    shape = len(queries), int(asked["limit"])
    scores: Float32 = np.full(shape, -np.inf, dtype=np.float32)
    ids = np.full(shape, -1, dtype=np.int64)
    for row, answer in enumerate(answers):
        scores[row, : len(answer)] = [hit["distance"] for hit in answer]
        ids[row, : len(answer)] = [hit[FIELD] for hit in answer]
    return TopKResult(scores, ids)


def _query(asked: dict[str, Any], client: Any, seconds: float) -> list[dict[str, Any]]:
    return list(client.query(timeout=seconds, **asked))


def _only(found: TopKResult, wanted: WantedRows, n: int) -> TopKResult:
    """The n best of what was found that are wanted rows."""
    is_wanted = wanted.has(found.ids.ravel()).reshape(found.ids.shape)
    scores = np.where(is_wanted, found.scores, -np.inf).astype(np.float32)
    order = np.argsort(~is_wanted, axis=1, kind="stable")[:, :n]
    ids = np.where(is_wanted, found.ids, -1)
    return TopKResult(np.take_along_axis(scores, order, axis=1), np.take_along_axis(ids, order, axis=1))
