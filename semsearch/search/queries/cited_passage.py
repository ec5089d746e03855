"""A passage that is named as a hit cites it: `talk.pptx slide 3`, `report.pdf p. 3, top`, or `report.pdf p. 3`."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from semsearch.errors import SourceError
from semsearch.results.location import Position, own_terms
from semsearch.storage.catalogue import DocumentRow, PassageRow, each_passage, get_documents

if TYPE_CHECKING:
    import sqlite3

_SPACE = re.compile(" ")


def find_cited(db: sqlite3.Connection, cited: str, ids_of: Callable[[str], Sequence[int]]) -> PassageRow | None:
    """Find the first passage with a sentence at a place, which is written after the path of a document and a space.

    `ids_of` gives the documents that a path names. None where no beginning of `cited` is the path of a document; raises
    SourceError where one is and it has nothing at what follows.
    """
    for space in _SPACE.finditer(cited):
        ids = ids_of(cited[: space.start()])
        if len(ids) == 1:
            (document,) = get_documents(db, ids).values()
            return _passage_at(db, document, cited[space.end() :].strip())
    return None


def _passage_at(db: sqlite3.Connection, document: DocumentRow, place: str) -> PassageRow:
    known: list[str] = []
    for passage in each_passage(db, document.first_passage, document.first_passage + document.passages):
        for number, line in enumerate(passage.sentences[:, 4].tolist()):
            position = Position(line, passage.page, passage.place(number))
            terms = own_terms(position)
            if place in (terms, position.place, f"p. {passage.page}"):
                return passage
            known.append(terms)
    has = f"it goes from {known[0]} to {known[-1]}" if known and known[0] and known[-1] else "it has no such places"
    raise SourceError(f"{document.path} has nothing at {place!r}; {has}")
