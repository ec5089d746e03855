"""The answers of the tools. Their structured content has the fields of these classes; None is left out.

They are small, because a model reads all of it: a hit has some twenty fields, of which a model needs these.
"""

from __future__ import annotations

from dataclasses import field
from typing import Any

from semsearch.frozen import dataclass
from semsearch.results.codec import ONLY_IF_SET


def _optional() -> Any:
    return field(default=None, kw_only=True, metadata=ONLY_IF_SET)


@dataclass(frozen=True, slots=True)
class FoundPassage:
    """A found passage."""

    citation: str
    heading: str  # title and headings, outermost first
    sentence: str
    score: float
    relevance: float | None = _optional()  # how likely it answers, 0 to 1
    passage: str | None = _optional()
    index: str | None = _optional()  # if several were searched, here and below
    changed: bool | None = _optional()  # true: the file was changed or deleted since it was indexed
    language: str | None = _optional()  # ISO 639-1 code, if it is another than the query's


@dataclass(frozen=True, slots=True)
class FoundPassages:
    """The answer of search and similar."""

    results: tuple[FoundPassage, ...]
    nearest: tuple[FoundPassage, ...] | None = _optional()  # in place of results, if nothing answers
    note: str | None = _optional()
    next_cursor: str | None = _optional()


@dataclass(frozen=True, slots=True)
class CitedSource:
    """A source of a gathered context."""

    number: int
    citation: str
    index: str | None = _optional()
    changed: bool | None = _optional()


@dataclass(frozen=True, slots=True)
class GatheredContext:
    """The answer of context."""

    text: str
    sources: tuple[CitedSource, ...]
    note: str | None = _optional()


@dataclass(frozen=True, slots=True)
class ReadPassage:
    """A passage of a document."""

    citation: str
    heading: str  # as in FoundPassage
    text: str


@dataclass(frozen=True, slots=True)
class ReadDocument:
    """The answer of read."""

    index: str
    document: str
    title: str
    format: str
    passages: tuple[ReadPassage, ...]
    changed: bool | None = _optional()
    note: str | None = _optional()
    next_cursor: str | None = _optional()


@dataclass(frozen=True, slots=True)
class ListedDocument:
    """A document of an index."""

    document: str
    title: str
    format: str
    words: int
    modified: str | None = _optional()
    index: str | None = _optional()


@dataclass(frozen=True, slots=True)
class ListedDocuments:
    """The answer of list_documents."""

    documents: tuple[ListedDocument, ...]
    note: str | None = _optional()
    next_cursor: str | None = _optional()


@dataclass(frozen=True, slots=True)
class IndexState:
    """An index and its state."""

    name: str
    documents: int
    passages: int
    roots: tuple[str, ...]
    changed_files: int | None = _optional()
    about: str | None = _optional()  # the description that the user has given it
    not_read: str | None = _optional()  # files below the roots, by suffix
    problem: str | None = _optional()


@dataclass(frozen=True, slots=True)
class IndexStates:
    """The answer of status."""

    indexes: tuple[IndexState, ...]
    note: str | None = _optional()
