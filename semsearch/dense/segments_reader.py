"""A reader of opened segments, which are searched and fetched from together, without removed ids.

A segment may be in a mapped file, in memory or with an engine.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from functools import cached_property, partial
from typing import Protocol, TypeVar

import numpy as np

from semsearch.arrays.id_ranges import IdRanges
from semsearch.arrays.top_k import TopKResult, merged, nothing_found
from semsearch.arrays.types import Bool, Float32, Int64
from semsearch.dense.vector_store import StoredVectors, check_dimension, nothing_stored
from semsearch.errors import IndexDamaged
from semsearch.storage.segments import Segment

# -- Segments reader ---------------------------------------------------------------------------------------------------

Result = TypeVar("Result")


class OpenedSegment(Protocol):
    """The protocol of an opened segment. Its rows are in the order of its ids. Threads may share it."""

    @property
    def segment(self) -> Segment:
        """The entry of the manifest."""

    @property
    def dimension(self) -> int:
        """The length of the vectors."""

    @property
    def rounding(self) -> float:
        """The largest rounding error of a number in a stored vector."""

    def scan(self, queries: Float32, n: int, *, allowed: Bool | None = None) -> TopKResult:
        """Find the ids of the n allowed rows with the largest inner product with each query. (q, d), (rows,) -> (q, n)

        If there are fewer, the id -1 with a score of -inf fills up the end.
        """

    def rows(self, rows: Int64) -> Float32:
        """The vectors at given rows. (n,) -> (n, d)"""

    def release(self) -> None:
        """Take what was read out of memory, after work with all of it."""


class Together(Protocol):
    """The protocol of a function that does some work, all of it at once or piece by piece, with results in order."""

    def __call__(self, work: Sequence[Callable[[], Result]], /) -> list[Result]: ...


def one_by_one(work: Sequence[Callable[[], Result]]) -> list[Result]:
    """Do some work piece by piece, as suits segments on this machine: FAISS has threads of its own."""
    return [task() for task in work]


class InThreads:
    """Does work in threads, as suits segments with an engine: most of it waits for a server."""

    def __init__(self, threads: int, name: str) -> None:
        self.pool = ThreadPoolExecutor(threads, thread_name_prefix=name)

    def __call__(self, work: Sequence[Callable[[], Result]], /) -> list[Result]:
        if len(work) == 1:
            return [work[0]()]
        return [future.result() for future in [self.pool.submit(task) for task in work]]


class SegmentsReader:
    """A reader of opened segments that leaves out rows with removed ids. `together` asks several of them."""

    def __init__(self, opened: Sequence[OpenedSegment], removed: IdRanges, *, together: Together = one_by_one) -> None:
        if len({vectors.dimension for vectors in opened}) > 1:
            raise IndexDamaged(
                "the segments of an index have vectors of different lengths; run: semsearch index --rebuild"
            )
        self._opened = opened
        self._sizes = [len(vectors.segment.id_ranges) for vectors in opened]
        self._removed = removed
        self._together = together

    @property
    def rounding(self) -> float:
        """The largest rounding error of a number in a fetched vector."""
        return max((vectors.rounding for vectors in self._opened), default=0.0)

    def search(self, queries: Float32, n: int, *, allowed: IdRanges | None = None) -> TopKResult:
        """Find the n best ids for each query: exactly, except in segments with codes or lists. (q, d) -> (q, ≤ n)"""
        for vectors in self._opened[:1]:
            check_dimension(queries, vectors.dimension)
        n = min(n, sum(self._sizes))
        scans = [
            partial(_scanned, vectors, queries, min(n, size), mask)
            for vectors, size, alive in zip(self._opened, self._sizes, self._alive, strict=True)
            if (mask := _mask(vectors, alive, allowed)) is None or mask.any()
        ]
        return merged(self._together(scans), n) if scans else nothing_found(len(queries))

    def fetch(self, ids: Int64) -> StoredVectors:
        """Fetch the vectors of ids; those that are missing or removed are left out. (n,)"""
        gone = self._removed.has(ids) if len(self._removed.first) else None
        positions: list[Int64] = []
        work: list[Callable[[], Float32]] = []
        for vectors in self._opened:
            id_ranges = vectors.segment.id_ranges
            here = id_ranges.has(ids)
            inside = np.flatnonzero(here if gone is None else here & ~gone)
            if len(inside):
                positions.append(inside)
                work.append(partial(_fetched, vectors, id_ranges.below(ids[inside])))
        rows = self._together(work)
        if len(rows) == 1:
            return StoredVectors(positions[0], rows[0], len(ids))
        return (
            StoredVectors(np.concatenate(positions), np.concatenate(rows), len(ids))
            if rows
            else nothing_stored(len(ids))
        )

    def release(self) -> None:
        """Take what was read out of memory, after work with all of it."""
        for vectors in self._opened:
            vectors.release()

    @cached_property
    def _alive(self) -> list[Bool | None]:
        """The rows of each segment that are not removed; None if none is removed."""
        removed = [vectors.segment.id_ranges.rows_in(self._removed) for vectors in self._opened]
        return [~rows if rows.any() else None for rows in removed]


def _scanned(vectors: OpenedSegment, queries: Float32, n: int, allowed: Bool | None) -> TopKResult:
    """What a segment finds. Raises IndexDamaged for what it cannot find: its engine may be anybody's."""
    with _doubted(vectors):
        result = vectors.scan(queries, n, allowed=allowed)
        ids, scores = result.ids, result.scores
        is_hit = ids >= 0
        is_possible = ids.shape == scores.shape == (len(queries), min(n, ids.shape[1])) and np.isfinite(scores[is_hit])
        if not np.all(is_possible) or not vectors.segment.id_ranges.has(ids[is_hit]).all():
            raise ValueError("an id or a score that none can be")
    return result


def _fetched(vectors: OpenedSegment, rows: Int64) -> Float32:
    """The vectors at some rows. Raises IndexDamaged for what can be none. (n,) -> (n, d)"""
    with _doubted(vectors):
        fetched = vectors.rows(rows)
        if fetched.shape != (len(rows), vectors.dimension) or not np.isfinite(fetched).all():
            raise ValueError("numbers that no vectors are")
    return fetched


@contextmanager
def _doubted(vectors: OpenedSegment) -> Iterator[None]:
    try:
        yield
    except (TypeError, ValueError, LookupError, OverflowError) as error:
        raise IndexDamaged(
            f"{vectors.segment.file} does not answer as semsearch wrote it ({error}); run: semsearch index --rebuild"
        ) from error


def _mask(vectors: OpenedSegment, alive: Bool | None, allowed: IdRanges | None) -> Bool | None:
    """The rows of a segment that may be found; None for all."""
    if allowed is None:
        return alive
    inside = vectors.segment.id_ranges.rows_in(allowed)
    return inside if alive is None else inside & alive
