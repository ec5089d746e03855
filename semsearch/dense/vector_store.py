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

Another engine implements `VectorStore` and registers under a scheme (semsearch.dense.engines); tests/laws has the
contract suite that it must pass, where it takes one more line. `SegmentsWriter` is a writer for any store.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from semsearch.arrays.id_ranges import IdRanges
from semsearch.arrays.top_k import TopKResult
from semsearch.arrays.types import Float32, Int64
from semsearch.errors import IndexDamaged, UsageError
from semsearch.storage.segments import Segment

NO_IDS = IdRanges.of(())


@dataclass(frozen=True, slots=True)
class StoredVectors:
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


def nothing_stored(n: int) -> StoredVectors:
    """The stored vectors of n ids that have none."""
    return StoredVectors(np.zeros(0, dtype=np.int64), np.zeros((0, 0), dtype=np.float32), n)


class VectorReader(Protocol):
    """The protocol of a reader of one generation's vectors, without removed ones. Threads may share it."""

    @property
    def rounding(self) -> float:
        """The largest rounding error of a number in a fetched vector."""

    def search(self, queries: Float32, n: int, *, allowed: IdRanges | None = None) -> TopKResult:
        """Find the n ids whose vectors have the largest inner products with each query. (q, d) -> (q, ≤ n)

        Only the allowed ids are searched, if given. If there are fewer than n, the rest are -1. Of equal scores at the
        edge, any may be taken. Raises UsageError for queries of another dimension.
        """

    def fetch(self, ids: Int64) -> StoredVectors:
        """Fetch the vectors of ids, in any order; those that are missing are left out. (n,)"""

    def release(self) -> None:
        """Take what was read out of memory, after work with all of it."""


class VectorStore(Protocol):
    """The protocol of a store of one kind of vectors of an index, in segments. Threads may share it."""

    @property
    def largest(self) -> int:
        """The number of vectors up to which segments are merged."""

    @property
    def gathering(self) -> int | None:
        """The number of vectors from which a segment is searched faster: smaller ones are merged to reach it."""

    def open(self, segments: Sequence[Segment], removed: IdRanges) -> VectorReader:
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
        """Take back what was written, as far as possible."""


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


def check_dimension(queries: Float32, dimension: int) -> None:
    """Check the shape of queries: raises UsageError if they cannot be compared with vectors of a dimension."""
    if queries.ndim != 2 or queries.shape[1] != dimension:
        raise UsageError(f"queries of shape {queries.shape} cannot be compared with vectors of {dimension} numbers")


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
