"""Reports of an index on its state and work. Plain frozen data."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from semsearch.results.codec import Record
from semsearch.results.scan import Scan


@dataclass(frozen=True, slots=True)
class SkippedFile(Record):
    """A file or folder that could not be read, and why."""

    path: str
    reason: str


@dataclass(frozen=True, slots=True)
class Progress(Record):
    """How far a write has come."""

    phase: Literal["looking", "reading", "embedding", "writing"]
    files: int = 0  # done
    total_files: int = 0
    sentences: int = 0  # done in this phase
    total_sentences: int = 0  # known from the embedding on
    path: str = ""


@dataclass(frozen=True, slots=True)
class SyncReport(Record):
    """What a write did."""

    added: int = 0
    changed: int = 0
    moved: int = 0
    removed: int = 0
    unchanged: int = 0
    skipped: tuple[SkippedFile, ...] = ()
    warnings: tuple[str, ...] = ()
    passages: int = 0  # written
    sentences: int = 0
    seconds: float = 0.0
    refitted: bool = False


@dataclass(frozen=True, slots=True)
class Adapted(Record):
    """What an index has learned from its text about its words."""

    topics: int  # dimensions that vectors of passages have for them
    terms: int
    passages: int  # that they were learned from


@dataclass(frozen=True, slots=True)
class Status(Record):
    """What an index is, now."""

    path: str
    created: str
    generation: int
    roots: tuple[str, ...]
    documents: int
    passages: int
    sentences: int
    words: int
    vectors: int  # in segments, those of removed documents included
    removed: int  # of these
    segments: int
    size_bytes: int
    dimension: int
    method: str
    a: float | None
    components: int
    frequencies: str
    adapted: Adapted | None  # None: not wanted, or too few passages
    vectors_name: str
    vectors_digest: str
    drift: float | None  # degrees; None while there is nothing fitted
    stale: int | None  # files that a sync would look at; None: not asked for
    scans: tuple[Scan, ...] = ()  # segments of passages of which not all are compared as they are, and what that finds
    target_recall: float | None = None  # that new segments of many passages get; None where the index shall be exact
