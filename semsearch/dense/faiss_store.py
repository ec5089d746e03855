"""The vector store of an index on one machine: FAISS segments, which are files in the index folder.

Segments are files in the same folder as those of the lexical index. A segment of few passages is compared as a whole;
one of many has lists (semsearch.dense.scan_plan). Removed ids are left out by a mask over the rows.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from semsearch.arrays.id_ranges import IdRanges
from semsearch.dense.faiss_segment import Vectors
from semsearch.dense.scan_plan import ScanOptions
from semsearch.dense.segments_reader import SegmentsReader
from semsearch.dense.store import Questions
from semsearch.storage.segments import LARGEST, Kind, Segment
from semsearch.system.opened import OpenCache

if TYPE_CHECKING:
    from semsearch.dense.faiss_writer import SegmentWriter


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

    def open(self, segments: Sequence[Segment], removed: IdRanges) -> SegmentsReader:
        """Open a reader of some segments. Files that the previous reader had open too stay open."""
        self._opened.keep({segment.file for segment in segments})
        return SegmentsReader([self._opened.get(each.file, partial(self._segment, each)) for each in segments], removed)

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
        from semsearch.dense.copying import merge_by_copying  # start-up time: a search writes nothing

        return merge_by_copying(self, segments, removed, generation=generation, questions=questions)

    def check(self, segment: Segment) -> list[str]:
        """Check that a file is as it was written; its problems. Raises FileNotFoundError."""
        from semsearch.system.durable import file_digest

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
