"""A part of a document, as an agent reads it: from its beginning, or around what was cited, as far as there is room."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from semsearch.agents.citations import CitedPlace
    from semsearch.index import Index
    from semsearch.results.contents.passages import DocumentPassages, PlacedPassage

_AT_ONCE = 20


@dataclass(frozen=True, slots=True)
class DocumentPart:
    """Passages of a document in a row, with what is known of the document."""

    of: DocumentPassages
    first: int  # the number of the first one; the document's first has number 0
    passages: tuple[PlacedPassage, ...]
    next: int | None  # the number of the passage where reading goes on; None: nothing more was asked for


def read_part(index: Index, place: CitedPlace, *, around: int, start: int | None, max_words: int) -> DocumentPart:
    """Read what a place cites, with so many passages before and after it; without lines or place, the document.

    `start` is the passage where an earlier part ended. There are as many passages as have room; the first is always
    there, cut if need be. Raises SourceError for what is not in the index.
    """
    from semsearch.text.length import count_words, cut_to  # start-up time

    of = index.passages(place.path, line=place.line, limit=1)
    first = max((of.found or 0) - around, 0) if start is None else start
    taken: list[PlacedPassage] = []
    room = max_words
    for passage in _wanted(index, of, place, first, around):
        words = count_words(passage.text)
        if words > room and taken:
            return DocumentPart(of, first, tuple(taken), first + len(taken))
        taken.append(passage if words <= room else replace(passage, text=f"{cut_to(passage.text, room)} …"))
        room -= words
    return DocumentPart(of, first, tuple(taken), None)


def _wanted(index: Index, of: DocumentPassages, place: CitedPlace, first: int, around: int) -> Iterator[PlacedPassage]:
    """Yield the passages from a number on, to the end of what is wanted: `around` after the last one that is cited."""
    last_line, after = place.last_line or place.line or 0, 0
    for number, passage in enumerate(_from(index, of.path, first), start=first):
        if of.found is not None and number > of.found and passage.sentences[0].line > last_line:
            after += 1
            if after > around:
                return
        yield passage


def _from(index: Index, path: str, offset: int | None) -> Iterator[PlacedPassage]:
    while offset is not None:
        some = index.passages(path, offset=offset, limit=_AT_ONCE)
        yield from some.passages
        offset = some.next


def cited_passage(passage: PlacedPassage, path: str, format: str) -> str:
    """A passage as one cites it: `guide.md:10-14`, `report.pdf p. 3`."""
    from semsearch.results.location import Position, location  # start-up time

    first, last = passage.sentences[0], passage.sentences[-1]
    last_line = last.line + passage.text[last.start : last.end].count("\n")
    begin, end = Position(first.line, passage.page, first.place), Position(last_line, passage.page, last.place)
    return location(path, format, begin, end)
