"""Reports of an index on its state and work. Plain frozen data."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from semsearch.results.codec import Record
from semsearch.results.state.publication import PublicationStatus
from semsearch.results.state.scan import Scan


@dataclass(frozen=True, slots=True)
class SkippedFile(Record):
    """A file or folder that could not be read, and why."""

    path: str
    reason: str


@dataclass(frozen=True, slots=True)
class Progress(Record):
    """The progress of a write: its phase, and what is done so far."""

    phase: Literal["looking", "reading", "embedding", "writing"]
    files: int = 0  # done
    total_files: int = 0
    sentences: int = 0  # done in this phase
    total_sentences: int = 0  # known from the embedding on
    path: str = ""


@dataclass(frozen=True, slots=True)
class MovedRoot(Record):
    """A folder of an index that was found again elsewhere, with the documents that stayed as they were."""

    old: str
    new: str
    documents: int


@dataclass(frozen=True, slots=True)
class SyncReport(Record):
    """The report of a write to an index."""

    added: int = 0  # documents, here and below
    changed: int = 0
    moved: int = 0
    removed: int = 0
    unchanged: int = 0
    skipped: tuple[SkippedFile, ...] = ()  # files and folders that could not be read
    warnings: tuple[str, ...] = ()  # such as a folder that has vanished
    passages: int = 0  # written
    sentences: int = 0
    seconds: float = 0.0
    refitted: bool = False  # whether all vectors were made anew, with components of today's text
    moved_roots: tuple[MovedRoot, ...] = ()  # folders that have another path now; their documents count as unchanged
    not_read: Mapping[str, int] = field(default_factory=dict)  # by ending: files that are there and were not read


@dataclass(frozen=True, slots=True)
class Adapted(Record):
    """The size of the topics that an index has learned from its text."""

    topics: int  # dimensions that vectors of passages have for them
    terms: int
    passages: int  # that they were learned from


@dataclass(frozen=True, slots=True)
class Status(Record):
    """The state of an index: counts, settings, size, drift."""

    path: str  # of the index's folder
    created: str  # date and time
    generation: int  # how many writes there were
    roots: tuple[str, ...]  # the folders and files that it indexes
    documents: int
    passages: int
    sentences: int
    words: int  # running words
    vectors: int  # in segments, those of removed documents included
    removed: int  # of these
    segments: int  # files of vectors, words and topics
    size_bytes: int  # of all files
    dimension: int  # of a sentence's vector
    method: str  # sif, usif, tfidf or mean
    a: float | None  # the weights' parameter
    components: int  # that are removed
    frequencies: str  # where p(w) comes from
    adapted: Adapted | None  # None: not wanted, or too few passages
    vectors_name: str  # of the word vectors
    vectors_digest: str
    drift: float | None  # degrees; None while there is nothing fitted
    stale: int | None  # files that a sync would look at; None: not asked for
    scans: tuple[Scan, ...] = ()  # segments of passages of which not all are compared as they are, and what that finds
    target_recall: float | None = None  # that new segments of many passages get; None where the index shall be exact
    not_read: Mapping[str, int] = field(default_factory=dict)  # by ending: files below the roots
    encodings_bytes: int = 0  # of all files, what a reranker's model has made of passages and may be deleted
    partly_read: int = 0  # documents of which something was not taken in, or in doubt
    published: PublicationStatus | None = None  # where the index is published, or read from
    languages: Mapping[str, int] = field(default_factory=dict)  # documents by ISO 639-1 code; none if not looked for
    store: str | None = None  # where an engine keeps the vectors of passages; None: files in the index's folder
    warnings: tuple[str, ...] = ()  # roots that could not be looked at for `stale`: vanished, or in a silent store

    def _repr_html_(self) -> str:
        from semsearch.results.notebook import html_of_status  # start-up time: only notebooks ask

        return html_of_status(self)
