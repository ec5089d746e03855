"""A passage as a map shows it: where it is from, and how it begins. Plain frozen data."""

from __future__ import annotations

from dataclasses import dataclass

from semsearch.results.codec import Record


@dataclass(frozen=True, slots=True)
class MapPassage(Record):
    """A passage of an index, found by its id."""

    passage_id: int
    path: str  # as one would open it from here; the id, for a text that a program added
    root: str  # the root it was found under; "" for a text that a program added
    document: str  # the path below the root, or the id
    title: str  # of the document
    format: str
    headings: tuple[str, ...]  # outermost first
    line: int  # these of its first sentence
    page: int | None
    place: str | None
    start: int
    end: int
    text: str  # all of it
