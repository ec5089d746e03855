"""The passages of a document, some at a time: the document's text with its headings and places. Plain frozen data."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from semsearch.results.codec import Record


@dataclass(frozen=True, slots=True)
class PlacedSentence(Record):
    """A sentence of a passage."""

    sentence_id: int
    start: int  # in the passage's text, in characters
    end: int  # one past its last character
    line: int  # as in a hit
    place: str | None  # likewise


@dataclass(frozen=True, slots=True)
class PlacedPassage(Record):
    """A passage of a document, with its sentences."""

    passage_id: int
    headings: tuple[str, ...]  # outermost first
    page: int | None  # of all its sentences, where the format has pages
    text: str
    sentences: tuple[PlacedSentence, ...]


@dataclass(frozen=True, slots=True)
class DocumentPassages(Record):
    """Some passages of a document, in their order. `next` is the offset of those after them; None at the end."""

    path: str  # as one would open it from here; the id, for a text that a program added
    root: str  # the root it was found under; "" for a text that a program added
    document: str  # the path below the root, or the id
    title: str
    format: str  # text, markdown, rst, html, pdf, ...
    metadata: Mapping[str, Any]  # front matter and the like
    stale: bool  # its file has changed or gone since it was indexed
    count: int  # of all its passages
    offset: int  # how many are before these
    passages: tuple[PlacedPassage, ...]
    next: int | None
    found: int | None  # the number, from 0, of the passage that was asked for; None: none was, or it has gone
