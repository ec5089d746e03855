"""Read the passages of a document, some at a time: from an offset on, or around a sentence, passage, line or page."""

from __future__ import annotations

from typing import TYPE_CHECKING

from semsearch.results.contents.passages import DocumentPassages, PlacedPassage, PlacedSentence
from semsearch.search.hits import path_of
from semsearch.search.queries.similar import find_passage
from semsearch.search.staleness import stale_documents
from semsearch.searchable import SoughtPassage
from semsearch.storage.catalogue import DocumentRow, PassageRow, each_passage
from semsearch.system.working_folder import working_folder

if TYPE_CHECKING:
    import sqlite3

_OF_SENTENCE = """SELECT id FROM passages WHERE id >= ? AND id < ?
    AND first_sentence <= ? AND ? < first_sentence + sentence_count"""
_OF_PAGE = "SELECT id FROM passages WHERE id >= ? AND id < ? AND page >= ? ORDER BY id LIMIT 1"
_BEFORE_LINE = "SELECT id FROM passages WHERE id >= ? AND id < ? AND line <= ? ORDER BY line DESC, id LIMIT 1"


def read_passages(
    db: sqlite3.Connection, name: str, *, offset: int, limit: int, sought: SoughtPassage
) -> DocumentPassages:
    """Read up to `limit` passages of a document; of one that is sought, those of its group of `limit`.

    The name may have a place behind it, as hits cite it, which is then what is sought: `talk.pptx slide 3`. Raises
    SourceError for a path or id that is not in the index, or is ambiguous.
    """
    document, cited = find_passage(db, name)
    found = _find(db, document, sought) if cited is None else cited.id - document.first_passage
    if found is not None:
        offset = found // limit * limit
    first = document.first_passage + min(offset, document.passages)
    last = min(first + limit, document.first_passage + document.passages)
    following = last - document.first_passage
    return DocumentPassages(
        path=path_of(document, working_folder().as_posix()),
        root=document.root,
        document=document.path,
        title=document.title,
        format=document.format,
        metadata=document.metadata,
        stale=bool(stale_documents([document])),
        count=document.passages,
        offset=offset,
        passages=tuple(map(_placed, each_passage(db, first, last))),
        next=following if following < document.passages else None,
        found=found,
    )


def _find(db: sqlite3.Connection, document: DocumentRow, sought: SoughtPassage) -> int | None:
    """The number of the sought passage in its document."""
    first, last = document.first_passage, document.first_passage + document.passages
    if sought.passage is not None and first <= sought.passage < last:
        return sought.passage - first
    found: list[tuple[int]] = []
    if sought.sentence is not None:
        found = db.execute(_OF_SENTENCE, (first, last, sought.sentence, sought.sentence)).fetchall()
    if not found and sought.line is not None:
        found = db.execute(_BEFORE_LINE, (first, last, sought.line)).fetchall()
    if not found and sought.page is not None:
        found = db.execute(_OF_PAGE, (first, last, sought.page)).fetchall()
    return found[0][0] - first if found else None


def _placed(passage: PassageRow) -> PlacedPassage:
    sentences = (
        PlacedSentence(passage.first_sentence + number, start, end, line, passage.place(number))
        for number, (start, end, _, _, line) in enumerate(passage.sentences.tolist())
    )
    return PlacedPassage(passage.id, passage.headings, passage.page, passage.text, tuple(sentences))
