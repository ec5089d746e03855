"""A log of what reading the files gave, so that the write after an interrupted one need not read them again.

A write is one transaction: if it is interrupted, nothing of it stays. But reading files and dividing them into passages
takes longest, and depends only on the files. So a write with much to read logs what each file gave, a line for each, in
a file beside the database, which it deletes after its commit. The next write uses the lines that still hold: the file
must be unchanged, and its reader the same. All of it is derived, and no generation names it; a torn or damaged line is
ignored.

    digest of the rest of the line ⇥ path, size and times of the file, its reader ⇥ what the file gave
"""

from __future__ import annotations

import hashlib
import json
import os
from contextlib import suppress
from dataclasses import dataclass, fields
from pathlib import Path
from typing import BinaryIO

import msgspec

from semsearch import __version__
from semsearch.indexing.read_files import Prepared
from semsearch.readers.registry import reader_label
from semsearch.sources.unchanged import PresentFile, is_settled
from semsearch.text.passage_records import PassageRecord
from semsearch.text.passages import SPLITTER_VERSION

READING_LOG = "reading-log.jsonl"
MUCH = 4_000_000  # bytes of files: less is read again as fast as it is logged

_FIELDS = [field.name for kind in (Prepared, PassageRecord) for field in fields(kind)]
_FORM = json.dumps([__version__, SPLITTER_VERSION, _FIELDS]).encode()  # the first line: others are not understood
_DECODER = msgspec.json.Decoder(Prepared)


@dataclass(frozen=True, slots=True)
class Noted:
    """The state of a file that was read, and which bytes of the log are of it."""

    size: int
    mtime_ns: int
    checked_ns: int
    reader: str
    start: int
    length: int

    def holds(self, present: PresentFile) -> bool:
        """Return whether reading a file again would give the same."""
        same = (self.size, self.mtime_ns) == (present.size, present.mtime_ns)
        return same and is_settled(self.mtime_ns, self.checked_ns) and self.reader == _reader(present)


class ReadingLog:
    """The log beside an index. Nothing is opened before `begin`. The writer's lock must be held."""

    def __init__(self, folder: Path) -> None:
        self._path = folder / READING_LOG
        self._file: BinaryIO | None = None
        self._noted: dict[str, Noted] = {}
        self._max_bytes = 0

    def begin(self, size: int, *, max_bytes: int) -> None:
        """Find what was read before, of files up to a limit. Note what follows, if it is worth while for this size."""
        if size < MUCH and not self._path.exists():
            return
        self._max_bytes = max_bytes
        self._file = self._path.open("a+b")
        end = self._find()
        self._file.truncate(end)
        if not end:
            self._write(_FORM)

    def has(self, present: PresentFile) -> bool:
        """Return whether a file was read before and has not changed since."""
        noted = self._noted.get(present.absolute)
        return noted is not None and present.size <= self._max_bytes and noted.holds(present)

    def get(self, present: PresentFile) -> Prepared | None:
        """Get what a file gave when it was read before; None if the note of it is damaged."""
        assert self._file is not None
        noted = self._noted[present.absolute]
        self._file.seek(noted.start)
        digest, _, rest = self._file.read(noted.length).partition(b"\t")
        with suppress(ValueError, RecursionError):  # written by someone else
            return _DECODER.decode(rest.partition(b"\t")[2]) if digest == _digest(rest) else None
        return None

    def note(self, present: PresentFile, file: Prepared) -> None:
        """Note what a file gave."""
        if self._file is None or file.reason:
            return
        state = present.absolute, file.size, file.mtime_ns, file.checked_ns, _reader(present)
        with suppress(TypeError, ValueError):  # a reader's own objects that JSON does not know: the file is read again
            rest = json.dumps(state).encode() + b"\t" + msgspec.json.encode(file)
            try:
                self._write(_digest(rest) + b"\t" + rest)
            except OSError:  # a full disk: the index itself needs the room more
                self.drop()

    def close(self) -> None:
        """Close the file, and keep it."""
        if self._file is not None:
            self._file.close()
            self._file = None

    def drop(self) -> None:
        """Delete the file, if this write has begun to use it."""
        self._noted.clear()
        if self._file is not None:
            self.close()
            with suppress(OSError):
                self._path.unlink()

    def _find(self) -> int:
        """Find the lines of files; the end of the last whole line. 0 if the lines are of another version's form."""
        assert self._file is not None
        self._file.seek(0)
        end = 0
        for line in self._file:
            if not line.endswith(b"\n") or (not end and line != _FORM + b"\n"):
                break
            if end:
                self._add(line, end)
            end += len(line)
        return end

    def _add(self, line: bytes, start: int) -> None:
        with suppress(ValueError, TypeError, IndexError, RecursionError):  # a damaged line
            path, size, mtime_ns, checked_ns, reader = json.loads(line.split(b"\t")[1])
            if not all(isinstance(number, int) for number in (size, mtime_ns, checked_ns)):
                raise TypeError(f"{path} has no size or time")
            self._noted[path] = Noted(size, mtime_ns, checked_ns, reader, start, len(line) - 1)

    def _write(self, line: bytes) -> None:
        assert self._file is not None
        self._file.seek(0, os.SEEK_END)
        self._file.write(line + b"\n")
        self._file.flush()


def _reader(present: PresentFile) -> str:
    """A file's reader and the columns chosen for it: its text depends on both."""
    return f"{reader_label(present.path)} {present.columns!r}"


def _digest(data: bytes) -> bytes:
    return hashlib.blake2b(data, digest_size=16).hexdigest().encode()
