"""Read files as documents: in the format that their content shows, else their name, else as plain text."""

from __future__ import annotations

import hashlib
import logging
import re
from dataclasses import dataclass, replace
from pathlib import Path

from semsearch.errors import SourceError, UsageError, is_resource_exhaustion
from semsearch.readers.document import Document
from semsearch.readers.encoding import declared_encoding, decode
from semsearch.readers.records import NO_COLUMNS, Columns
from semsearch.readers.registry import BUILT_IN, COMPRESSED, FORMATS, TEXT, Format, format_named, format_of
from semsearch.readers.size_limit import MAX_BYTES
from semsearch.results.omissions import Omission
from semsearch.system.clock import storable_time
from semsearch.system.source_files import SourceBytes, read_end, read_source

_LOG = logging.getLogger(__name__)
_SIGNS = frozenset(b"%P\x89\xffGIM\x7f\x1fB\xfd\x287ROfS\xd0{")  # the first bytes of what sniff.py knows
_COMPRESSED = (b"\x1f", b"B", b"\xfd")  # the first bytes of gzip, bzip2 and xz
_LIKE_MARKUP = re.compile(rb"[\xef\xbb\xbf \t\r\n]*<|From |[!-9;-~]{1,80}:")  # what text_format_by_content knows
_LONGEST_TITLE = 500  # characters: it is kept with every passage, and a minified page may be one heading


@dataclass(frozen=True, slots=True)
class FileContent:
    """A file as it was read: its document, digest and state."""

    document: Document
    digest: str  # BLAKE2b of the raw bytes, 16 bytes in hexadecimal
    size: int  # bytes, and
    mtime_ns: int  # both as they were before reading: what is written meanwhile is seen as a change next time


def read_file(path: Path, *, max_bytes: int = MAX_BYTES, columns: Columns = NO_COLUMNS, root: str = "") -> FileContent:
    """Read a file, which may not lead out of its root, if that is given.

    Raises SourceError if it cannot be read, is larger than `max_bytes`, or looks binary.

    Raises OSError if the machine runs out of a resource, such as open files.
    """
    try:
        found = _found(path, max_bytes + 1, root)
    except OSError as error:
        if is_resource_exhaustion(error):
            raise
        raise SourceError(f"{path} cannot be read: {error.strerror or error}") from error
    size, over = max(found.status.st_size, len(found.data)), 0
    if size <= max_bytes or not _is_log(path, found.data):
        check_size(size, max_bytes, str(path))
    else:
        found = read_end(path, max_bytes, root=root)
        over = size - len(found.data.lstrip(b"\n"))
    status = found.status
    content = content_of(found.data, str(path), columns, status.st_size, storable_time(status.st_mtime_ns))
    if not over:
        return content
    omissions = (Omission("over the limit", over, "at its beginning"), *content.document.omissions)
    return replace(content, document=replace(content.document, omissions=omissions))


def content_of(data: bytes, name: str, columns: Columns, size: int, mtime_ns: int) -> FileContent:
    """Read a file's bytes, with its state. Raises SourceError, which has their digest, and as `read_bytes`."""
    digest = hashlib.blake2b(data, digest_size=16).hexdigest()
    try:
        return FileContent(read_bytes(data, name, columns), digest, size, mtime_ns)
    except SourceError as error:
        error.digest = digest
        raise


def _is_log(path: Path, head: bytes) -> bool:
    from semsearch.readers.sniff import LOOKED_AT, is_log  # start-up time: few files need it

    return format_of(str(path)) in (None, TEXT) and is_log(path.name, head[:LOOKED_AT])


def _found(path: Path, most: int, root: str) -> SourceBytes:
    return read_source(path, most, root=root)


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
    if data[:1] in _COMPRESSED and name.lower().endswith(COMPRESSED):
        from semsearch.readers.containers.archive import (
            is_tape,
            uncompressed,
            uncompressed_name,
        )  # start-up time: few files need it

        if not is_tape(name):
            unpacked = uncompressed(data, name)
            try:
                return read_bytes(unpacked, uncompressed_name(name), columns)
            except SourceError as error:
                raise SourceError(f"{name}, without compression: {error}") from error.__cause__
    kind = _format(data, name)
    if kind.binary:
        return _read(kind, data, name)
    decoded = decode(data, name, declared=declared_encoding(data) if kind.declares_encoding else None)
    document = _read(kind, decoded.text, name, columns)
    return replace(document, omissions=decoded.omissions + document.omissions) if decoded.omissions else document


def _format(data: bytes, name: str) -> Format:
    named = format_of(name)
    if not data or (data[0] not in _SIGNS and b"%PDF-" not in data[:1024]):  # nearly always
        return _text_format(data, named)
    from semsearch.readers.sniff import format_by_content, unreadable_kind  # start-up time: few files need it

    found = format_by_content(data)
    if found is not None and (named is None or named.name != found) and (named is None or named in BUILT_IN):
        _LOG.info("%s: read as %s, by its content", name, found)
        return FORMATS[found]
    if found is None and (named is None or not named.binary) and (kind := unreadable_kind(data)):
        raise SourceError(f"{name} is {kind}; expected text, or a file in the format of its suffix")
    return _text_format(data, named) if found is None else named or TEXT


def _text_format(data: bytes, named: Format | None) -> Format:
    """The format of a text: that of its name, else a format that its content shows, else plain text."""
    if (named is None or named is TEXT) and _LIKE_MARKUP.match(data):
        from semsearch.readers.sniff import text_format_by_content  # start-up time: few files need it

        if found := text_format_by_content(data):
            return FORMATS[found]
    return named or TEXT


def read_text(text: str, name: str, *, format: str = "text") -> Document:
    """Read a document from a text that is in no file. Raises UsageError for a format that is unknown or not text."""
    kind = format_named(format)
    if kind is not None and not kind.binary:
        return _read(kind, text, name)
    known = ", ".join(kind.name for kind in FORMATS.values() if not kind.binary)
    raise UsageError(f"there is no text format {format!r}; expected one of {known}")


def _read(kind: Format, source: str | bytes, name: str, columns: Columns = NO_COLUMNS) -> Document:
    try:
        if kind.apart is not None and len(source) >= kind.apart and not _is_reader_process():
            document = _read_apart(kind, source, name, columns)
        else:
            document = kind.load()(source, name, *([columns] if kind.has_columns else []))
    except RecursionError as error:
        raise SourceError(f"{name} is nested too deeply to be read as {kind.name}") from error
    if not isinstance(document, Document):
        raise SourceError(
            f"{name} cannot be read: {kind.module}.read returned {type(document).__name__}, not a semsearch Document"
        )
    title = document.title
    if len(title) > _LONGEST_TITLE:
        title = title[:_LONGEST_TITLE].rstrip() + "…"
    return replace(document, title=title, format=kind.name)


def _is_reader_process() -> bool:
    """Return whether this is that process: a file within another is read where that one is."""
    from semsearch.readers.reader_child import is_running  # start-up time: queries read no files

    return is_running()


def _read_apart(kind: Format, source: str | bytes, name: str, columns: Columns) -> Document:
    """Read a document in another process, which may crash, or be ended for what it takes. Raises SourceError."""
    from semsearch.readers.document_codec import DocumentParts, NotADocument  # start-up time: queries read no files
    from semsearch.readers.reader_process import in_reader_process

    data = source.encode("utf-8", "surrogatepass") if isinstance(source, str) else source
    chosen = (columns.text, columns.metadata) if kind.has_columns else None
    reader, parts = "semsearch.readers.document_codec:read_encoded", DocumentParts()
    try:
        if kind.has_pictures:
            from semsearch.readers.pages.text_recognition import read_by_pictures

            return read_by_pictures(kind.name, data, name, kind.module)
        arguments = kind.module, name, isinstance(source, str), chosen
        in_reader_process(reader, data, name, *arguments, take=parts.take)
        return parts.document()
    except NotADocument as error:
        raise SourceError(f"{name} made its reader return what is no document: {error}") from error
