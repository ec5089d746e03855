"""Passages for a language model's prompt, with numbered citations. Plain frozen data."""

from __future__ import annotations

from dataclasses import dataclass

from semsearch.results.codec import Record


@dataclass(frozen=True, slots=True)
class Citation(Record):
    """The source of one numbered piece of a context."""

    number: int  # from 1
    path: str  # as in a hit
    line: int  # the first one
    last_line: int
    page: int | None
    headings: tuple[str, ...]  # outermost first
    title: str  # of the document
    text: str  # what is quoted


@dataclass(frozen=True, slots=True)
class Context(Record):
    """Passages for a language model's prompt under numbers, then a list of what the numbers stand for.

    Empty, without citations, where nothing was found.
    """

    text: str
    words: int  # of all of the text, as semsearch.text.length counts them
    citations: tuple[Citation, ...]
