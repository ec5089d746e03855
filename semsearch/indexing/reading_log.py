"""A log of what reading the files gave, so that the write after an interrupted one need not read them again.

A write is one transaction: if it is interrupted, nothing of it stays. But reading files and dividing them into passages
takes longest, and depends only on the files. So a write with much to read logs what each file gave, a line for each, in
a file beside the database, which it deletes after its commit. The next write uses the lines that still hold: the file
must be unchanged, and its reader the same. All of it is derived, and no generation names it; what follows a torn or
damaged line is ignored.

    digest of the rest of the line ⇥ path, state of the file and its reader, what the file gave
"""

from __future__ import annotations

import os
from contextlib import suppress
from dataclasses import fields
from pathlib import Path
from typing import BinaryIO, NamedTuple

import msgspec

from semsearch import __version__
from semsearch.indexing.read_files import Prepared
from semsearch.readers.registry import reader_label
from semsearch.sources.unchanged import PresentFile, is_settled
from semsearch.system.source_files import content_digest
from semsearch.text.passage_records import PassageRecord
from semsearch.text.passages import SPLITTER_VERSION

READING_LOG = "reading-log.jsonl"
MUCH = 4_000_000  # bytes of files: less is read again as fast as it is logged

_FIELDS = [field.name for kind in (Prepared, PassageRecord) for field in fields(kind)]
_FORM = msgspec.json.encode([__version__, SPLITTER_VERSION, _FIELDS]) + b"\n"  # the first line: others are not read


class _Noted(NamedTuple):
    """A line: a file as it was read, and what it gave."""

    path: str
    size: int
    mtime_ns: int
    checked_ns: int
    reader: str
    file: Prepared


_DECODER = msgspec.json.Decoder(_Noted)


class ReadingLog:
    """The log beside an index. Nothing is opened before `begin`. The writer's lock must be held."""

    def __init__(self, folder: Path) -> None:
        self._path = folder / READING_LOG
        self._file: BinaryIO | None = None
        self._starts: dict[tuple[object, ...], int] = {}  # of the lines, by path, size, time and reader of the file
        self._max_bytes = 0

    def begin(self, size: int, *, max_bytes: int) -> None:
        """Find what was read before, of files up to a limit. Note what follows, if it is worth while for this size."""
        if size < MUCH and not self._path.exists():
            return
        self._max_bytes = max_bytes
        self._file = self._path.open("a+b")
        self._file.seek(0)
        end = 0
        for line in self._file:
            if line != _FORM if not end else not self._find(line, end):
                break
            end += len(line)
        self._file.truncate(end)
        if not end:
            self._write(_FORM)

    def has(self, present: PresentFile) -> bool:
        """Return whether a file was read before and has not changed since."""
        return present.size <= self._max_bytes and _key(present) in self._starts

    def get(self, present: PresentFile) -> Prepared:
        """Get what a file gave that the log has."""
        assert self._file is not None
        self._file.seek(self._starts[_key(present)])
        return _DECODER.decode(self._file.readline().partition(b"\t")[2]).file

    def note(self, present: PresentFile, file: Prepared) -> None:
        """Note what a file gave."""
        if self._file is None or file.reason:
            return
        noted = _Noted(present.absolute, file.size, file.mtime_ns, file.checked_ns, _reader(present), file)
        with suppress(TypeError, ValueError):  # a reader's own objects that JSON does not know: the file is read again
            data = msgspec.json.encode(noted)
            try:
                self._write(content_digest(data).encode() + b"\t" + data + b"\n")
            except OSError:  # a full disk: the index itself needs the room more
                self.drop()

    def close(self) -> None:
        """Close the file, and keep it."""
        if self._file is not None:
            self._file.close()
            self._file = None

    def drop(self) -> None:
        """Delete the file, if this write has begun to use it."""
        self._starts.clear()
        if self._file is not None:
            self.close()
            with suppress(OSError):
                self._path.unlink()

    def _find(self, line: bytes, start: int) -> bool:
        """Remember where a line is, if it still holds; False for one that is torn, damaged or somebody else's."""
        digest, _, data = line.rstrip(b"\n").partition(b"\t")
        try:
            noted = _DECODER.decode(data)
        except (ValueError, RecursionError):
            return False
        if digest.decode("latin-1") != content_digest(data):
            return False
        if is_settled(noted.mtime_ns, noted.checked_ns):
            self._starts[noted.path, noted.size, noted.mtime_ns, noted.reader] = start
        return True

    def _write(self, line: bytes) -> None:
        assert self._file is not None
        self._file.seek(0, os.SEEK_END)
        self._file.write(line)
        self._file.flush()


def _key(present: PresentFile) -> tuple[object, ...]:
    return present.absolute, present.size, present.mtime_ns, _reader(present)


def _reader(present: PresentFile) -> str:
    """A file's reader and the columns chosen for it: its text depends on both."""
    return f"{reader_label(present.path)} {present.columns!r}"
