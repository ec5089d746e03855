"""Objects of stores as files that are read: their bytes are fetched, and from there on they are as any others."""

from __future__ import annotations

import hashlib
import io
from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path, PurePosixPath

from semsearch.errors import SourceError
from semsearch.indexing.reading.file_to_read import FileToRead, Opened
from semsearch.readers.content.sniff import archive_format
from semsearch.readers.content.unnamed import refusal_of
from semsearch.readers.read import FileContent, check_size, read_bytes, read_file
from semsearch.sources.objects.ahead import fetched_ahead
from semsearch.sources.objects.object_store import FetchedObject, ObjectState, fetch_object
from semsearch.sources.plan import PresentFile
from semsearch.system.deadline import Begun


def object_digest(present: PresentFile, max_bytes: int) -> str:
    """The digest of an object's content; "" for one that is too large to be read. Raises as `fetch_object`."""
    if present.size > max_bytes:
        return ""
    return _digest(fetch_object(present.absolute, ObjectState.of(present), max_bytes + 1).data)


def object_refusal(present: PresentFile, max_bytes: int) -> str:
    """Why an object that no reader is for is not read as text, as `refusal` of a file. Raises StorageError."""
    path, state = present.absolute, ObjectState.of(present)

    def is_document() -> bool:
        if present.size > max_bytes:
            return False
        return bool(archive_format(io.BytesIO(fetch_object(path, state, max_bytes + 1).data)))

    return refusal_of(
        PurePosixPath(path), present.size, lambda count: fetch_object(path, state, count).data, is_document
    )


def opened_objects(files: Sequence[FileToRead], max_bytes: int) -> Iterator[Opened]:
    """Yield what reads each file, some of which are objects; these are fetched a few ahead."""
    wanted = [
        None if file.listed is None or file.listed.size > max_bytes else (file.path, file.listed) for file in files
    ]
    for file, fetched in zip(files, fetched_ahead(wanted, max_bytes + 1), strict=True):
        if file.listed is None:
            yield partial(read_file, Path(file.path), max_bytes=max_bytes, columns=file.columns)
        else:
            yield partial(_read, file, file.listed, fetched, max_bytes)


def _read(file: FileToRead, listed: ObjectState, fetched: Begun[FetchedObject] | None, max_bytes: int) -> FileContent:
    """Read an object whose bytes are on their way. Raises SourceError, StorageError."""
    check_size(listed.size, max_bytes, file.path)
    assert fetched is not None  # it is none only for an object that is too large
    try:
        found = fetched.result()
    except FileNotFoundError as error:
        raise SourceError(f"{file.path} was listed, and is not found") from error
    except OSError as error:
        raise SourceError(f"{file.path} cannot be read: {error.strerror or error}") from error
    check_size(found.size, max_bytes, file.path)
    return FileContent(read_bytes(found.data, file.path, file.columns), _digest(found.data), found.size, found.mtime_ns)


def _digest(data: bytes) -> str:
    return hashlib.blake2b(data, digest_size=16).hexdigest()
