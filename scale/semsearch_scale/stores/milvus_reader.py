"""Search and fetch from a partition in Milvus, under conditions on ids.

A condition takes time to parse: five microseconds for each id in a list, half a millisecond for each range. So a few
allowed ids, or a few excluded ones, are listed, and a few ranges are named. Otherwise more rows are requested without a
condition, of which the allowed are kept; if these are too few, the allowed ones are asked for piece by piece.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any, ClassVar

import numpy as np

from semsearch.arrays.id_ranges import IdRanges
from semsearch.arrays.top_k import TopKResult, merged, nothing_found, stacked
from semsearch.arrays.types import Bool, Float32, Int64
from semsearch.errors import IndexDamaged, StorageError
from semsearch.storage.segments import Segment
from semsearch_scale.stores.milvus_server import Collections

FIELD = "id"
LISTED = 2048  # ids in a condition, at most: ten milliseconds
RUNS = 16  # ranges in a condition, at most
DEEPEST = 16384  # answers to a query, at most
_AT_ONCE = 1 << 20  # answers to all queries of a call
_BYTES = 1 << 22  # of vectors that are fetched by a call
_FEWEST = 64  # rows more than that
_SPARE = 1.5  # times as many rows are requested as should contain enough allowed ones
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


class Partition:
    """A segment's partition, which is searched and fetched from (an `OpenedSegment`). Threads may share it."""

    rounding: ClassVar[float] = 2e-3  # the error of a number in half precision, at most

    def __init__(self, collections: Collections, segment: Segment) -> None:
        kept = PartitionDigest.of(segment)
        self.segment = segment
        self.dimension = int(kept.collection.rsplit("_", 1)[1])
        self._collections = collections
        self._ef = kept.ef
        self._asked: dict[str, Any] = {
            "collection_name": f"{collections.name}_{kept.collection}",
            "partition_names": [segment.file],
            "consistency_level": "Customized",
            "guarantee_timestamp": kept.written,
        }

    def scan(self, queries: Float32, n: int, *, allowed: Bool | None = None, ef: int = 0) -> TopKResult:
        """Find the n best allowed rows for each query; `ef`: how far graphs are searched. (q, d), (rows,) -> (q, n)"""
        size = len(self.segment.id_ranges)
        rows = np.arange(size) if allowed is None else np.flatnonzero(allowed)
        n = min(n, len(rows))
        if not n or not len(queries):
            return nothing_found(len(queries))
        if n <= DEEPEST and (condition := self._condition(rows)) is not None:
            return self._search(queries, n, condition, len(rows), ef)
        enough = int(n * size / len(rows) * _SPARE) + _FEWEST
        if enough <= DEEPEST:
            kept = _only(self._search(queries, enough, "", size, ef), IdRanges.of_ids(self._ids(rows)), n)
            if (kept.ids[:, -1] >= 0).all():
                return kept
        best = nothing_found(len(queries))
        for piece in _pieces(rows):
            found = self._search(queries, min(n, len(piece)), self._condition(piece) or "", len(piece), ef)
            best = merged([best, found], n)
        return best

    def release(self) -> None:
        """Nothing stays in memory."""

    def rows(self, rows: Int64) -> Float32:
        """The vectors at given rows. (n,) -> (n, d)  Raises IndexDamaged if some are missing."""
        distinct, positions = np.unique(self._ids(rows), return_inverse=True)
        size = max(1, min(LISTED, _BYTES // (4 * self.dimension)))
        vectors: Float32 = np.zeros((len(distinct), self.dimension), dtype=np.float32)
        for first in range(0, len(distinct), size):
            ids = distinct[first : first + size]
            condition = self._condition(self.segment.id_ranges.below(ids)) or f"{ids[0]} <= {FIELD} <= {ids[-1]}"
            asked = {**self._asked, "filter": condition, "output_fields": [FIELD, "vector"]}
            found = {row[FIELD]: row["vector"] for row in self._ask(partial(_query, asked))}
            if found.keys() != {*ids.tolist()}:
                raise IndexDamaged(f"the partition {self.segment.file} lacks rows; run: semsearch index --rebuild")
            vectors[first : first + size] = [found[id_] for id_ in ids.tolist()]
        return vectors[positions]

    def count(self) -> int:
        """Count the rows that answer. Raises StorageError, FileNotFoundError."""
        (row,) = self._ask(partial(_query, {**self._asked, "filter": "", "output_fields": ["count(*)"]}))
        return int(row["count(*)"])

    def _ids(self, rows: Int64) -> Int64:
        return self.segment.id_ranges.ids(rows)

    def _condition(self, rows: Int64) -> str | None:
        """The condition of exactly some rising rows: "" for all of them; None if it would take too long."""
        unwanted = len(self.segment.id_ranges) - len(rows)
        if not unwanted:
            return ""
        ids = self._ids(rows)
        runs = IdRanges.of_ids(ids).ranges
        if len(runs) <= RUNS:
            return " or ".join(f"({first} <= {FIELD} <= {first + count - 1})" for first, count in runs)
        if len(ids) <= LISTED:
            return f"{FIELD} in {ids.tolist()}"
        if unwanted <= LISTED:
            others = np.setdiff1d(np.arange(len(self.segment.id_ranges)), rows)
            return f"{FIELD} not in {self._ids(others).tolist()}"
        return None

    def _search(self, queries: Float32, n: int, condition: str, rows: int, ef: int) -> TopKResult:
        share = rows / len(self.segment.id_ranges)
        far = {"params": {"ef": _far(ef or self._ef, n, share)}} if self._ef else {}
        asked = {
            **self._asked,
            "anns_field": "vector",
            "limit": n,
            "filter": condition,
            "search_params": {"metric_type": "IP", **far},
        }
        size = max(1, _AT_ONCE // n)
        parts = [queries[first : first + size] for first in range(0, len(queries), size)]
        return stacked([self._ask(partial(_hits, asked, part)) for part in parts])

    def _ask(self, work: Any) -> Any:
        try:
            return self._collections.server.ask(work)
        except StorageError as error:
            if "partition" in str(error):  # it may be gone; without an answer, there is no other request
                check_partitions(self._collections, [self.segment.file])
            raise


def check_partitions(collections: Collections, partitions: Iterable[str]) -> None:
    """Check that partitions exist. Raises FileNotFoundError that names a missing one; StorageError."""
    there = collections.partitions()
    for name in partitions:
        if name not in there:
            raise FileNotFoundError(2, "no such partition in Milvus", name)


def _pieces(rows: Int64) -> Iterator[Int64]:
    """Divide rising rows into pieces that have a condition, and no more rows than a query has answers."""
    size = DEEPEST if len(rows) and int(rows[-1] - rows[0]) + 1 == len(rows) else LISTED
    return (rows[first : first + size] for first in range(0, len(rows), size))


def _far(ef: int, n: int, share: float) -> int:
    """How far graphs are searched for the n best of a share of their rows, where all are searched as far as `ef`.

    A condition leaves few ways through a graph. Of 40,000 vectors, with an ef of 16 that found .979 of the ten best, a
    range of a tenth of them found .826; with 64 it was .918, and with 256 .985. Where less than some 7 % are wanted,
    Milvus compares them all.
    """
    return max(n, min(round(ef / math.pow(share, _NARROW)), _FARTHEST))


def _hits(asked: dict[str, Any], queries: Float32, client: Any, seconds: float) -> TopKResult:
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


def _only(found: TopKResult, wanted: IdRanges, n: int) -> TopKResult:
    """The n best of what was found that are wanted."""
    is_wanted = wanted.has(found.ids.ravel()).reshape(found.ids.shape)
    scores = np.where(is_wanted, found.scores, -np.inf).astype(np.float32)
    order = np.argsort(~is_wanted, axis=1, kind="stable")[:, :n]
    ids = np.where(is_wanted, found.ids, -1)
    return TopKResult(np.take_along_axis(scores, order, axis=1), np.take_along_axis(ids, order, axis=1))
