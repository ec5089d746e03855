"""Where an index is published, as its database and a note beside it say.

The URI of the snapshot store and the index's own id are rows of `meta`. The note records what was published there, and
which segments of an engine remote readers may still open: they hold no read transaction here. It belongs to no
generation; without it, a publication sends as much, and nothing is lost.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from semsearch.storage.schema import get_meta
from semsearch.system.durable import replace_file
from semsearch.system.source_files import read_source

if TYPE_CHECKING:
    import sqlite3

INDEX_ID = "index_id"  # the meta row with the id by which an index claims a store
PLACE = "published_to"  # the meta row with the URI of that store
NOTE = "published.json"
_LARGEST = 1 << 24  # bytes of the note


class PublishedGeneration(msgspec.Struct, frozen=True):
    """A generation that was published, and may have readers."""

    manifest: str  # its digest
    generation: int
    at: float  # seconds since 1970
    engine_segments: tuple[str, ...] = ()  # that an engine keeps and its readers open
    store: str = ""  # the URI where that engine keeps them


class PublicationNote(msgspec.Struct, frozen=True):
    """The published generation of an index, and its store."""

    place: str = ""
    generations: tuple[PublishedGeneration, ...] = ()  # the last is the published one; others may still have readers
    pending: PublishedGeneration | None = None  # about to be published, or published just before a crash

    @property
    def newest(self) -> PublishedGeneration | None:
        """The generation that was published last."""
        return self.generations[-1] if self.generations else None


def read_note(folder: Path) -> PublicationNote:
    """Read the note of an index; an empty one if there is none that can be read."""
    try:
        return msgspec.json.decode(read_source(folder / NOTE, _LARGEST).data, type=PublicationNote)
    except (OSError, msgspec.MsgspecError, RecursionError, UnicodeDecodeError):
        return PublicationNote()


def write_note(folder: Path, note: PublicationNote) -> None:
    """Write the note of an index, whole or not at all."""
    temporary = folder / f"{NOTE}.{os.getpid()}.tmp"
    with temporary.open("wb") as file:
        file.write(msgspec.json.encode(note))
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
