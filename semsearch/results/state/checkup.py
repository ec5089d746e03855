"""The health of an index: its state, what takes how much room, and what there is to do. Plain frozen data."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from semsearch.results.codec import Record
from semsearch.results.state.reports import Status

MUCH_DRIFT = 15.0  # degrees between the components in use and today's
Level = Literal["good", "notice", "warning"]
About = Literal["files", "reading", "fit", "recall", "words", "room", "content"]


@dataclass(frozen=True, slots=True)
class DiskPart(Record):
    """A part of an index on the disk."""

    part: str  # text and tables, log, vectors of passages, vectors of sentences, words, topics, other
    size_bytes: int
    files: int


@dataclass(frozen=True, slots=True)
class Finding(Record):
    """One thing about an index, in a sentence, and the command that mends it, if there is something to mend."""

    about: About
    level: Level
    says: str
    command: str  # empty where there is nothing to do


@dataclass(frozen=True, slots=True)
class Checkup(Record):
    """The health of an index."""

    status: Status
    formats: Mapping[str, int]  # documents by format, the most frequent first
    disk: tuple[DiskPart, ...]  # largest first
    known_words: float | None  # share of running words with a vector, of a sample; None in an index without text
    findings: tuple[Finding, ...]  # what needs something first
