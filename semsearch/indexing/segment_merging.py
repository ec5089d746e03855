"""Merge segments, as a log-structured merge does, and reclaim the disk space of those that no reader needs.

A sync writes small segments and never touches large ones. If there are too many, the smallest are merged, and with them
each next larger one that is not larger than the merged ones so far, so that a vector is rewritten about as often as the
index doubles. A segment of which a quarter has been removed, and not only a few ids, is rewritten without these. The
vector store and the lexical index merge their own segments.

A segment that no manifest names is of an earlier generation, or left over from a writer that was killed. After each
write such segments are dropped, if no read transaction sees an earlier generation: one that does may be about to open
them. A write has succeeded when it is committed: space that cannot be reclaimed then is left to the next write.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from semsearch.arrays.id_ranges import IdRanges
from semsearch.dense.engines import in_use, open_stores
from semsearch.dense.vector_store import VectorStore, merge_segments
from semsearch.lexical.postings import LexicalSegment, WordsWriter
from semsearch.storage.database import SEGMENTS, IndexDatabase, checkpoint
from semsearch.storage.schema import StoreAddress, get_address, get_generation
from semsearch.storage.segments import (
    KINDS,
    LARGEST,
    LARGEST_WORDS,
    Kind,
    Segment,
    drop_removed,
    get_removed,
    get_segment_names,
    get_segments,
    update_manifest,
)

if TYPE_CHECKING:
    import sqlite3

# -- The merge policy --------------------------------------------------------------------------------------------------

MOST_SEGMENTS = 8
MOST_REMOVED = 0.25
FEW_REMOVED = 256  # so few removed ids cost a search nothing, but rewriting their segment costs three flushed files


@dataclass(frozen=True, slots=True)
class SegmentSize:
    """The number of vectors or passages that a segment holds, and how many of these were removed."""

    count: int
    removed: int

    @property
    def alive(self) -> int:
        """The number of vectors or passages that were not removed."""
        return self.count - self.removed


def choose_merge(sizes: Sequence[SegmentSize], *, largest: int = LARGEST, gathering: int | None = None) -> list[int]:
    """Choose the segments to merge, as indices into `sizes`; none if no merge is needed.

    A segment of at least `gathering` vectors is scanned faster: smaller ones are merged once they have twice as many
    together.
    """
    chosen = {
        index
        for index, size in enumerate(sizes)
        if not size.alive or size.removed > max(FEW_REMOVED, MOST_REMOVED * size.count)
    }
    small = {index for index, size in enumerate(sizes) if gathering is not None and size.alive < gathering}
    if gathering is not None and sum(sizes[index].alive for index in small) >= 2 * gathering:
        chosen |= small
    full = {index for index, size in enumerate(sizes) if size.alive > largest // 2}
    rest = sorted(
        (index for index in range(len(sizes)) if index not in chosen | full), key=lambda index: sizes[index].alive
    )
    excess = len(rest) + bool(chosen) - MOST_SEGMENTS
    if excess > 0:
        total = sum(sizes[index].alive for index in chosen)
        for number, index in enumerate(rest):
            if number > excess and sizes[index].alive > total:
                break
            chosen.add(index)
            total += sizes[index].alive
    return sorted(chosen)


# -- Merging -----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Merger:
    """Merges segments of an index as part of generation `number`."""

    db: sqlite3.Connection
    folder: Path
    number: int
    stores: Mapping[Kind, VectorStore]

    def merge(self) -> None:
        """Merge segments if there are too many, or too many of their ids were removed."""
        named, removed = get_segments(self.db, *KINDS), get_removed(self.db)
        sizes_of = {
            segment.file: SegmentSize(len(segment.id_ranges), segment.id_ranges.overlap(removed[segment.kind]))
            for segment in named
        }
        for kind in KINDS:
            segments = [segment for segment in named if segment.kind == kind]
            if not segments:
                continue
            sizes = [sizes_of[segment.file] for segment in segments]
            if kind == "words":
                positions = choose_merge(sizes, largest=LARGEST_WORDS)
            else:
                store = self.stores[kind]
                positions = choose_merge(sizes, largest=store.largest, gathering=store.gathering)
            if positions:
                chosen = [segments[position] for position in positions]
                merged = self._merged(kind, chosen, removed[kind])
                update_manifest(self.db, merged, retired=chosen, number=self.number)
                old = {segment.file for segment in chosen}
                named = [segment for segment in named if segment.file not in old] + merged
        drop_removed(self.db, named)

    def _merged(self, kind: Kind, segments: list[Segment], removed: IdRanges) -> list[Segment]:
        if kind == "words":
            words = WordsWriter(self.folder / SEGMENTS, generation=self.number)
            words.merge(
                [LexicalSegment(self.folder / SEGMENTS / segment.file, segment) for segment in segments], removed
            )
            return words.finish()
        return merge_segments(self.stores[kind], segments, removed, generation=self.number)


# -- After a commit ----------------------------------------------------------------------------------------------------

MOST_FREE = 0.25  # share of free pages in a database; so one that shrinks slowly is seldom rewritten
MOST_FREE_AFTER_REBUILD = 0.05  # or a refit
logger = logging.getLogger(__name__)


def reclaim_space(db: sqlite3.Connection, *, database: IndexDatabase, is_rebuild: bool = False) -> None:
    """Delete the segments that the committed generation does not use, unless a reader sees an earlier one: then they
    go after the next write. The writer's lock must be held.
    """
    if not checkpoint(db, most_free=MOST_FREE_AFTER_REBUILD if is_rebuild else MOST_FREE):
        return
    named = get_segment_names(db)
    drop(get_address(db), database.folder, lambda name: name not in named)


def drop_attempt(db: sqlite3.Connection, folder: Path) -> None:
    """Drop the segments of a generation that was not committed: no reader can know of them."""
    number = f"-{get_generation(db) + 1:08d}-"
    drop(get_address(db), folder, lambda name: number in name)


def drop(address: StoreAddress | None, folder: Path, is_spare: Callable[[str], bool]) -> None:
    """Drop the segments whose names `is_spare` accepts, also unfinished ones.

    Those stay that a vector engine reports in use, by readers that have no read transaction here.
    """

    def unlink(name: str) -> None:
        (folder / SEGMENTS / name).unlink(missing_ok=True)

    delete_by_name: dict[str, Callable[[str], None]] = {path.name: unlink for path in (folder / SEGMENTS).iterdir()}
    if address is not None:
        for store in open_stores(address, folder).values():
            delete_by_name |= dict.fromkeys(store.names(), store.drop)
        for name in in_use(address, folder):
            delete_by_name.pop(name, None)
    for name in [*filter(is_spare, delete_by_name)]:
        try:
            delete_by_name[name](name)
        except OSError as error:  # Windows: a reader still has it open; the next writer tries again
            logger.debug("%s could not be dropped: %s", name, error)
