"""The vector store of an index on one machine: FAISS segments, which are files in the index folder.

Segments are files in the same folder as those of the lexical index. A segment of few passages is compared as a whole;
one of many has lists (semsearch.dense.scan_plan). Removed ids are left out by a mask over the rows.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import cached_property, partial
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from semsearch.arrays.id_ranges import IdRanges
from semsearch.arrays.top_k import TopK, TopKResult, merged, nothing_found, stacked
from semsearch.dense.faiss_segment import Vectors
from semsearch.dense.scan_plan import ScanOptions
from semsearch.dense.store import Questions, check_dimension
from semsearch.dense.stored import StoredVectors, nothing_stored
from semsearch.storage.segments import LARGEST, Kind, Segment
from semsearch.system.durable import file_digest
from semsearch.system.opened import OpenCache

if TYPE_CHECKING:
    from semsearch.dense.faiss_writer import SegmentWriter

Float32 = npt.NDArray[np.float32]
Int64 = npt.NDArray[np.int64]
Bool = npt.NDArray[np.bool_]

_MANY = 32  # queries from which matrix products take less time than a scan for each
_AT_ONCE = 512  # queries whose products with a block of vectors are held at a time


class FaissStore:
    """A store of one kind of vectors in FAISS segments. Without `scanning`, they are only fetched."""

    def __init__(
        self, folder: Path, kind: Kind, *, scanning: ScanOptions | None = None, largest: int = LARGEST
    ) -> None:
        self.folder = folder
        self.kind: Kind = kind
        self.largest = largest
        self._scanning = scanning
        self._opened: OpenCache[str, Vectors] = OpenCache()

    @property
    def gathering(self) -> int | None:
        """The number of vectors from which segments have lists; None if they never have."""
        return None if self._scanning is None else self._scanning.gathering

    def open(self, segments: Sequence[Segment], removed: IdRanges) -> FaissReader:
        """Open a reader of some segments. Files that the previous reader had open too stay open."""
        self._opened.keep({segment.file for segment in segments})
        return FaissReader([self._opened.get(each.file, partial(self._segment, each)) for each in segments], removed)

    def writer(self, generation: int, *, questions: Questions | None = None) -> SegmentWriter:
        """Make a writer of new files, which have no effect until the manifest names them."""
        from semsearch.dense.faiss_writer import SegmentWriter  # start-up time: a search writes nothing

        return SegmentWriter(
            self.folder,
            self.kind,
            generation=generation,
            largest=self.largest,
            scanning=self._scanning,
            questions=questions,
        )

    def merge(
        self, segments: Sequence[Segment], removed: IdRanges, *, generation: int, questions: Questions | None = None
    ) -> list[Segment]:
        """Merge segments into new files, without removed ids."""
        from semsearch.dense.copying import copy_kept  # start-up time: a search writes nothing

        with self.writer(generation, questions=questions) as writer:
            return copy_kept(self, segments, removed, writer)

    def check(self, segment: Segment) -> list[str]:
        """Check that a file is as it was written; its problems. Raises FileNotFoundError."""
        is_same = file_digest(self.folder / segment.file) == segment.digest
        return [] if is_same else [f"{segment.file} is not as it was written: its digest differs"]

    def names(self) -> Iterable[str]:
        """The names of all files of this kind, including unfinished ones."""
        return {path.name for path in self.folder.glob(f"{self.kind}-*")}

    def drop(self, name: str) -> None:
        """Delete a file. Raises OSError on Windows while a reader has it open."""
        (self.folder / name).unlink(missing_ok=True)

    def _segment(self, segment: Segment) -> Vectors:
        return Vectors(self.folder / segment.file, segment)


class FaissReader:
    """A reader of opened segments that leaves out rows with removed ids."""

    def __init__(self, opened: Sequence[Vectors], removed: IdRanges) -> None:
        self._opened = opened
        self._removed = removed

    @property
    def rounding(self) -> float:
        """The largest rounding error of a number in a fetched vector."""
        return max((vectors.rounding for vectors in self._opened), default=0.0)

    def search(self, queries: Float32, n: int, *, allowed: IdRanges | None = None) -> TopKResult:
        """Find the n best ids for each query: exactly, except in segments with lists. (q, d) -> (q, ≤ n)"""
        for vectors in self._opened[:1]:
            check_dimension(queries, vectors.dimension)
        n = min(n, sum(len(vectors.segment.id_ranges) for vectors in self._opened))
        masks = [
            (vectors, mask)
            for vectors, alive in zip(self._opened, self._alive, strict=True)
            if (mask := _mask(vectors, alive, allowed)) is None or mask.any()
        ]
        if not masks:
            return nothing_found(len(queries))
        if len(queries) < _MANY or not any(vectors.compares_all for vectors, _ in masks):
            return merged([_scan(vectors, queries, n, mask) for vectors, mask in masks], n)
        parts = [queries[first : first + _AT_ONCE] for first in range(0, len(queries), _AT_ONCE)]
        return stacked([_search_many(masks, part, n) for part in parts])

    def fetch(self, ids: Int64) -> StoredVectors:
        """Fetch the vectors of ids; those that are missing or removed are left out. (n,)"""
        gone = self._removed.has(ids) if len(self._removed.first) else None
        positions: list[Int64] = []
        rows: list[Float32] = []
        for vectors in self._opened:
            id_ranges = vectors.segment.id_ranges
            here = id_ranges.has(ids)
            inside = np.flatnonzero(here if gone is None else here & ~gone)
            if len(inside):
                positions.append(inside)
                rows.append(vectors.rows(id_ranges.below(ids[inside])))
        if len(rows) == 1:
            return StoredVectors(positions[0], rows[0], len(ids))
        return (
            StoredVectors(np.concatenate(positions), np.concatenate(rows), len(ids))
            if rows
            else nothing_stored(len(ids))
        )

    @cached_property
    def _alive(self) -> list[Bool | None]:
        """The rows of each segment that are not removed; None if none is removed."""
        removed = [vectors.segment.id_ranges.rows_in(self._removed) for vectors in self._opened]
        return [~rows if rows.any() else None for rows in removed]


def _mask(vectors: Vectors, alive: Bool | None, allowed: IdRanges | None) -> Bool | None:
    """The rows of a segment that may be found; None for all."""
    if allowed is None:
        return alive
    inside = vectors.segment.id_ranges.rows_in(allowed)
    return inside if alive is None else inside & alive


def _scan(vectors: Vectors, queries: Float32, n: int, mask: Bool | None) -> TopKResult:
    return vectors.scan(queries, min(n, len(vectors.segment.id_ranges)), allowed=mask)


def _search_many(masks: Sequence[tuple[Vectors, Bool | None]], queries: Float32, n: int) -> TopKResult:
    """Search segments for many queries: those without lists by blocks, the others by their lists."""
    from semsearch.dense.exact import compare_all  # start-up time: one question needs none of it

    best = TopK(len(queries), n)
    for vectors, mask in masks:
        if vectors.compares_all:
            id_ranges = vectors.segment.id_ranges
            rows = np.arange(len(id_ranges)) if mask is None else np.flatnonzero(mask)
            compare_all(best, queries, rows, decode=vectors.rows, ids=id_ranges.ids)
        else:
            found = _scan(vectors, queries, n, mask)
            best.add(found.scores, found.ids)
    return best.best()
