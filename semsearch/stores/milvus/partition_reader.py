"""Search and fetch from the partitions of a generation: one question for all of those in a collection.

Milvus takes writes from a log, and a question may come before it has read them. So each segment keeps the time at which
it was written, by the server's clock, and a question says up to when it must have read: a segment that was just named
answers whole, and one of before does not wait.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Any

import numpy as np
import numpy.typing as npt

from semsearch.arrays.id_ranges import IdRanges
from semsearch.arrays.top_k import TopKResult, merged, nothing_found, stacked
from semsearch.dense.store import check_dimension
from semsearch.dense.stored import StoredVectors, nothing_stored
from semsearch.errors import IndexDamaged, StorageError
from semsearch.storage.segments import Segment
from semsearch.stores.milvus.id_expressions import FIELD, LISTED, WantedRows
from semsearch.stores.milvus.index_collections import Collections

Float32 = npt.NDArray[np.float32]
Int64 = npt.NDArray[np.int64]

DEEPEST = 16384  # answers to a query, at most
_AT_ONCE = 1 << 20  # answers to all queries of a call
_BYTES = 1 << 22  # of vectors that are fetched by a call
_ROUNDING = 2e-3  # the error of a number in half precision, at most
_FEWEST = 64  # rows more than that
_SPARE = 1.5  # times as many rows are asked for as should have enough wanted ones among them
_FARTHEST = 32768  # `ef`, as Milvus has it
_NARROW = 1.25  # the power of 1 / share by which graphs are searched farther for a share of their rows


@dataclass(frozen=True, slots=True)
class PartitionDigest:
    """What the manifest keeps of a partition: its collection, the time of its last write by the server's clock, how far
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
                f"{segment.file} is not of Milvus: its digest is {segment.digest!r}; run: semsearch index --rebuild"
            ) from error


class PartitionsOfCollection:
    """The segments of a generation in one collection, which are asked together."""

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
            if "partition" in str(error):  # it may be gone; a server that does not answer is not asked again
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
    """Check that partitions are there. Raises FileNotFoundError that names one that is not; StorageError."""
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
