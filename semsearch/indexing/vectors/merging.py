"""Merge segments of all kinds as semsearch.indexing.vectors.merge_policy says, and update the manifest.

The segments are chosen here, by their sizes; the store of vectors and the lexical half know how to merge theirs.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from semsearch.arrays.id_ranges import IdRanges
from semsearch.dense.store import Questions, VectorStore
from semsearch.errors import IndexDamaged, rebuild_command
from semsearch.indexing.vectors.merge_policy import SegmentSize, to_compact, to_merge
from semsearch.lexical.segment import LexicalSegment
from semsearch.lexical.writer import WordsWriter
from semsearch.storage.database import SEGMENTS
from semsearch.storage.manifest import forget_removed, get_removed, get_segments, name_segments
from semsearch.storage.segments import KINDS, LARGEST_WORDS, Kind, Segment

if TYPE_CHECKING:
    import sqlite3

Rule = Callable[[Kind, list[SegmentSize]], list[int]]  # the indices of the segments to rewrite together


@dataclass(frozen=True, slots=True)
class Merger:
    """Merges segments of an index as part of generation `number`; `questions` serve to measure recall."""

    db: sqlite3.Connection
    folder: Path
    number: int
    stores: Mapping[Kind, VectorStore]
    questions: Questions

    def merge(self) -> None:
        """Merge segments if there are too many, or too much of them is removed."""
        self._rewrite(lambda kind, sizes: to_merge(sizes, largest=self._largest(kind), listed=self._gathering(kind)))

    def compact(self) -> None:
        """Rewrite segments into as few as possible, without removed ids."""
        self._rewrite(lambda kind, sizes: to_compact(sizes, largest=self._largest(kind)))

    def _largest(self, kind: Kind) -> int:
        return LARGEST_WORDS if kind == "words" else self.stores[kind].largest

    def _gathering(self, kind: Kind) -> int | None:
        return None if kind == "words" else self.stores[kind].gathering

    def _rewrite(self, rule: Rule) -> None:
        """Rewrite the segments that a rule chooses, and forget removed ids that no segment holds any more."""
        for kind in KINDS:
            removed = get_removed(self.db, kind)
            segments = [segment for segment in get_segments(self.db) if segment.kind == kind]
            sizes = [SegmentSize(len(segment.id_ranges), segment.id_ranges.overlap(removed)) for segment in segments]
            chosen = [segments[position] for position in rule(kind, sizes)]
            if chosen:
                new = self._rewritten(kind, chosen, removed)
                name_segments(self.db, new, retired=chosen, number=self.number)
        forget_removed(self.db)

    def _rewritten(self, kind: Kind, segments: list[Segment], removed: IdRanges) -> list[Segment]:
        """Merge segments without their removed ids. Raises IndexDamaged if one is missing."""
        try:
            return self._copied(kind, segments, removed)
        except FileNotFoundError as error:
            raise IndexDamaged(f"{error.filename} is missing; run: {rebuild_command(self.folder)}") from error

    def _copied(self, kind: Kind, segments: list[Segment], removed: IdRanges) -> list[Segment]:
        if kind == "words":
            words = WordsWriter(self.folder / SEGMENTS, generation=self.number)
            words.merge(
                [LexicalSegment(self.folder / SEGMENTS / segment.file, segment) for segment in segments], removed
            )
            return words.finish()
        questions = self.questions if kind == "passage" else None
        return self.stores[kind].merge(segments, removed, generation=self.number, questions=questions)
