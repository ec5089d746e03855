"""Segments of all kinds rewritten together where a rule says so (semsearch.indexing.merge_policy), and named anew.

Which ones is decided here, by their sizes; how it is done is known to the store of vectors, and to the lexical half.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from semsearch.arrays.id_ranges import Runs
from semsearch.dense.store import Questions, VectorStore
from semsearch.errors import IndexDamaged, rebuild_command
from semsearch.indexing.merge_policy import Size, to_compact, to_merge
from semsearch.lexical.segment import Words
from semsearch.lexical.writer import WordsWriter
from semsearch.storage.database import SEGMENTS
from semsearch.storage.manifest import forget_removed, get_removed, get_segments, name_segments
from semsearch.storage.segments import KINDS, LARGEST_WORDS, Kind, Segment

if TYPE_CHECKING:
    import sqlite3

Rule = Callable[[Kind, list[Size]], list[int]]  # the positions of what is to be rewritten together


@dataclass(frozen=True, slots=True)
class Merger:
    """Rewrites segments of an index as part of generation `number`; `questions` are those to measure recall with."""

    db: sqlite3.Connection
    folder: Path
    number: int
    stores: Mapping[Kind, VectorStore]
    questions: Questions

    def merge(self) -> None:
        """Rewrite what has become too many, or too much of it removed."""
        self._rewrite(lambda kind, sizes: to_merge(sizes, largest=self._largest(kind), listed=self._gathering(kind)))

    def compact(self) -> None:
        """Rewrite segments into as few as there need be, without anything removed."""
        self._rewrite(lambda kind, sizes: to_compact(sizes, largest=self._largest(kind)))

    def _largest(self, kind: Kind) -> int:
        return LARGEST_WORDS if kind == "words" else self.stores[kind].largest

    def _gathering(self, kind: Kind) -> int | None:
        return None if kind == "words" else self.stores[kind].gathering

    def _rewrite(self, rule: Rule) -> None:
        """Rewrite segments where a rule says so, and forget what is removed from all of them."""
        for kind in KINDS:
            removed = get_removed(self.db, kind)
            segments = [segment for segment in get_segments(self.db) if segment.kind == kind]
            sizes = [Size(len(segment.runs), segment.runs.overlap(removed)) for segment in segments]
            chosen = [segments[place] for place in rule(kind, sizes)]
            if chosen:
                new = self._rewritten(kind, chosen, removed)
                name_segments(self.db, new, retired=chosen, number=self.number)
        forget_removed(self.db)

    def _rewritten(self, kind: Kind, segments: list[Segment], removed: Runs) -> list[Segment]:
        """New segments with what some segments hold that is not removed. Raises IndexDamaged where one is gone."""
        try:
            return self._copied(kind, segments, removed)
        except FileNotFoundError as error:
            raise IndexDamaged(f"{error.filename} is missing; run: {rebuild_command(self.folder)}") from error

    def _copied(self, kind: Kind, segments: list[Segment], removed: Runs) -> list[Segment]:
        if kind == "words":
            words = WordsWriter(self.folder / SEGMENTS, generation=self.number)
            words.merge([Words(self.folder / SEGMENTS / segment.file, segment) for segment in segments], removed)
            return words.finish()
        questions = self.questions if kind == "passage" else None
        return self.stores[kind].merge(segments, removed, generation=self.number, questions=questions)
