"""The documents of an index: their list, a document's text, put together from its passages, and its passages some at a
time: from an offset, or around a sentence, passage, line or page.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import partial
from itertools import takewhile
from typing import TYPE_CHECKING

from semsearch.filters import Filter, all_match, parse
from semsearch.results.documents import DocumentInfo, DocumentPassages, DocumentText, PlacedPassage, PlacedSentence
from semsearch.storage.database import IndexDatabase
from semsearch.storage.document_rows import (
    BEGINNING,
    DocumentRow,
    added_texts,
    check_all_documents,
    get_documents,
    list_documents,
)
from semsearch.storage.find_document import document_keys, find_document, find_passage
from semsearch.storage.passage_rows import PassageRow, each_passage, passage_at
from semsearch.storage.stale_files import stale_documents
from semsearch.system.locations import working_folder
from semsearch.text.text_lengths import new_headings

if TYPE_CHECKING:
    import sqlite3

# -- Documents and their text ------------------------------------------------------------------------------------------

_PAGE = 1000  # documents that are read at once
_FIRST = 16  # documents that are read at first: many callers want no more
_PARTED = "\n\n"


def each_document(database: IndexDatabase, filters: Sequence[str]) -> Iterator[DocumentInfo]:
    """List the documents that pass all filters, by root and path. Raises UsageError for an invalid filter."""
    return _each(database, [parse(text) for text in filters])


def _each(database: IndexDatabase, filters: Sequence[Filter]) -> Iterator[DocumentInfo]:
    """Read page by page, each in a transaction of its own: a slow reader of the list keeps no old generation alive."""
    here = working_folder().as_posix()
    after, limit = BEGINNING, _FIRST
    while True:
        with database.reading() as db:
            if after == BEGINNING:
                check_all_documents(db)
            rows = list_documents(db, partial(all_match, filters), after=after, limit=limit)
            listed = [_info(document.row, here) for document in rows]
        yield from listed
        if len(rows) < limit:
            return
        after, limit = (rows[-1].row.root_id, rows[-1].row.path), _PAGE


def _info(row: DocumentRow, here: str) -> DocumentInfo:
    return DocumentInfo(
        **document_keys(row, here),
        passages=row.passages,
        sentences=row.sentences,
        words=row.words,
        size=row.size,
        modified=moment(row.mtime_ns) if row.root else None,
        indexed=row.indexed_at,
        metadata=row.metadata,
    )


def moment(nanoseconds: int) -> str:
    """A time in nanoseconds as local date and time."""
    return datetime.fromtimestamp(nanoseconds / 1e9).astimezone().strftime("%Y-%m-%dT%H:%M:%S%z")


def each_text(database: IndexDatabase, ids: Sequence[str] | None) -> Iterator[DocumentText]:
    """Yield the texts that a program added, those with these ids or all, a page at a time as `each_document` does."""
    if ids is None:  # of all documents they come first
        ids = [text.document for text in takewhile(lambda document: not document.root, _each(database, []))]
    for first in range(0, len(ids), _PAGE):
        wanted = ids[first : first + _PAGE]
        with database.reading() as db:
            rows = added_texts(db, wanted)
            documents = get_documents(db, rows.values())
            texts = [_with_text(db, documents[rows[id_]]) for id_ in wanted if id_ in rows]
        yield from texts


def read_document(db: sqlite3.Connection, name: str) -> DocumentText:
    """Read the document that a path or an id names. Raises SourceError if there is none, or several."""
    return _with_text(db, find_document(db, name))


def _with_text(db: sqlite3.Connection, row: DocumentRow) -> DocumentText:
    passages = each_passage(db, row.first_passage, row.first_passage + row.passages)
    return DocumentText(
        **document_keys(row, working_folder().as_posix()),
        metadata=row.metadata,
        text=text_of(passages),
    )


def text_of(passages: Iterable[PassageRow]) -> str:
    """Join passages to one text, each under those of its headings that the passage before does not have."""
    parts: list[str] = []
    before: tuple[str, ...] = ()
    for passage in passages:
        parts += [*new_headings(before, passage.headings), passage.text]
        before = passage.headings
    return _PARTED.join(parts)


# -- Passages of a document --------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class SoughtPassage:
    """The passage that is requested, by its own id, a sentence of it, a line or a page: the first that is given."""

    sentence: int | None = None
    passage: int | None = None
    line: int | None = None
    page: int | None = None


def read_passages(
    db: sqlite3.Connection, name: str, *, offset: int, limit: int, sought: SoughtPassage
) -> DocumentPassages:
    """Read up to `limit` passages of a document; of one that is sought, those of its group of `limit`.

    The name may have a place behind it, as hits cite it, which is then what is sought: `talk.pptx slide 3`. Raises
    SourceError for a path or id that is not in the index, or is ambiguous.
    """
    document, cited = find_passage(db, name)
    position = _find(db, document, sought) if cited is None else cited.id - document.first_passage
    if position is not None:
        offset = position // limit * limit
    first = document.first_passage + min(offset, document.passages)
    last = min(first + limit, document.first_passage + document.passages)
    following = last - document.first_passage
    return DocumentPassages(
        **document_keys(document, working_folder().as_posix()),
        metadata=document.metadata,
        stale=bool(stale := stale_documents([document])),
        deleted=stale.get(document.id) or None,
        count=document.passages,
        offset=offset,
        passages=tuple(map(_placed, each_passage(db, first, last))),
        next=following if following < document.passages else None,
        found=position,
    )


def _find(db: sqlite3.Connection, document: DocumentRow, sought: SoughtPassage) -> int | None:
    """The number of the sought passage in its document."""
    first, last = document.first_passage, document.first_passage + document.passages
    if sought.passage is not None and first <= sought.passage < last:
        return sought.passage - first
    for of in ("sentence", "line", "page"):
        place = getattr(sought, of)
        if place is not None and (id_ := passage_at(db, first, last, of, place)) is not None:
            return id_ - first
    return None


def _placed(passage: PassageRow) -> PlacedPassage:
    sentences = (
        PlacedSentence(passage.first_sentence + number, start, end, line, passage.place(number))
        for number, (start, end, _, _, line) in enumerate(passage.sentences.tolist())
    )
    return PlacedPassage(passage.id, passage.headings, passage.page, passage.text, tuple(sentences))
