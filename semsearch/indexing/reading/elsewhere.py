"""Prepare files on other machines that see the same files, as in a folder that they share, or in a store of objects.

Nothing depends on that: each file is sent as path, size and time, and what a worker does not see as this process saw
it, or could not read for a reason of its own machine, is read here.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Generator, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import tee
from pathlib import Path
from typing import TYPE_CHECKING, Any

from semsearch.errors import SemsearchError, StorageError
from semsearch.indexing.reading.file_to_read import FileToRead
from semsearch.indexing.reading.prepare import Chunk, Preparer
from semsearch.readers.registry import Format, register, registered
from semsearch.settings import Settings
from semsearch.sources.plan import PresentFile
from semsearch.system.lacking import is_lacking
from semsearch.system.threads import Spread
from semsearch.word_vectors.reference import VectorsReference
from semsearch.word_vectors.table import WordVectors

if TYPE_CHECKING:
    from semsearch.sources.objects.object_store import ObjectState


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
            return self._is_object_seen(self.file.listed)
        try:
            state = Path(self.file.path).stat()
        except OSError:
            return False
        return (state.st_size, state.st_mtime_ns) == (self.size, self.mtime_ns)

    def _is_object_seen(self, listed: ObjectState) -> bool:
        from semsearch.sources.objects.object_store import is_as_seen  # an optional dependency

        try:
            return is_as_seen(self.file.path, listed)
        except (SemsearchError, OSError):
            return False


@dataclass(frozen=True, slots=True)
class SentChunk:
    """Files that are prepared together, and when they were sent, by the clock of the process that writes."""

    files: tuple[SeenFile, ...]
    sent_ns: int


class PreparerElsewhere:
    """Prepares files in the process that it is sent to, which opens the word vectors that it has.

    Each thread has a preparer of its own: what these remember is not made for several.
    """

    def __init__(
        self, settings: Settings, vectors: VectorsReference, formats: Sequence[Format], max_bytes: int
    ) -> None:
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
            if is_lacking(error):
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
            ids_of = settings.embedder(vectors.open()).ids_of
            self._own.preparer = Preparer(ids_of, languages=settings.languages)
        preparer: Preparer = self._own.preparer
        return preparer


def prepare_elsewhere(
    groups: Sequence[Sequence[PresentFile]],
    *,
    spread: Spread,
    settings: Settings,
    vectors: WordVectors,
    max_bytes: int,
) -> Generator[Chunk, None, None]:
    """Prepare groups of files and yield a chunk for each, in their order, as `prepare_in_processes` does."""
    work = PreparerElsewhere(settings, VectorsReference.of(vectors), registered(), max_bytes)
    sent, kept = tee(_sent(groups))
    here: Preparer | None = None
    for files, chunk in zip(kept, spread.in_order(work, sent), strict=False):
        if chunk is None:
            here = here or Preparer(settings.embedder(vectors).ids_of, languages=settings.languages)
            chunk = here.prepare([file.file for file in files.files], max_bytes)
        yield chunk


def _sent(groups: Sequence[Sequence[PresentFile]]) -> Iterator[SentChunk]:
    for group in groups:
        yield SentChunk(tuple(SeenFile.of(present) for present in group), time.time_ns())
