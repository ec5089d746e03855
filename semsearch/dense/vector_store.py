"""The protocols of a vector store, the seam between an index and the engine that keeps its vectors. Ids in, ids out.

An index has two stores, one for each kind of vectors. Passages are searched: with filters, and perhaps by an
approximate method. Sentences are only fetched by their ids.

A store holds segments, written once and never changed. A generation is a list of segments and a set of removed ids,
both named in the manifest (semsearch.storage.segments), so that there is one commit point, which is SQLite's:

    with store.writer(8) as writer:     generation 8: its segment answers nobody yet
        writer.add(ids, vectors)
        segments = writer.finish()      durable now
    manifest: name the segments         COMMIT: from here on they answer
    store.open(segments, removed)       a reader of generation 8; those of generation 7 go on

A writer that dies before the COMMIT leaves segments that no manifest names; the next writer finds them among `names`
and drops them. Removed ids stay in their segments, and are passed to each reader, until `merge_segments` writes what is
left of some segments as new ones. The replaced segments are dropped when no reader can be about to open them. Ids are
never reused, but a refit writes the same ids into new segments.

Another engine implements `VectorStore` and registers under a scheme (semsearch.dense.engines); it must pass the
contract suite tests/support/vector_store_law.py. `SegmentsWriter` is a writer for any store.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import cached_property, partial
from typing import Any, NamedTuple, Protocol, TypeVar

import numpy as np
import numpy.typing as npt

from semsearch.arrays.id_ranges import IdRanges
from semsearch.arrays.types import Bool, Float32, Int64
from semsearch.errors import IndexDamaged, UsageError
from semsearch.storage.segments import Segment

NO_IDS = IdRanges.of(())


class StoredVectors(NamedTuple):
    """The stored vectors of some passages or sentences: those of the ids at some positions among n. (m,), (m, d)"""

    positions: Int64
    rows: Float32
    n: int

    def by_position(self) -> StoredVectors:
        """Sort the vectors by their positions."""
        if not (np.diff(self.positions) < 0).any():
            return self
        order = np.argsort(self.positions)
        return StoredVectors(self.positions[order], self.rows[order], self.n)

    def filled(self, dimension: int) -> Float32:
        """The vectors of all n ids, zero where one has none. (n, dimension)"""
        rows: Float32 = np.zeros((self.n, dimension), dtype=np.float32)
        rows[self.positions, : self.rows.shape[1]] = self.rows
        return rows


def no_vectors(n: int) -> StoredVectors:
    """The stored vectors of n ids that have none."""
    return StoredVectors(np.zeros(0, dtype=np.int64), np.zeros((0, 0), dtype=np.float32), n)


# -- The best n of each of several queries -----------------------------------------------------------------------------


class TopKResult(NamedTuple):
    """The best ids for each of q queries, best first, of equal scores the lower id first. (q, n), (q, n)

    If a query has fewer, the id -1 with a score of -inf fills up the end.
    """

    scores: Float32
    ids: Int64


def no_results(queries: int) -> TopKResult:
    """An empty result for so many queries. -> (queries, 0)"""
    return TopKResult(np.zeros((queries, 0), np.float32), np.zeros((queries, 0), np.int64))


def merged(parts: Sequence[TopKResult], n: int) -> TopKResult:
    """Merge one or more results for the same queries into the n best; of equal scores the lower ids come first."""
    if len(parts) == 1 and parts[0].ids.shape[1] <= n:
        return _equals_by_id(parts[0])
    scores = np.concatenate([part.scores for part in parts], axis=1)
    ids = np.concatenate([part.ids for part in parts], axis=1)
    return _taken(TopKResult(scores, ids), np.lexsort((ids, -scores))[:, :n])


def stacked(parts: Sequence[TopKResult]) -> TopKResult:
    """Stack the results of different queries, in order. All must have the same number of columns."""
    return TopKResult(np.concatenate([part.scores for part in parts]), np.concatenate([part.ids for part in parts]))


def _equals_by_id(result: TopKResult) -> TopKResult:
    """Sort equal scores, which are next to each other, by id."""
    if not (result.scores[:, 1:] == result.scores[:, :-1]).any():
        return result
    return _taken(result, np.lexsort((result.ids, -result.scores)))


def _taken(result: TopKResult, columns: Int64) -> TopKResult:
    return TopKResult(
        np.take_along_axis(result.scores, columns, axis=1), np.take_along_axis(result.ids, columns, axis=1)
    )


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
        """Release the memory of what was read, after work with all of it."""


class RunTasks(Protocol):
    """The protocol of a function that runs tasks, in parallel or one after the other, with the results in order."""

    def __call__(self, tasks: Sequence[Callable[[], Result]], /) -> list[Result]: ...


def run_serially(tasks: Sequence[Callable[[], Result]]) -> list[Result]:
    """Run tasks one after the other, for segments on this machine: FAISS has threads of its own."""
    return [task() for task in tasks]


class RunInThreads:
    """Runs tasks in threads, for segments in another engine: they mostly wait for a server."""

    def __init__(self, threads: int, name: str) -> None:
        self.pool = ThreadPoolExecutor(threads, thread_name_prefix=name)

    def __call__(self, tasks: Sequence[Callable[[], Result]], /) -> list[Result]:
        if len(tasks) == 1:
            return [tasks[0]()]
        return [future.result() for future in [self.pool.submit(task) for task in tasks]]


class SegmentsReader:
    """A reader of one generation's vectors, without removed ones. Threads may share it.

    `run_tasks` runs a task for each segment.
    """

    def __init__(
        self, opened: Sequence[OpenedSegment], removed: IdRanges, *, run_tasks: RunTasks = run_serially
    ) -> None:
        if len({vectors.dimension for vectors in opened}) > 1:
            raise IndexDamaged(
                "the segments of an index have vectors of different lengths; run: semsearch index --rebuild"
            )
        self._opened = opened
        self._sizes = [len(vectors.segment.id_ranges) for vectors in opened]
        self._removed = removed
        self._run_tasks = run_tasks

    @property
    def rounding(self) -> float:
        """The largest rounding error of a number in a fetched vector."""
        return max((vectors.rounding for vectors in self._opened), default=0.0)

    def search(self, queries: Float32, n: int, *, allowed: IdRanges | None = None) -> TopKResult:
        """Find the n ids whose vectors have the largest inner products with each query. (q, d) -> (q, ≤ n)

        Only the allowed ids are searched, if given. If there are fewer than n, the rest are -1. Of equal scores at the
        edge, any may be taken. Raises UsageError for queries of another dimension.
        """
        for vectors in self._opened[:1]:
            if queries.ndim != 2 or queries.shape[1] != vectors.dimension:
                raise UsageError(
                    f"queries of shape {queries.shape} cannot be compared with vectors of {vectors.dimension} numbers"
                )
        n = min(n, sum(self._sizes))
        scans = [
            partial(_validated, vectors, partial(_checked_scan, vectors, queries, min(n, size), mask))
            for vectors, size, alive in zip(self._opened, self._sizes, self._alive, strict=True)
            if (mask := _mask(vectors, alive, allowed)) is None or mask.any()
        ]
        return merged(self._run_tasks(scans), n) if scans else no_results(len(queries))

    def fetch(self, ids: Int64) -> StoredVectors:
        """Fetch the vectors of ids; those that are missing or removed are left out. (n,)"""
        removed = self._removed.has(ids) if len(self._removed.first) else None
        positions: list[Int64] = []
        tasks: list[Callable[[], Float32]] = []
        for vectors in self._opened:
            id_ranges = vectors.segment.id_ranges
            has_vector = id_ranges.has(ids)
            inside = np.flatnonzero(has_vector if removed is None else has_vector & ~removed)
            if len(inside):
                positions.append(inside)
                rows = id_ranges.below(ids[inside])
                tasks.append(partial(_validated, vectors, partial(_checked_rows, vectors, rows)))
        parts = self._run_tasks(tasks)
        if not parts:
            return no_vectors(len(ids))
        if len(parts) == 1:
            return StoredVectors(positions[0], parts[0], len(ids))
        return StoredVectors(np.concatenate(positions), np.concatenate(parts), len(ids))

    def release(self) -> None:
        """Release the memory of what was read, after work with all of it."""
        for vectors in self._opened:
            vectors.release()

    @cached_property
    def _alive(self) -> list[Bool | None]:
        """The rows of each segment that are not removed; None if none is removed."""
        removed = [vectors.segment.id_ranges.rows_in(self._removed) for vectors in self._opened]
        return [~rows if rows.any() else None for rows in removed]


def _checked_scan(vectors: OpenedSegment, queries: Float32, n: int, allowed: Bool | None) -> TopKResult:
    """The result of a segment's scan. Raises ValueError for ids and scores that it cannot have."""
    result = vectors.scan(queries, n, allowed=allowed)
    ids, scores = result.ids, result.scores
    is_hit = ids >= 0
    is_possible = ids.shape == scores.shape == (len(queries), min(n, ids.shape[1])) and np.isfinite(scores[is_hit])
    if not np.all(is_possible) or not vectors.segment.id_ranges.has(ids[is_hit]).all():
        raise ValueError("an id or a score that none can be")
    return result


def _checked_rows(vectors: OpenedSegment, rows: Int64) -> Float32:
    """The vectors at some rows. Raises ValueError for another shape or numbers that are not finite. (n,) -> (n, d)"""
    fetched = vectors.rows(rows)
    numbers = fetched.ravel()
    if fetched.shape != (len(rows), vectors.dimension) or not np.isfinite(numbers @ numbers):
        raise ValueError("numbers that no vectors are")
    return fetched


def _validated(vectors: OpenedSegment, read: Callable[[], Result]) -> Result:
    """The result of `read`. Raises IndexDamaged for an invalid one: the engine may be another program."""
    try:
        return read()
    except (TypeError, ValueError, LookupError, OverflowError) as error:
        raise IndexDamaged(
            f"{vectors.segment.file} does not answer as semsearch wrote it ({error}); run: semsearch index --rebuild"
        ) from error


def _mask(vectors: OpenedSegment, alive: Bool | None, allowed: IdRanges | None) -> Bool | None:
    """Flags of the rows of a segment that may be found; None for all."""
    if allowed is None:
        return alive
    inside = vectors.segment.id_ranges.rows_in(allowed)
    return inside if alive is None else inside & alive


# -- The store, and its writer -----------------------------------------------------------------------------------------


class VectorStore(Protocol):
    """The protocol of a store of one kind of vectors of an index, in segments. Threads may share it."""

    @property
    def largest(self) -> int:
        """The number of vectors up to which segments are merged."""

    @property
    def gathering(self) -> int | None:
        """The number of vectors from which a segment is searched faster: smaller ones are merged to reach it."""

    def open(self, segments: Sequence[Segment], removed: IdRanges) -> SegmentsReader:
        """Open a reader of some segments that leaves out removed ids. Segments that are open already are shared.

        Raises FileNotFoundError if a segment is gone, IndexDamaged if it does not match the manifest.
        """

    def writer(self, generation: int) -> SegmentsWriter:
        """Make a writer of segments for a new generation."""

    def check(self, segment: Segment) -> list[str]:
        """Check a segment, reading all of it; its problems. Raises FileNotFoundError if it is gone."""

    def names(self) -> Iterable[str]:
        """The names (`Segment.file`) of all segments that take up room, finished or not, in a manifest or not."""

    def drop(self, name: str) -> None:
        """Delete a segment. Raises OSError if it is in use, on systems that refuse then."""


class GrowingSegment(Protocol):
    """The protocol of a segment that is being written."""

    @property
    def count(self) -> int:
        """The number of vectors so far."""

    def add(self, ids: Int64, vectors: npt.NDArray[Any]) -> None:
        """Append vectors (n, d) with rising ids (n,)."""

    def finish(self) -> Segment:
        """Make the segment durable."""

    def discard(self) -> None:
        """Delete what was written, as far as possible."""


class SegmentsWriter:
    """Writes vectors as segments of at most `largest` vectors each. `begin` begins one of vectors of some dimension.

    A context manager: leaving it unfinished discards the last segment.
    """

    def __init__(self, begin: Callable[[int], GrowingSegment], largest: int) -> None:
        self.segments: list[Segment] = []
        self._begin = begin
        self._largest = largest
        self._growing: GrowingSegment | None = None
        self._last: int | None = None  # id
        self._dimension: int | None = None

    def add(self, ids: Int64, vectors: npt.NDArray[Any]) -> None:
        """Append vectors (n, d) with rising ids (n,): floats, or for sentences bytes (semsearch.arrays.vectors).

        Raises UsageError for an id that is not above the ones before, and for vectors of another dimension.
        """
        self._check(ids, vectors)
        while len(ids):
            if self._growing is None:
                self._growing = self._begin(vectors.shape[1])
            room = self._largest - self._growing.count
            self._growing.add(ids[:room], vectors[:room])
            ids, vectors = ids[room:], vectors[room:]
            if self._growing.count == self._largest:
                self.finish()

    def finish(self) -> list[Segment]:
        """Make the last segment durable, and return all of this writer. They take effect once a manifest names them."""
        if self._growing is not None:
            self.segments.append(self._growing.finish())
            self._growing = None
        return self.segments

    def __enter__(self) -> SegmentsWriter:
        return self

    def __exit__(self, *_: object) -> None:
        if self._growing is not None:
            self._growing.discard()

    def _check(self, ids: Int64, vectors: npt.NDArray[Any]) -> None:
        if vectors.ndim != 2 or len(vectors) != len(ids):
            raise UsageError(f"{len(ids)} ids came with vectors of shape {vectors.shape}; give one row for each id")
        if self._dimension not in (None, vectors.shape[1]):
            raise UsageError(f"vectors of {vectors.shape[1]} numbers came after ones of {self._dimension}")
        if not len(ids):
            return
        rising = ids if self._last is None else np.concatenate(([self._last], ids))
        wrong = np.flatnonzero(np.diff(rising) <= 0)
        if len(wrong):
            before, after = rising[wrong[0] : wrong[0] + 2].tolist()
            raise UsageError(f"the id {after} came after {before}; give each id once, the lowest first")
        self._last, self._dimension = int(ids[-1]), int(vectors.shape[1])


# -- Merging -----------------------------------------------------------------------------------------------------------

_CHUNK = 1 << 15  # vectors copied at a time


def merge_segments(
    store: VectorStore,
    segments: Sequence[Segment],
    removed: IdRanges,
    *,
    generation: int,
) -> list[Segment]:
    """Merge segments of a store into new ones, without removed ids; the old segments stay as they are."""
    held = IdRanges.union(segment.id_ranges for segment in segments)
    with store.writer(generation) as writer:
        reader = store.open(segments, NO_IDS)
        for first, count in held.without(removed).ranges:
            for start in range(first, first + count, _CHUNK):
                ids = np.arange(start, min(start + _CHUNK, first + count), dtype=np.int64)
                stored = reader.fetch(ids).by_position()
                if len(stored.positions) != len(ids):
                    names = ", ".join(segment.file for segment in segments)
                    raise IndexDamaged(
                        f"{names} should have the vectors {start} to {ids[-1]}, but "
                        f"{len(ids) - len(stored.positions)} of them are missing; run: semsearch index --rebuild"
                    )
                writer.add(ids, stored.rows)
                reader.release()
        return writer.finish()
