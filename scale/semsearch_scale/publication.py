"""Where an index is published, as its database and a note beside it say.

The URI of the snapshot store and the index's own id are settings, rows of `meta`. The note records what was published
there, and which segments of an engine remote readers may still open: they hold no read transaction here. It belongs to
no generation; without it, a publication sends as much, and nothing is lost.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING

from semsearch.storage.meta import get_meta
from semsearch.system.durable import replace_file

if TYPE_CHECKING:
    import sqlite3

INDEX_ID = "index_id"  # the meta row with the id by which an index claims a store
PLACE = "published_to"  # the meta row with the URI of that store
NOTE = "published.json"


@dataclass(frozen=True, slots=True)
class PublishedGeneration:
    """A generation that was published, and may have readers."""

    manifest: str  # its digest
    generation: int
    at: float  # seconds since 1970
    engine_segments: tuple[str, ...] = ()  # that an engine keeps and its readers open
    store: str = ""  # the URI where that engine keeps them


@dataclass(frozen=True, slots=True)
class PublicationNote:
    """What was published of an index, and to which store."""

    place: str = ""
    generations: tuple[PublishedGeneration, ...] = ()  # the last is the published one; others may still have readers
    pending: PublishedGeneration | None = None  # about to be published, or published just before a crash
    unnamed: Mapping[str, float] = field(default_factory=dict)  # objects in the store that nothing names, since when

    @property
    def newest(self) -> PublishedGeneration | None:
        """The generation that was published last."""
        return self.generations[-1] if self.generations else None


def read_note(folder: Path) -> PublicationNote:
    """Read the note of an index; an empty one if there is none that can be read."""
    try:
        card = json.loads((folder / NOTE).read_text(encoding="utf-8"))
        known = tuple(_generation(each) for each in card.pop("generations"))
        pending = None if (last := card.pop("pending")) is None else _generation(last)
        return PublicationNote(generations=known, pending=pending, **card)
    except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError):
        return PublicationNote()


def write_note(folder: Path, note: PublicationNote) -> None:
    """Write the note of an index, whole or not at all."""
    temporary = folder / f"{NOTE}.{os.getpid()}.tmp"
    with temporary.open("w", encoding="utf-8") as file:
        json.dump(asdict(note), file, allow_nan=False)
        file.flush()
        os.fsync(file.fileno())
    replace_file(temporary, folder / NOTE)


def get_place(db: sqlite3.Connection) -> str | None:
    """Read the URI of the snapshot store of an index; None if it was never published."""
    return get_meta(db, PLACE) or None


def in_use(folder: Path) -> set[str]:
    """The segments and the URIs of vector stores that readers of published generations may still open."""
    note = read_note(folder)
    published = (*note.generations, *([note.pending] if note.pending else []))
    return {name for generation in published for name in (*generation.engine_segments, generation.store) if name}


def _generation(card: Mapping[str, object]) -> PublishedGeneration:
    made = PublishedGeneration(**card)  # type: ignore[arg-type]  # wrong ones raise, here or below
    return replace(made, generation=int(made.generation), at=float(made.at), engine_segments=(*made.engine_segments,))
