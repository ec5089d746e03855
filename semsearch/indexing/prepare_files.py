"""Prepare files for the intake: open and read them, divide them into passages, find the words.

The result depends only on the file and the word vectors, so files can be prepared anywhere and in any order; they are
taken in in the order in which they were asked for (semsearch.indexing.parallel_reading). An object of an object store
is fetched, and then handled like any file.
"""

from __future__ import annotations

import hashlib
import io
import json
import logging
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path, PurePosixPath
from typing import NamedTuple

from semsearch.errors import MissingExtra, SourceError, StorageError, is_resource_exhaustion
from semsearch.indexing.spool import SpooledBatch, batch_of
from semsearch.lexical.postings import GatheredPostings, PostingsBuilder
from semsearch.lexical.postings_writer import gather
from semsearch.readers.document import Document
from semsearch.readers.read import FileContent, check_size, content_of, read_file
from semsearch.readers.records import NO_COLUMNS, Columns
from semsearch.readers.sniff import archive_format, refusal_of
from semsearch.sources.remote_source import FetchedFile, RemoteState, remote_source
from semsearch.sources.unchanged import PresentFile
from semsearch.text.passage_records import (
    PassageRecord,
    PassageWords,
    each_record,
    find_words,
    language_of_records,
    reading_of,
    storable,
)
from semsearch.text.ragged import Ragged
from semsearch.text.terms import Lexicon

# -- Files to read -----------------------------------------------------------------------------------------------------

Opened = Callable[[], FileContent]  # reads a file; raises SourceError, and OSError if the machine lacks something


class FileToRead(NamedTuple):
    """A file by its path, and the columns that were chosen, should it be a table or records.

    An object of a store has its URI as path, and its state as the listing showed it.
    """

    path: str
    columns: Columns = NO_COLUMNS
    listed: RemoteState | None = None

    @classmethod
    def of(cls, present: PresentFile) -> FileToRead:
        """The file as a walk found it."""
        if not present.store:
            return cls(present.absolute, present.columns)
        return cls(present.absolute, present.columns, RemoteState.of(present))


# -- Objects of object stores ------------------------------------------------------------------------------------------


def object_digest(present: PresentFile, max_bytes: int) -> str:
    """The digest of an object's content; "" for one that is too large to be read. Raises as `RemoteSource.fetch`."""
    if present.size > max_bytes:
        return ""
    fetched = remote_source(present.store).fetch(present.absolute, RemoteState.of(present), max_bytes + 1)
    return _digest(fetched.data)


def object_refusal(present: PresentFile, max_bytes: int) -> str:
    """Why an object that no reader is for is not read as text, as `refusal` of a file. Raises StorageError."""
    path, state, source = present.absolute, RemoteState.of(present), remote_source(present.store)

    def is_document() -> bool:
        if present.size > max_bytes:
            return False
        return bool(archive_format(io.BytesIO(source.fetch(path, state, max_bytes + 1).data)))

    return refusal_of(
        PurePosixPath(path), present.size, lambda count: source.fetch(path, state, count).data, is_document
    )


def opened_objects(files: Sequence[FileToRead], max_bytes: int) -> Iterator[Opened]:
    """Yield what reads each file, some of which are objects; these are fetched a few ahead."""
    wanted = [
        None if file.listed is None or file.listed.size > max_bytes else (file.path, file.listed) for file in files
    ]
    source = remote_source(next(file.path for file in files if file.listed is not None))
    for file, fetched in zip(files, source.fetch_ahead(wanted, max_bytes + 1), strict=True):
        if file.listed is None:
            yield partial(read_file, Path(file.path), max_bytes=max_bytes, columns=file.columns)
        else:
            yield partial(_read, file, file.listed, fetched, max_bytes)


def _read(
    file: FileToRead, listed: RemoteState, fetched: Callable[[], FetchedFile] | None, max_bytes: int
) -> FileContent:
    """Read an object whose bytes are on their way. Raises SourceError, StorageError."""
    check_size(listed.size, max_bytes, file.path)
    assert fetched is not None  # only a too large object is not fetched
    try:
        found = fetched()
    except FileNotFoundError as error:
        raise SourceError(f"{file.path} was listed but no longer exists") from error
    except OSError as error:
        raise SourceError(f"{file.path} cannot be read: {error.strerror or error}") from error
    check_size(found.size, max_bytes, file.path)
    return content_of(found.data, file.path, file.columns, found.size, found.mtime_ns)


def _digest(data: bytes) -> str:
    return hashlib.blake2b(data, digest_size=16).hexdigest()


# -- Preparation -------------------------------------------------------------------------------------------------------

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Prepared:
    """A file that was read, with its passages; or a file that was not, with the `reason`."""

    digest: str = ""
    size: int = 0
    mtime_ns: int = 0
    checked_ns: int = 0
    title: str = ""
    format: str = ""
    metadata: str = "{}"  # JSON
    records: tuple[PassageRecord, ...] = ()
    reading: tuple[int, str] = (0, "[]")  # characters of its text, and what is not in that, as JSON
    reason: str = ""
    columns: tuple[str, ...] = ()  # names of the columns that it has
    is_lasting: bool = False  # it cannot be read next time either, unless it changes
    language: str = ""  # of its text, if that was found


@dataclass(frozen=True, slots=True)
class Chunk:
    """Files that were prepared together, with the words of all their passages, which are numbered from 0 on."""

    files: tuple[Prepared, ...]
    batch: SpooledBatch
    postings: GatheredPostings


def each_opened(files: Sequence[FileToRead], max_bytes: int) -> Iterator[Opened]:
    """Yield the function that reads each file; objects of stores are fetched a few ahead."""
    if not any(file.listed for file in files):
        return (partial(read_file, Path(file.path), max_bytes=max_bytes, columns=file.columns) for file in files)

    return opened_objects(files, max_bytes)


def read(
    file: FileToRead, opened: Opened, records: Callable[[Document], tuple[PassageRecord, ...]]
) -> tuple[Prepared, Document | None]:
    """Read a file, and return its document too if it could be read. `records` makes the records of its passages.

    Raises StorageError if its store cannot be reached.
    """
    path, checked, is_lasting, digest = file.path, time.time_ns(), False, ""
    try:
        content = opened()
        document = content.document
        metadata = json.dumps(dict(document.metadata), allow_nan=False)
        prepared = Prepared(
            content.digest, content.size, content.mtime_ns, checked,
            storable(document.title), document.format, metadata, records(document), reading_of(document),
            columns=document.columns,
        )  # fmt: skip
        return prepared, document
    except SourceError as error:
        reason, is_lasting = str(error), not isinstance(error.__cause__, OSError | ImportError)
        digest = error.digest
    except StorageError:  # of a store of objects: none of them could be read
        raise
    except MissingExtra as error:  # it may be installed any time
        reason = f"{path} cannot be read: {error}"
    except Exception as error:  # a parser's own bug, on one file of thousands: reported, not fatal
        if isinstance(error, OSError) and is_resource_exhaustion(error):
            raise
        logger.warning("%s could not be parsed", path, exc_info=True)
        reason = f"could not be parsed: {type(error).__name__}: {error}"
        is_lasting = not isinstance(error, ImportError | MemoryError)
    return Prepared(digest, checked_ns=checked, reason=reason, is_lasting=is_lasting), None


class Preparer:
    """Prepares files with one table of word vectors, and remembers stems between chunks."""

    def __init__(self, ids_of: Callable[[PassageWords], Ragged], *, languages: bool = False) -> None:
        self._ids_of = ids_of
        self._languages = languages
        self._lexicon = Lexicon()

    def prepare(self, chosen: Sequence[FileToRead], max_bytes: int) -> Chunk:
        """Prepare a chunk of files. Raises StorageError if the store of some cannot be reached."""
        files = tuple(
            read(file, opened, lambda document: tuple(each_record(document)))[0]
            for file, opened in zip(chosen, each_opened(chosen, max_bytes), strict=True)
        )
        if self._languages:
            files = tuple(replace(file, language=language_of_records(file.records)) for file in files)
        records = [record for file in files for record in file.records]
        words = find_words(records, [file.language for file in files for _ in file.records])
        builder = PostingsBuilder(self._lexicon)
        if records:
            gather(builder, words)
        return Chunk(files, batch_of(words.sentence_counts, self._ids_of(words)), builder.gathered())
