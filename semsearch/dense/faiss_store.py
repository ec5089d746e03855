"""The vector store of an index on one machine: FAISS segments, which are files in the index folder.

Segments lie as files beside those of the lexical index. One of a few passages is compared as a whole; one of many has
lists (semsearch.dense.scan_plan). Removed ids are left out by a mask over the rows.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import cached_property, partial
from pathlib import Path

import numpy as np
import numpy.typing as npt

from semsearch.arrays.id_ranges import Runs
from semsearch.arrays.top_k import Found, TopK, merged, nothing_found, stacked
from semsearch.dense.copying import copy_kept
from semsearch.dense.exact import AT_ONCE, MANY, compare_all
from semsearch.dense.faiss_segment import Vectors
from semsearch.dense.faiss_writer import SegmentWriter
from semsearch.dense.scan_plan import Scanning
from semsearch.dense.store import Questions, check_dimension
from semsearch.dense.stored import Stored, nothing_stored
from semsearch.storage.segments import LARGEST, Kind, Segment
from semsearch.system.durable import file_digest
from semsearch.system.opened import Opened

Float32 = npt.NDArray[np.float32]
Int64 = npt.NDArray[np.int64]
Bool = npt.NDArray[np.bool_]


class FaissStore:
    """Vectors of one kind in FAISS segments. Those that are only fetched, as sentences' are, have no `scanning`."""

    def __init__(self, folder: Path, kind: Kind, *, scanning: Scanning | None = None, largest: int = LARGEST) -> None:
        self.folder = folder
        self.kind: Kind = kind
        self.largest = largest
        self._scanning = scanning
        self._opened: Opened[str, Vectors] = Opened()

    @property
    def gathering(self) -> int | None:
        """The number of vectors from which segments have lists; None where they never have."""
        return None if self._scanning is None else self._scanning.gathering

    def open(self, segments: Sequence[Segment], removed: Runs) -> FaissReader:
        """A reader of some segments. Files that the reader before had open as well stay open."""
        self._opened.keep({segment.file for segment in segments})
        return FaissReader([self._opened.get(each.file, partial(self._segment, each)) for each in segments], removed)

    def writer(self, generation: int, *, questions: Questions | None = None) -> SegmentWriter:
        """A writer of new files, which count for nothing until the manifest names them."""
        return SegmentWriter(
            self.folder,
            self.kind,
            generation=generation,
            largest=self.largest,
            scanning=self._scanning,
            questions=questions,
        )

    def merge(
        self, segments: Sequence[Segment], removed: Runs, *, generation: int, questions: Questions | None = None
    ) -> list[Segment]:
        """New files with what some segments hold that is not removed."""
        with self.writer(generation, questions=questions) as writer:
            return copy_kept(self, segments, removed, writer)

    def check(self, segment: Segment) -> list[str]:
        """Whether a file is as it was written. Raises FileNotFoundError."""
        is_same = file_digest(self.folder / segment.file) == segment.digest
        return [] if is_same else [f"{segment.file} is not as it was written: its digest differs"]

    def names(self) -> Iterable[str]:
        """The files of this kind, unfinished ones among them."""
        return {path.name for path in self.folder.glob(f"{self.kind}-*")}

    def drop(self, name: str) -> None:
        """Delete a file. Raises OSError on Windows while a reader has it open."""
        (self.folder / name).unlink(missing_ok=True)

    def _segment(self, segment: Segment) -> Vectors:
        return Vectors(self.folder / segment.file, segment)


class FaissReader:
    """Opened segments, of whose rows those with removed ids are passed over."""

    def __init__(self, opened: Sequence[Vectors], removed: Runs) -> None:
        self._opened = opened
        self._removed = removed

    @property
    def rounding(self) -> float:
        """How far a number of a fetched vector may be from the one that was added."""
        return max((vectors.rounding for vectors in self._opened), default=0.0)

    def search(self, queries: Float32, n: int, *, allowed: Runs | None = None) -> Found:
        """The n best ids for each query: exact but for segments with lists. (q, d) -> (q, ≤ n)"""
        for vectors in self._opened[:1]:
            check_dimension(queries, vectors.dimension)
        n = min(n, sum(len(vectors.segment.runs) for vectors in self._opened))
        masks = [
            (vectors, mask)
            for vectors, alive in zip(self._opened, self._alive, strict=True)
            if (mask := _mask(vectors, alive, allowed)) is None or mask.any()
        ]
        if not masks:
            return nothing_found(len(queries))
        if len(queries) < MANY or not any(vectors.compares_all for vectors, _ in masks):
            return merged([_scan(vectors, queries, n, mask) for vectors, mask in masks], n)
        parts = [queries[first : first + AT_ONCE] for first in range(0, len(queries), AT_ONCE)]
        return stacked([_search_many(masks, part, n) for part in parts])

    def fetch(self, ids: Int64) -> Stored:
        """The vectors of those of the ids that are there and not removed. (n,)"""
        gone = self._removed.has(ids) if len(self._removed.first) else None
        places: list[Int64] = []
        rows: list[Float32] = []
        for vectors in self._opened:
            runs = vectors.segment.runs
            here = runs.has(ids)
            inside = np.flatnonzero(here if gone is None else here & ~gone)
            if len(inside):
                places.append(inside)
                rows.append(vectors.rows(runs.below(ids[inside])))
        if len(rows) == 1:
            return Stored(places[0], rows[0], len(ids))
        return Stored(np.concatenate(places), np.concatenate(rows), len(ids)) if rows else nothing_stored(len(ids))

    @cached_property
    def _alive(self) -> list[Bool | None]:
        """For each segment, the rows that are not removed; None where that is all of them."""
        removed = [vectors.segment.runs.rows_in(self._removed) for vectors in self._opened]
        return [~rows if rows.any() else None for rows in removed]


def _mask(vectors: Vectors, alive: Bool | None, allowed: Runs | None) -> Bool | None:
    """The rows of a segment that may be found; None for all."""
    if allowed is None:
        return alive
    inside = vectors.segment.runs.rows_in(allowed)
    return inside if alive is None else inside & alive


def _scan(vectors: Vectors, queries: Float32, n: int, mask: Bool | None) -> Found:
    return vectors.scan(queries, min(n, len(vectors.segment.runs)), allowed=mask)


def _search_many(masks: Sequence[tuple[Vectors, Bool | None]], queries: Float32, n: int) -> Found:
    """Segments that are compared as a whole by blocks, the others by their lists."""
    best = TopK(len(queries), n)
    for vectors, mask in masks:
        if vectors.compares_all:
            runs = vectors.segment.runs
            rows = np.arange(len(runs)) if mask is None else np.flatnonzero(mask)
            compare_all(best, queries, rows, decode=vectors.rows, ids=runs.ids)
        else:
            found = _scan(vectors, queries, n, mask)
            best.add(found.scores, found.ids)
    return best.best()
