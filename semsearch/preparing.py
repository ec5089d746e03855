"""Files to what an index takes in: read, cut into passages, their words found. Here or, many at a time, in processes.

What comes of a file depends on nothing but the file and the word vectors, so files can be prepared anywhere and in any
order; they are taken in one after the other, in the order in which they were asked for. Workers are fresh interpreters
(spawned), which hand back arrays and strings. A large file is not sent to a worker: it is worked through in stretches
where it is taken in.
"""

from __future__ import annotations

import json
import logging
import os
import signal
import struct
import time
from collections import deque
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass
from itertools import chain, islice
from multiprocessing import get_context
from pathlib import Path

from semsearch.average import Ragged
from semsearch.documents import Document
from semsearch.errors import SemsearchError, SourceError, VectorsMismatch
from semsearch.passage_words import find_words
from semsearch.passages import each_passage
from semsearch.postings import Gathered, PostingsBuilder
from semsearch.readers import read_file
from semsearch.rows import heading_text
from semsearch.settings import Settings
from semsearch.spool import Batch, batch_of
from semsearch.terms import Lexicon
from semsearch.tokens import WordChunk
from semsearch.vectors.loading import load_vectors
from semsearch.vectors.table import WordVectors
from semsearch.words import gather

logger = logging.getLogger(__name__)

LARGE = 8_000_000  # bytes: from here on a file is taken in where it is read
_CHUNK = 250_000  # bytes, and files, that are prepared at once: as much as makes arrays worth while
_FILES = 256
_AHEAD = 3  # chunks for each process that are begun before they are needed
_WORTH = 4_000_000  # bytes: for fewer, processes take longer to start than they save
_SPANS = struct.Struct("<ii12x")  # of a sentence's five offsets, where it is in the passage's text
_MOST = 8  # processes, unless told otherwise: what takes in is one


@dataclass(frozen=True, slots=True)
class Cut:
    """A passage as its row has it."""

    headings: str  # JSON
    above: str  # title and headings, as they are embedded
    line: int
    page: int | None
    text: str
    offsets: bytes  # (n, 5) int32: start, end, source start, source end, line
    sentences: int

    @property
    def sentence_texts(self) -> list[str]:
        return [self.text[start:end] for start, end in _SPANS.iter_unpack(self.offsets)]


@dataclass(frozen=True, slots=True)
class Prepared:
    """A file that was read, and its passages; or why it was not: then there is a `reason`."""

    digest: str = ""
    size: int = 0
    mtime_ns: int = 0
    checked_ns: int = 0
    title: str = ""
    format: str = ""
    metadata: str = "{}"  # JSON
    cuts: tuple[Cut, ...] = ()
    reason: str = ""
    is_lasting: bool = False  # it will not be read next time either, unless it changes


@dataclass(frozen=True, slots=True)
class Chunk:
    """Some files, and the words of all their passages, counted from 0 on."""

    files: tuple[Prepared, ...]
    batch: Batch
    postings: Gathered


def storable(text: str) -> str:
    """Without lone surrogates, which are no characters and which no database takes."""
    return text if text.isascii() else text.encode("utf-8", "replace").decode("utf-8")


def each_cut(document: Document) -> Iterator[Cut]:
    """The passages of a document, one after the other."""
    title = storable(document.title)
    trail: tuple[str, ...] | None = None
    headings = above = ""
    for passage in each_passage(document):
        if passage.headings is not trail:  # the passages of a section share theirs
            trail = passage.headings
            headings, above = json.dumps(trail), heading_text(title, trail)
        sentences = passage.sentences
        offsets = struct.pack(f"<{5 * len(sentences)}i", *chain.from_iterable(sentences))  # a third of NumPy's time
        yield Cut(headings, above, passage.line, passage.page, passage.text, offsets, len(sentences))


def read(path: str, max_bytes: int, cuts: Callable[[Document], tuple[Cut, ...]]) -> tuple[Prepared, Document | None]:
    """Read a file; its document besides, where there is one. `cuts` makes its passages."""
    checked = time.time_ns()
    try:
        content = read_file(Path(path), max_bytes=max_bytes)
        document = content.document
        metadata = json.dumps(dict(document.metadata), allow_nan=False)
        file = Prepared(
            content.digest, content.size, content.mtime_ns, checked,
            storable(document.title), document.format, metadata, cuts(document),
        )  # fmt: skip
        return file, document
    except SourceError as error:
        reason, is_lasting = str(error), not isinstance(error.__cause__, OSError)
    except Exception as error:  # a parser's own bug, on one file of thousands: told, not fatal
        logger.warning("%s could not be parsed", path, exc_info=True)
        reason, is_lasting = f"could not be parsed: {type(error).__name__}: {error}", True
    return Prepared(checked_ns=checked, reason=reason, is_lasting=is_lasting), None


class Preparer:
    """Prepares files with one table of word vectors. Remembers stems between chunks."""

    def __init__(self, ids_of: Callable[[Iterable[WordChunk]], Ragged]) -> None:
        self._ids_of = ids_of
        self._lexicon = Lexicon()

    def prepare(self, paths: Sequence[str], max_bytes: int) -> Chunk:
        """Read files and find their words."""
        files = tuple(read(path, max_bytes, lambda document: tuple(each_cut(document)))[0] for path in paths)
        cuts = [cut for file in files for cut in file.cuts]
        words = find_words(cuts)
        builder = PostingsBuilder(self._lexicon)
        if cuts:
            gather(builder, words)
        return Chunk(files, batch_of(words.sentence_counts, self._ids_of(words.chunks)), builder.gathered())


def useful_processes(sizes: Sequence[int], asked: int, vectors: WordVectors) -> int:
    """How many processes prepare files of such sizes: as many as asked for; for 0, as many as pay for their start.

    One where the word vectors are in this process only.
    """
    if not hasattr(vectors, "folder"):
        return 1
    if asked:
        return asked
    small = sum(size for size in sizes if size <= LARGE)
    return max(1, min(_cores(), _MOST, small // _WORTH + 1))


def _cores() -> int:
    affinity = getattr(os, "sched_getaffinity", None)
    return len(affinity(0)) if affinity is not None else os.cpu_count() or 1


def chunks(sizes: Sequence[int]) -> Iterator[slice]:
    """Consecutive files that go together; a large one by itself."""
    first = total = 0
    for place, size in enumerate(sizes):
        if place > first and (size > LARGE or total + size > _CHUNK or place - first >= _FILES):
            yield slice(first, place)
            first, total = place, 0
        total += size
    if len(sizes):
        yield slice(first, len(sizes))


def prepare_in_processes(
    groups: Sequence[Sequence[str]], *, processes: int, settings: Settings, vectors: WordVectors, max_bytes: int
) -> Generator[Chunk, None, None]:
    """The chunks of some groups of files, in their order. Raises SemsearchError where a process dies.

    To be closed, or used up: the processes end with it.
    """
    arguments = settings, str(getattr(vectors, "folder", "")), vectors.digest
    pool = ProcessPoolExecutor(processes, get_context("spawn"), initializer=_start, initargs=arguments)
    waiting: deque[Future[Chunk]] = deque()
    rest = iter(groups)
    try:
        while True:
            for group in islice(rest, processes * _AHEAD - len(waiting)):
                waiting.append(pool.submit(_prepare, list(group), max_bytes))
            if not waiting:
                return
            yield waiting.popleft().result()
    except BrokenProcessPool as error:
        raise SemsearchError(
            "a process that reads files has died, of too little memory perhaps; nothing was changed. "
            "Run it again with one process (--processes 1)"
        ) from error
    finally:
        pool.shutdown(wait=True, cancel_futures=True)


_worker: Preparer | SemsearchError  # of this process, where it is one; or why it is none


def _start(settings: Settings, folder: str, digest: str) -> None:
    """Make a worker ready. Ctrl-C is for the process that takes in; the workers end with it."""
    global _worker  # a worker's state lives as long as its process
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        vectors = load_vectors(folder)
        if vectors.digest != digest:
            raise VectorsMismatch(f"the word vectors in {folder} have changed while they were in use; index again")
        _worker = Preparer(settings.embedder(vectors).ids_of)
    except SemsearchError as error:
        _worker = error


def _prepare(paths: Sequence[str], max_bytes: int) -> Chunk:
    if isinstance(_worker, SemsearchError):
        raise _worker
    return _worker.prepare(paths, max_bytes)
