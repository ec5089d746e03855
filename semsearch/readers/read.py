"""Files to documents: by the format that the name says, or else as text."""

from __future__ import annotations

import hashlib
import os
import stat
from dataclasses import dataclass, replace
from pathlib import Path

from semsearch.errors import SourceError, UsageError
from semsearch.readers.decode import declared_encoding, decode
from semsearch.readers.document import MAX_BYTES, Document
from semsearch.readers.registry import FORMATS, TEXT, Format, format_named, format_of

_LONGEST_TITLE = 500  # characters: it is kept with every passage, and a minified page may be one heading


@dataclass(frozen=True, slots=True)
class FileContent:
    """A file as read at one moment."""

    document: Document
    digest: str  # BLAKE2b of the raw bytes, 16 bytes in hexadecimal
    size: int  # bytes, and
    mtime_ns: int  # both as they were before reading: what is written meanwhile is seen as a change next time


def read_file(path: Path, *, max_bytes: int = MAX_BYTES) -> FileContent:
    """Read one file. Raises SourceError if it cannot be read, is larger than `max_bytes`, or looks binary."""
    try:
        before = path.stat()
        if not stat.S_ISREG(before.st_mode):
            raise SourceError(f"{path} is not a file; expected a file of text")
        data = b""
        if before.st_size <= max_bytes:
            with path.open("rb") as file:
                before = os.fstat(file.fileno())
                data = file.read(max_bytes + 1)
    except OSError as error:
        raise SourceError(f"{path} cannot be read: {error.strerror or error}") from error
    size = max(before.st_size, len(data))
    if size > max_bytes:
        raise SourceError(
            f"{path} has {size:,} bytes, more than the limit of {max_bytes:,}; split it or raise the limit"
        )
    digest = hashlib.blake2b(data, digest_size=16).hexdigest()
    return FileContent(read_bytes(data, str(path)), digest, before.st_size, before.st_mtime_ns)


def read_bytes(data: bytes, name: str) -> Document:
    """The document in a file's bytes; the suffix of `name` says the format, and an unknown one means text."""
    kind = format_of(name) or TEXT
    if kind.binary:
        return _read(kind, data, name)
    return _read(kind, decode(data, name, declared=declared_encoding(data) if kind.declares_encoding else None), name)


def read_text(text: str, name: str, *, format: str = "text") -> Document:
    """The document in a text that is in no file. Raises UsageError for a format that is unknown or not text."""
    kind = format_named(format)
    if kind is not None and not kind.binary:
        return _read(kind, text, name)
    known = ", ".join(kind.name for kind in FORMATS.values() if not kind.binary)
    raise UsageError(f"no text format is called {format!r}; expected one of {known}")


def _read(kind: Format, source: str | bytes, name: str) -> Document:
    try:
        document = kind.load()(source, name)
    except RecursionError as error:
        raise SourceError(f"{name} is nested too deeply to be read as {kind.name}") from error
    if not isinstance(document, Document):
        raise SourceError(
            f"{name} cannot be read: {kind.module}.read gave {type(document).__name__}, not a semsearch Document"
        )
    title = document.title
    if len(title) > _LONGEST_TITLE:
        title = title[:_LONGEST_TITLE].rstrip() + "…"
    return replace(document, title=title, format=kind.name)
