"""Reports of an index on its work, its state and its health; and on files and parts of files that were not indexed."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Literal

from semsearch.results.codec import Record


@dataclass(frozen=True, slots=True)
class SkippedFile(Record):
    """A file or folder that could not be read, and why."""

    path: str
    reason: str


@dataclass(frozen=True, slots=True)
class Progress(Record):
    """The progress of a write: its phase, and the counts so far. The text of scans is recognized in the last."""

    phase: Literal["looking", "reading", "embedding", "writing", "recognizing"]
    files: int = 0  # files that are done
    total_files: int = 0
    sentences: int = 0  # sentences that are done in this phase
    total_sentences: int = 0  # known from the embedding on
    path: str = ""


@dataclass(frozen=True, slots=True)
class SyncReport(Record):
    """The report of a write to an index."""

    added: int = 0  # number of new documents; the four below count documents, too
    changed: int = 0
    moved: int = 0
    removed: int = 0
    unchanged: int = 0
    skipped: tuple[SkippedFile, ...] = ()  # files and folders that could not be read
    warnings: tuple[str, ...] = ()  # messages, such as that of a missing folder
    passages: int = 0  # number of passages that were written
    sentences: int = 0
    seconds: float = 0.0
    refitted: bool = False  # whether all vectors were computed again, with components of today's text
    not_read: Mapping[str, int] = field(default_factory=dict)  # number of existing files that were not read, by ending


@dataclass(frozen=True, slots=True)
class Adapted(Record):
    """The size of the topics that an index has learned from its text."""

    topics: int  # dimensions that vectors of passages have for topics
    terms: int
    passages: int  # number of passages that topics were learned from


@dataclass(frozen=True, slots=True)
class Status(Record):
    """The state of an index: counts, settings, size."""

    path: str  # path of the index's folder
    created: str  # date and time of its creation
    generation: int  # the number of writes
    roots: tuple[str, ...]  # the indexed folders and files
    documents: int
    passages: int
    sentences: int
    words: int  # running words
    vectors: int  # in segments, including those of removed documents
    removed: int  # vectors of removed documents among these
    segments: int  # files of vectors, words and topics
    size_bytes: int  # bytes of all files
    dimension: int  # dimension of a sentence's vector
    method: str  # sif, usif, tfidf or mean
    a: float | None  # the weights' parameter
    components: int  # number of common components that are removed
    frequencies: str  # where p(w) comes from
    adapted: Adapted | None  # None: turned off, or too few passages
    vectors_name: str  # name of the word vectors
    vectors_digest: str
    fitted_sentences: int | None  # number of sentences at the last fit; None while there is nothing fitted
    stale: int | None  # files that a sync would change; None: not requested
    exact: bool = False  # whether every passage is compared with a query, however many there are
    not_read: Mapping[str, int] = field(default_factory=dict)  # number of files that are not read, by ending
    partly_read: int = 0  # documents with unread or doubtful parts
    # documents by ISO 639-1 code; empty if languages are not detected
    languages: Mapping[str, int] = field(default_factory=dict)
    # of each language, the share of its words with vectors of their own; None: it is searched by words alone
    known_words: Mapping[str, float | None] = field(default_factory=dict)
    store: str | None = None  # where an engine keeps the vectors of passages; None: files in the index's folder
    warnings: tuple[str, ...] = ()  # roots that could not be checked for `stale`: missing, or in an unreachable store
    not_allowed: tuple[str, ...] = ()  # what it would read or reach outside its folder: see `semsearch trust`
    description: str = ""  # the sentence that `describe` has given it

    @property
    def has_outgrown_its_fit(self) -> bool:
        """Whether there are more than twice as many sentences as at the last fit."""
        return self.fitted_sentences is not None and self.sentences > 2 * self.fitted_sentences


# -- Checkup -----------------------------------------------------------------------------------------------------------

Level = Literal["good", "notice", "warning"]
About = Literal["files", "reading", "fit", "words", "content"]


@dataclass(frozen=True, slots=True)
class Finding(Record):
    """One finding about an index, in a sentence, and the command that fixes it, if there is something to fix."""

    about: About
    level: Level
    says: str
    command: str  # empty if there is nothing to do


@dataclass(frozen=True, slots=True)
class Checkup(Record):
    """The health of an index."""

    status: Status
    formats: Mapping[str, int]  # documents by format, the most frequent first
    # bytes of text and tables, log, vectors of passages, vectors of sentences, words, topics, other; largest first
    disk: Mapping[str, int]
    known_words: float | None  # share of running words with a vector, of a sample; None in an index without text
    findings: tuple[Finding, ...]  # those that need action first


# -- What was not indexed ----------------------------------------------------------------------------------------------

OmissionKind = Literal[
    "doubtful encoding", "broken bytes", "pages without text", "attachments", "embedded files", "archived files",
    "encrypted parts", "damaged parts",
]  # fmt: skip
ProblemKind = Literal["not read", OmissionKind]
_NO_ENDING = "no ending"


@dataclass(frozen=True, slots=True)
class Problem(Record):
    """A file that was not read, or only in part."""

    path: str
    kind: ProblemKind
    reason: str  # why, and the remedy


def count_endings(paths: Iterable[str]) -> dict[str, int]:
    """Count files by ending (".heic", or "no ending"), most frequent first."""
    endings = Counter(_ending(path) for path in paths if not path.endswith("/"))
    return dict(sorted(endings.items(), key=lambda item: (-item[1], item[0])))


def _ending(path: str) -> str:
    """The ending of a path, without pathlib, which takes four times as long: there may be 100,000 pictures."""
    name = path[max(path.rfind("/"), path.rfind("\\")) + 1 :]
    dot = name.rfind(".")
    return name[dot:].lower() if 0 < dot < len(name) - 1 else _NO_ENDING


_MOST_ENDINGS = 6  # that are named


def endings_in_words(counts: Mapping[str, int]) -> str:
    """Write counts of endings in words: "3 .heic, 2 .bin, 14 others"."""
    parts = [f"{count:,} {ending if ending != _NO_ENDING else 'without ending'}" for ending, count in counts.items()]
    others = sum([*counts.values()][_MOST_ENDINGS:])
    return ", ".join([*parts[:_MOST_ENDINGS], f"{others:,} others"] if others else parts)
