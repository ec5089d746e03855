"""Prepare files in several processes, or on other machines that see the same files.

Processes are fresh interpreters (spawned) that return arrays and strings. A large file is not sent to one: the writing
process reads it and takes it in part by part. It also reads what a worker cannot fetch from an object store, which may
be in memory.

A worker on another machine gets the path, size and time of each file, and sees it in a shared folder or object store.
What it does not see as this process does, or cannot read for a reason of its own machine, is read here.
"""

from __future__ import annotations

import logging
import os
import signal
import threading
import time
from collections import deque
from collections.abc import Generator, Iterator, Sequence
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass, replace
from itertools import islice, tee
from multiprocessing import get_context
from pathlib import Path
from typing import Any

from semsearch.errors import SemsearchError, StorageError, VectorsMismatch, is_resource_exhaustion
from semsearch.indexing.prepare_files import Chunk, FileToRead, Preparer
from semsearch.readers.registry import Format, register, registered
from semsearch.settings import Settings
from semsearch.sources.remote_source import remote_source
from semsearch.sources.unchanged import PresentFile
from semsearch.system.clock import storable_time
from semsearch.system.threads import Executor
from semsearch.word_vectors.loading import Reference, VectorsReference, load_vectors
from semsearch.word_vectors.table import WordVectors

# -- Processes of this machine -----------------------------------------------------------------------------------------

logger = logging.getLogger(__name__)

LARGE = 8_000_000  # bytes: a larger file is read by the process that takes it in
_CHUNK = 250_000  # bytes, and files, that are prepared at once: enough to make arrays worth while
_FILES = 256
_AHEAD = 3  # chunks for each process that are begun before they are needed
_WORTH = 4_000_000  # bytes: for fewer, processes take longer to start than they save
_MOST = 8  # processes by default: only one takes in what they prepare


def useful_processes(sizes: Sequence[int], wanted: int, vectors: WordVectors) -> int:
    """Choose the number of processes for files of given sizes: `wanted`; for 0, as many as pay for their start.

    It is one if the word vectors are only in memory.
    """
    if not hasattr(vectors, "folder"):
        return 1
    if wanted:
        return wanted
    small = sum(size for size in sizes if size <= LARGE)
    return max(1, min(_cores(), _MOST, small // _WORTH + 1))


def _cores() -> int:
    affinity = getattr(os, "sched_getaffinity", None)
    return len(affinity(0)) if affinity is not None else os.cpu_count() or 1


def chunks(sizes: Sequence[int]) -> Iterator[slice]:
    """Divide files, given by their sizes, into chunks of consecutive ones; a large file is a chunk by itself."""
    first = total = 0
    for number, size in enumerate(sizes):
        if number > first and (size > LARGE or total + size > _CHUNK or number - first >= _FILES):
            yield slice(first, number)
            first, total = number, 0
        total += size
    if len(sizes):
        yield slice(first, len(sizes))


def is_large(sizes: Sequence[int]) -> bool:
    """Return whether a chunk is a single large file, which is not sent to a worker."""
    return sizes[0] > LARGE


def prepare_in_processes(
    groups: Sequence[Sequence[FileToRead]], *, processes: int, settings: Settings, vectors: WordVectors, max_bytes: int
) -> Generator[Chunk, None, None]:
    """Prepare groups of files and yield a chunk for each, in their order. Raises SemsearchError if a process dies.

    The processes end when the generator is closed or exhausted.
    """
    arguments = settings, str(getattr(vectors, "folder", "")), vectors.digest, registered()
    pool = ProcessPoolExecutor(processes, get_context("spawn"), initializer=_start, initargs=arguments)
    waiting: deque[tuple[Sequence[FileToRead], Future[Chunk | None]]] = deque()
    rest = iter(groups)
    here: Preparer | None = None
    try:
        while True:
            for group in islice(rest, processes * _AHEAD - len(waiting)):
                waiting.append((group, pool.submit(_prepare, list(group), max_bytes)))
            if not waiting:
                return
            group, prepared = waiting.popleft()
            chunk = prepared.result()
            if chunk is None:
                here = here or Preparer(settings.embedder(vectors).read_passages, languages=settings.languages)
                chunk = here.prepare(group, max_bytes)
            yield chunk
    except BrokenProcessPool as error:
        raise SemsearchError(
            "a process that reads files died, perhaps from lack of memory; nothing was changed. "
            "Run it again with one process (--processes 1)"
        ) from error
    finally:
        pool.shutdown(wait=True, cancel_futures=True)


_worker: Preparer | SemsearchError  # of this process, if it is a worker; or why it could not become one


def _start(settings: Settings, folder: str, digest: str, formats: Sequence[Format] = ()) -> None:
    """Prepare a worker process. It ignores Ctrl-C, and ends with the process that takes in."""
    global _worker  # a worker's state lives as long as its process
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    for kind in formats:
        register(kind)
    try:
        vectors = load_vectors(folder)
        if vectors.digest != digest:
            raise VectorsMismatch(f"the word vectors in {folder} changed while they were in use; index again")
        _worker = Preparer(settings.embedder(vectors).read_passages, languages=settings.languages)
    except SemsearchError as error:
        _worker = error


def _prepare(files: Sequence[FileToRead], max_bytes: int) -> Chunk | None:
    """Prepare a chunk. None if it has objects of a store that another process may have in its memory."""
    if isinstance(_worker, SemsearchError):
        raise _worker
    if not any(file.listed for file in files):
        return _worker.prepare(files, max_bytes)
    try:
        chunk = _worker.prepare(files, max_bytes)
    except StorageError:
        return None
    return None if any(file.reason and not file.is_lasting for file in chunk.files) else chunk


# -- Other machines ----------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class SeenFile:
    """A file to read, and its state as it was seen where the index is written."""

    file: FileToRead
    size: int
    mtime_ns: int

    @classmethod
    def of(cls, present: PresentFile) -> SeenFile:
        """The file as a walk found it."""
        return cls(FileToRead.of(present), present.size, present.mtime_ns)

    def is_seen_here(self) -> bool:
        """Return whether this process sees the file, or object of a store, in that state."""
        if self.file.listed is not None:
            try:
                return remote_source(self.file.path).is_as_seen(self.file.path, self.file.listed)
            except (SemsearchError, OSError):
                return False
        try:
            state = Path(self.file.path).stat()
        except OSError:
            return False
        return (state.st_size, storable_time(state.st_mtime_ns)) == (self.size, self.mtime_ns)


@dataclass(frozen=True, slots=True)
class SentChunk:
    """Files that are prepared together, and when they were sent, by the clock of the process that writes."""

    files: tuple[SeenFile, ...]
    sent_ns: int


class PreparerElsewhere:
    """Prepares files in the process that it is sent to, which opens the word vectors that it has.

    Each thread has a preparer of its own, because their caches are not thread-safe.
    """

    def __init__(self, settings: Settings, vectors: Reference, formats: Sequence[Format], max_bytes: int) -> None:
        self._given = settings, vectors, tuple(formats), max_bytes
        self._own = threading.local()

    def __reduce__(self) -> tuple[Any, ...]:
        return PreparerElsewhere, self._given

    def __call__(self, sent: SentChunk) -> Chunk | None:
        """Prepare a chunk. None if it has to be prepared where the index is written. Raises VectorsError."""
        if not all(file.is_seen_here() for file in sent.files):
            return None
        try:
            chunk = self._preparer().prepare([file.file for file in sent.files], self._given[3])
        except StorageError:
            return None
        except OSError as error:
            if is_resource_exhaustion(error):
                return None
            raise
        if any(file.reason and not file.is_lasting for file in chunk.files):
            return None
        return replace(chunk, files=tuple(replace(file, checked_ns=sent.sent_ns) for file in chunk.files))

    def _preparer(self) -> Preparer:
        if not hasattr(self._own, "preparer"):
            settings, vectors, formats, _ = self._given
            for kind in formats:
                register(kind)
            ids_of = settings.embedder(vectors.open()).read_passages
            self._own.preparer = Preparer(ids_of, languages=settings.languages)
        preparer: Preparer = self._own.preparer
        return preparer


def prepare_elsewhere(
    groups: Sequence[Sequence[PresentFile]],
    *,
    executor: Executor,
    settings: Settings,
    vectors: WordVectors,
    max_bytes: int,
) -> Generator[Chunk, None, None]:
    """Prepare groups of files and yield a chunk for each, in their order, as `prepare_in_processes` does."""
    work = PreparerElsewhere(settings, VectorsReference.of(vectors), registered(), max_bytes)
    sent, kept = tee(_sent(groups))
    here: Preparer | None = None
    for files, chunk in zip(kept, executor.in_order(work, sent), strict=False):
        if chunk is None:
            here = here or Preparer(settings.embedder(vectors).read_passages, languages=settings.languages)
            chunk = here.prepare([file.file for file in files.files], max_bytes)
        yield chunk


def _sent(groups: Sequence[Sequence[PresentFile]]) -> Iterator[SentChunk]:
    for group in groups:
        yield SentChunk(tuple(SeenFile.of(present) for present in group), time.time_ns())
