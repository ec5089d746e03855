"""Read files as documents: in the format that their content shows, else their name, else as plain text."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from importlib import import_module
from pathlib import Path
from typing import Any

from semsearch.errors import SourceError, UsageError, is_resource_exhaustion
from semsearch.readers.document import Document, NotADocument, decode_document, encode_document
from semsearch.readers.encoding import declared_encoding, decode
from semsearch.readers.pages.text_recognition import (
    NO_RECOGNITION,
    Recognition,
    recognition_of_a_file,
    with_recognition,
)
from semsearch.readers.reader_child import is_running
from semsearch.readers.reader_process import Limits, in_reader_process
from semsearch.readers.registry import COMPRESSED, FORMATS, MAX_BYTES, NO_COLUMNS, Columns, Format, format_named
from semsearch.readers.sniff import recognised_format
from semsearch.readers.unpacking import is_tape, opener_of, uncompressed, uncompressed_name
from semsearch.system.source_files import content_digest, read_source

_LONGEST_TITLE = 500  # characters: it is kept with every passage, and a minified page may be one heading


@dataclass(frozen=True, slots=True)
class FileContent:
    """A file as it was read: its document, digest and state."""

    document: Document
    digest: str  # BLAKE2b of the raw bytes, 16 bytes in hexadecimal
    size: int  # in bytes, and the time of the last change; both were asked for before the file was read, so that the
    mtime_ns: int  # next sync notices what is written meanwhile


def read_file(path: Path, *, max_bytes: int = MAX_BYTES, columns: Columns = NO_COLUMNS, root: str = "") -> FileContent:
    """Read a file, which may not lead out of its root, if that is given.

    Raises SourceError if it cannot be read, is larger than `max_bytes`, or looks binary.

    Raises OSError if the machine runs out of a resource, such as open files.
    """
    try:
        source = read_source(path, max_bytes + 1, root=root)
    except OSError as error:
        if is_resource_exhaustion(error):
            raise
        raise SourceError(f"{path} cannot be read: {error.strerror or error}") from error
    check_size(max(source.size, len(source.data)), max_bytes, str(path))
    return content_of(source.data, str(path), columns, source.size, source.mtime_ns)


def content_of(data: bytes, name: str, columns: Columns, size: int, mtime_ns: int) -> FileContent:
    """Read a file's bytes, with its state. Raises SourceError, which has their digest, and as `read_bytes`."""
    digest = content_digest(data)
    try:
        return FileContent(read_bytes(data, name, columns), digest, size, mtime_ns)
    except SourceError as error:
        error.digest = digest
        raise


def check_size(size: int, max_bytes: int, name: str) -> None:
    """Check that what is to be read is not too large. Raises SourceError."""
    if size > max_bytes:
        raise SourceError(
            f"{name} has {size:,} bytes, more than the limit of {max_bytes:,}; split it or raise the limit"
        )


def read_bytes(data: bytes, name: str, columns: Columns = NO_COLUMNS) -> Document:
    """Read a document from a file's bytes. Their first bytes tell the format if they can, else the suffix of `name`.

    An unknown suffix means text. Raises SourceError for bytes that are neither text nor of a known format, MissingExtra
    if the format needs a package that is not installed.
    """
    if name.lower().endswith(COMPRESSED) and opener_of(data) and not is_tape(name):
        unpacked = uncompressed(data, name)
        try:
            return read_bytes(unpacked, uncompressed_name(name), columns)
        except SourceError as error:
            raise SourceError(f"{name}, without compression: {error}") from error.__cause__
    kind = recognised_format(data, name)
    if kind.binary:
        return _read(kind, data, name)
    decoded = decode(data, name, declared=declared_encoding(data) if kind.declares_encoding else None)
    document = _read(kind, decoded.text, name, columns)
    return replace(document, omissions=decoded.omissions + document.omissions) if decoded.omissions else document


def read_text(text: str, name: str, *, format: str = "text") -> Document:
    """Read a document from a text that is in no file. Raises UsageError for a format that is unknown or not text."""
    kind = format_named(format)
    if kind is not None and not kind.binary:
        return _read(kind, text, name)
    known = ", ".join(kind.name for kind in FORMATS.values() if not kind.binary)
    raise UsageError(f"there is no text format {format!r}; expected one of {known}")


def _read(kind: Format, source: str | bytes, name: str, columns: Columns = NO_COLUMNS) -> Document:
    try:
        if kind.is_isolated(source) and not is_running():
            document = _read_isolated(kind, source, name, columns)
        else:
            document = _read_here(kind, source, name, columns)
    except RecursionError as error:
        raise SourceError(f"{name} is nested too deeply to be read as {kind.name}") from error
    title = document.title
    if len(title) > _LONGEST_TITLE:
        title = title[:_LONGEST_TITLE].rstrip() + "…"
    return replace(document, title=title, format=kind.name)


def _read_here(kind: Format, source: str | bytes, name: str, columns: Columns) -> Document:
    """Read a document in this process."""
    module, _, function = kind.module.partition(":")
    reader = getattr(import_module(module), function or "read")
    document = reader(source, name, columns) if kind.has_columns else reader(source, name)
    if not isinstance(document, Document):
        raise SourceError(
            f"{name} cannot be read: {kind.module} returned {type(document).__name__}, not a semsearch Document"
        )
    return document


# -- In another process ------------------------------------------------------------------------------------------------


def _read_isolated(kind: Format, source: str | bytes, name: str, columns: Columns) -> Document:
    """Read a document in another process, which may crash, or be ended for what it takes. Raises SourceError."""
    data = source.encode("utf-8", "surrogatepass") if isinstance(source, str) else source
    described = kind.name, kind.module, kind.binary, kind.has_columns
    chosen = columns.text, columns.metadata

    def ask(recognition: Recognition, limits: Limits | None, take_part: Callable[[bytes], None] | None) -> bytes:
        question = name, described, chosen, recognition
        return in_reader_process(read_encoded, data, name, *question, limits=limits, take_part=take_part)

    try:
        encoded = with_recognition(ask, data, name) if kind.has_pictures else ask(NO_RECOGNITION, None, None)
        return decode_document(encoded, source if isinstance(source, str) else "")
    except NotADocument as error:
        raise SourceError(f"{name} made its reader return what is no document: {error}") from error


def read_encoded(
    data: bytes,
    name: str,
    described: tuple[str, str, bool, bool],
    columns: tuple[list[str], list[str]],
    recognition: Sequence[Any],
) -> bytes:
    """Read a file and encode its document: what the other process is asked to do."""
    format_name, module, is_binary, has_columns = described
    kind = Format(format_name, (), module, is_binary, has_columns=has_columns)
    source = data if is_binary else data.decode("utf-8", "surrogatepass")
    with recognition_of_a_file(Recognition(*recognition)):
        document = _read_here(kind, source, name, Columns(*map(tuple, columns)))
    return encode_document(document, source if isinstance(source, str) else None)
