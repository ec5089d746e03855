"""Read files: open them, divide them into passages, find the words; here, in processes, or on other machines.

What is read of a file depends only on the file and the word vectors, so files can be read anywhere and in any order.
They are read in chunks, and a chunk is taken in when it is its turn (semsearch.indexing.sync). Another process or
machine gets the path, size and time of each file, sees it on the disk, in a shared folder or object store, and returns
arrays and strings. What cannot be read there is read here.
"""

from __future__ import annotations

import json
import logging
import threading
import time
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass, replace
from functools import partial
from itertools import repeat
from pathlib import Path, PurePosixPath
from typing import Any

import numpy as np

from semsearch.errors import (
    MissingExtra,
    SemsearchError,
    SourceError,
    StorageError,
    is_resource_exhaustion,
)
from semsearch.indexing.spool import SpooledBatch
from semsearch.lexical.postings import GatheredPostings, PostingsBuilder, gather
from semsearch.readers.document import Document
from semsearch.readers.read import FileContent, check_size, content_of, read_file
from semsearch.readers.registry import Format, register, registered
from semsearch.readers.sniff import refusal, refusal_of
from semsearch.settings import Settings
from semsearch.sources.root_files import FetchedFile, RemoteState, remote_source
from semsearch.sources.unchanged import PresentFile
from semsearch.system.parallel import Executor
from semsearch.system.source_files import storable_time
from semsearch.text.languages import language_of_parts
from semsearch.text.passage_words import PassageRecord, PassageWords, find_words
from semsearch.text.passages import each_record
from semsearch.text.terms import Lexicon
from semsearch.text.tokens import storable
from semsearch.word_vectors.multilingual import WordFinder
from semsearch.word_vectors.table import VectorsReference, WordVectors

logger = logging.getLogger(__name__)

# -- Opening files -----------------------------------------------------------------------------------------------------

Opened = Callable[[], FileContent]  # reads a file; raises SourceError, and OSError if the machine lacks something


def each_opened(files: Sequence[PresentFile], max_bytes: int) -> Iterator[Opened]:
    """Yield the function that reads each file; files of a store are fetched a few ahead."""
    wanted = [
        (file.absolute, RemoteState.of(file)) if file.store and file.size <= max_bytes else None for file in files
    ]
    store = next((file.absolute for file in files if file.store), None)
    fetched = repeat(None) if store is None else remote_source(store).fetch_ahead(wanted, max_bytes + 1)
    for file, fetch in zip(files, fetched, strict=False):
        if file.store:
            yield partial(_read_fetched, file, fetch, max_bytes)
        else:
            yield partial(read_file, Path(file.absolute), max_bytes=max_bytes, columns=file.columns)


def _read_fetched(file: PresentFile, fetch: Callable[[], FetchedFile] | None, max_bytes: int) -> FileContent:
    """Read a file whose bytes are on their way. Raises SourceError, StorageError."""
    check_size(file.size, max_bytes, file.absolute)
    assert fetch is not None  # only a file that is too large is not fetched
    try:
        content = fetch()
    except OSError as error:
        reason = "no longer exists" if isinstance(error, FileNotFoundError) else error.strerror or error
        raise SourceError(f"{file.absolute} cannot be read: {reason}") from error
    check_size(content.size, max_bytes, file.absolute)
    return content_of(content.data, file.absolute, file.columns, content.size, content.mtime_ns)


def why_refused(file: PresentFile) -> str:
    """Why a file that no reader is for cannot be read as text either; "" if it can. Raises StorageError."""
    if not file.store:
        return refusal(Path(file.absolute), file.size)
    path, state, source = file.absolute, RemoteState.of(file), remote_source(file.store)
    return refusal_of(PurePosixPath(path), file.size, lambda count: source.fetch(path, state, count).data)


# -- Reading -----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class PreparedFile:
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

    files: tuple[PreparedFile, ...]
    batch: SpooledBatch
    postings: GatheredPostings


def prepared_file(document: Document, *, with_passages: bool = False, **state: Any) -> PreparedFile:
    """A document in the form in which it is stored, with or without its passages; `state` is that of its file."""
    return PreparedFile(
        **state,
        title=storable(document.title),
        format=document.format,
        metadata=json.dumps(dict(document.metadata), allow_nan=False),
        records=tuple(each_record(document)) if with_passages else (),
        reading=(len(document.source), json.dumps([omission.to_dict() for omission in document.omissions])),
        columns=document.columns,
    )


def read_as(file: PresentFile, opened: Opened, *, with_passages: bool = True) -> tuple[PreparedFile, Document | None]:
    """Read a file, and return its document too if it could be read. `with_passages`: with the records of its passages.

    Raises StorageError if its store cannot be reached.
    """
    path, checked_ns, is_lasting, digest = file.absolute, time.time_ns(), False, ""
    try:
        content = opened()
        state = {"digest": content.digest, "size": content.size, "mtime_ns": content.mtime_ns}
        prepared = prepared_file(content.document, with_passages=with_passages, **state, checked_ns=checked_ns)
        return prepared, content.document
    except SourceError as error:
        reason, is_lasting = str(error), not isinstance(error.__cause__, OSError | ImportError)
        digest = error.digest
    except StorageError:  # of a store: none of its files could be read
        raise
    except MissingExtra as error:  # it may be installed any time
        reason = f"{path} cannot be read: {error}"
    except Exception as error:  # a parser's own bug, on one file of thousands: reported, not fatal
        if isinstance(error, OSError) and is_resource_exhaustion(error):
            raise
        logger.warning("%s could not be parsed", path, exc_info=True)
        reason = f"could not be parsed: {type(error).__name__}: {error}"
        is_lasting = not isinstance(error, ImportError | MemoryError)
    return PreparedFile(digest, checked_ns=checked_ns, reason=reason, is_lasting=is_lasting), None


class Preparer:
    """Prepares files with one table of word vectors, and remembers stems between chunks."""

    def __init__(self, settings: Settings, vectors: WordVectors) -> None:
        self._words = WordFinder(vectors, keep_unknown=settings.unknown != "skip")
        self._lexicon = Lexicon()

    def prepare(self, files: Sequence[PresentFile], max_bytes: int) -> Chunk:
        """Read a chunk of files. Raises StorageError if the store of some cannot be reached."""
        openers = each_opened(files, max_bytes)
        return self.chunk_of([read_as(file, opened)[0] for file, opened in zip(files, openers, strict=True)])

    def chunk_of(self, files: Iterable[PreparedFile]) -> Chunk:
        """Find the words of files that were read, and the language of those whose language is not known."""
        files = [self.with_language(file) for file in files]
        records = [record for file in files for record in file.records]
        return Chunk(tuple(files), *self.words_of(records, [file.language for file in files for _ in file.records]))

    def with_language(self, file: PreparedFile) -> PreparedFile:
        """The same file with the language of its text, by its first passages."""
        if file.language:
            return file
        return replace(file, language=language_of_parts([record.text for record in file.records]))

    def words_of(
        self, records: Sequence[PassageRecord], languages: Sequence[str]
    ) -> tuple[SpooledBatch, GatheredPostings]:
        """Find the words of passages, for the dense and the lexical index."""
        words = find_words(records, languages)
        return self.batch_of(words), self.postings_of(words)

    def batch_of(self, words: PassageWords) -> SpooledBatch:
        """The ids of the words of passages, which are numbered from 0 on."""
        counts = words.sentence_counts
        numbers = np.arange(len(counts), dtype=np.int64), np.cumsum(counts) - counts, counts
        return SpooledBatch(*numbers, self._words.read_passages(words))

    def postings_of(self, words: PassageWords) -> GatheredPostings:
        """The postings of passages."""
        builder = PostingsBuilder(self._lexicon)
        if len(words.sentence_counts):
            gather(builder, words)
        return builder.gathered()


# -- In other processes, here or on other machines --------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class SentChunk:
    """Files that are prepared together, and when they were sent, by the clock of the process that writes."""

    files: tuple[PresentFile, ...]
    sent_ns: int


def prepare_elsewhere(
    groups: Sequence[Sequence[PresentFile]],
    executor: Executor | None,
    settings: Settings,
    vectors: WordVectors,
    max_bytes: int,
) -> Generator[Chunk | None, None, None]:
    """Yield the chunk of each group of files, in their order; None for a group that is to be read here.

    What was begun ends when the generator is closed. Raises SemsearchError if a process dies.
    """
    if executor is None:
        yield from repeat(None, len(groups))
        return
    work = PreparerElsewhere(settings, VectorsReference.of(vectors), registered(), max_bytes)
    try:
        yield from executor.in_order(work, (SentChunk(tuple(group), time.time_ns()) for group in groups))
    except BrokenProcessPool as error:
        raise SemsearchError(
            "a process that reads files died, perhaps from lack of memory; nothing was changed. "
            "Run it again with one process (--processes 1)"
        ) from error


class PreparerElsewhere:
    """Prepares files in the process that it is sent to, which opens the word vectors that it has.

    Each thread has a preparer of its own, because their caches are not thread-safe.
    """

    def __init__(
        self, settings: Settings, vectors: VectorsReference, formats: Sequence[Format], max_bytes: int
    ) -> None:
        self._arguments = settings, vectors, tuple(formats), max_bytes
        self._local = threading.local()

    def __reduce__(self) -> tuple[Any, ...]:
        return PreparerElsewhere, self._arguments

    def __call__(self, sent: SentChunk) -> Chunk | None:
        """Prepare a chunk. None if it has to be prepared where the index is written. Raises VectorsError."""
        if not all(map(is_seen_here, sent.files)):
            return None
        try:
            chunk = self._preparer().prepare(sent.files, self._arguments[3])
        except StorageError:  # of a store, which another process may reach
            return None
        except OSError as error:
            if is_resource_exhaustion(error):
                return None
            raise
        if any(file.reason and not file.is_lasting for file in chunk.files):
            return None
        return replace(chunk, files=tuple(replace(file, checked_ns=sent.sent_ns) for file in chunk.files))

    def _preparer(self) -> Preparer:
        if not hasattr(self._local, "preparer"):
            settings, vectors, formats, _ = self._arguments
            for kind in formats:
                register(kind)
            self._local.preparer = Preparer(settings, vectors.open())
        preparer: Preparer = self._local.preparer
        return preparer


def is_seen_here(file: PresentFile) -> bool:
    """Return whether this process sees a file in the state in which it was found."""
    try:
        if file.store:
            return remote_source(file.absolute).is_as_seen(file.absolute, RemoteState.of(file))
        state = Path(file.absolute).stat()
    except (SemsearchError, OSError):
        return False
    return (state.st_size, storable_time(state.st_mtime_ns)) == (file.size, file.mtime_ns)
