"""A log of what reading the files gave, so that the write after an interrupted one need not read them again.

A write is one transaction: if it is interrupted, nothing of it stays. But reading files and dividing them into passages
takes four fifths of the time, and depends only on the files. So a write with much to read keeps what each chunk of
files gave, in a file of its own beside the database, until its commit. The next write uses it where the same files make
a chunk, unchanged and with the same readers. All of it is derived; what is torn or damaged is read again.
"""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from pathlib import Path

import msgspec

from semsearch import __version__
from semsearch.indexing.read_files import Prepared
from semsearch.readers.registry import reader_label
from semsearch.sources.unchanged import PresentFile, is_settled
from semsearch.system.source_files import content_digest
from semsearch.text.passage_words import SPLITTER_VERSION

READING_LOG = "reading-log"
MUCH = 4_000_000  # bytes of files: less is read again as fast as it is logged

_DECODER = msgspec.json.Decoder(tuple[Prepared, ...])


class ReadingLog:
    """The log beside an index. The writer's lock must be held."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder / READING_LOG
        self._max_bytes = 0
        self._is_on = False

    def begin(self, size: int, *, max_bytes: int) -> None:
        """Note what follows, of files up to a limit, if it is worth while for this size."""
        self._max_bytes = max_bytes
        self._is_on = size >= MUCH or self._folder.exists()

    def has(self, files: Sequence[PresentFile]) -> bool:
        """Return whether a chunk of the same files was noted."""
        return self._is_on and self._path(files).exists()

    def get(self, files: Sequence[PresentFile]) -> tuple[Prepared, ...] | None:
        """Get what a chunk of files gave; None if that is not known, or may have changed since."""
        try:
            digest, _, data = self._path(files).read_bytes().partition(b" ")
            return _DECODER.decode(data) if digest.decode() == content_digest(data) else None
        except (OSError, ValueError, RecursionError):
            return None

    def note(self, files: Sequence[PresentFile], read: Sequence[Prepared]) -> None:
        """Note what a chunk of files gave, unless some might give something else next time."""
        is_lasting = all(
            is_settled(file.mtime_ns, prepared.checked_ns) and (prepared.is_lasting or not prepared.reason)
            for file, prepared in zip(files, read, strict=True)
        )
        if not (self._is_on and is_lasting):
            return
        try:
            data = msgspec.json.encode(read)
            self._folder.mkdir(exist_ok=True)
            self._path(files).write_bytes(content_digest(data).encode() + b" " + data)
        except ValueError:  # a path that is no Unicode
            pass
        except OSError:  # a full disk: the index itself needs the room more
            self.drop()

    def drop(self) -> None:
        """Delete the log, if this write has used it."""
        if self._is_on:
            shutil.rmtree(self._folder, ignore_errors=True)
            self._is_on = False

    def _path(self, files: Sequence[PresentFile]) -> Path:
        """Where the log has a chunk of files: by all that its passages depend on."""
        states = [(file.absolute, file.size, file.mtime_ns, reader_label(file.path), file.columns) for file in files]
        return self._folder / content_digest(repr((__version__, SPLITTER_VERSION, self._max_bytes, states)).encode())
