"""Look at a page of a PDF of an index: its picture, and where its sentences stand.

Only a file that still is what was indexed is shown: its bytes are compared by their digest. So a page that is shown is
one that was searched, whatever has come to lie at its path.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from semsearch.errors import UsageError
from semsearch.maintenance.indexed_file import read_indexed
from semsearch.results.contents.pages import PageSentence, PdfPage, TextBox
from semsearch.search.hits import path_of
from semsearch.search.queries.similar import find_document
from semsearch.storage.catalogue import DocumentRow, PassageRow, get_passages
from semsearch.system.working_folder import working_folder

if TYPE_CHECKING:
    import sqlite3

    from semsearch.readers.pdf.letters import Box

_ON_PAGE = "SELECT id FROM passages WHERE id >= ? AND id < ? AND page = ?"


@dataclass(frozen=True, slots=True)
class IndexedPage:
    """What an index knows of a page: its document, and the passages that begin on it and on the page before."""

    path: str  # as one would open it from here
    document: DocumentRow
    page: int
    before: Sequence[PassageRow]
    on: Sequence[PassageRow]


def find_page(db: sqlite3.Connection, name: str, page: int) -> IndexedPage:
    """Find a page, counted from 1, of the PDF that a path names.

    Raises SourceError for a path that is not in the index, UsageError for a document that is no PDF file.
    """
    document = find_document(db, name)
    path = path_of(document, working_folder().as_posix())
    if document.format != "pdf" or not document.root:
        raise UsageError(f"{path} is no PDF file and has no pages to show; its text can be read")
    return IndexedPage(path, document, page, _passages(db, document, page - 1), _passages(db, document, page))


def _passages(db: sqlite3.Connection, document: DocumentRow, page: int) -> list[PassageRow]:
    first, last = document.first_passage, document.first_passage + document.passages
    found = get_passages(db, [id_ for (id_,) in db.execute(_ON_PAGE, (first, last, page))])
    return [found[id_] for id_ in sorted(found)]


def picture_of(found: IndexedPage, width: int) -> bytes:
    """The page as PNG, so many pixels wide. Raises SourceChanged, SourceError, UsageError, MissingExtra."""
    from semsearch.readers.pdf.placing import page_picture  # an optional dependency

    return page_picture(read_indexed(found.document, found.path), found.path, found.page, width)


def placed(found: IndexedPage) -> PdfPage:
    """The page with the boxes of its sentences. Raises as `picture_of`."""
    from semsearch.readers.pdf.placing import place_sentences  # an optional dependency

    before, on = _sentences(found.before), _sentences(found.on)
    made = place_sentences(
        read_indexed(found.document, found.path),
        found.path,
        found.page,
        [each.text for each in before],
        [each.text for each in on],
    )
    sentences = [
        PageSentence(sentence.sentence_id, sentence.passage_id, sentence.text, tuple(map(_shown, boxes)))
        for sentence, boxes in zip([*before, *on], made.boxes, strict=True)
    ]
    ending_here = [sentence for sentence in sentences[: len(before)] if sentence.boxes]
    return PdfPage(
        path=found.path,
        page=found.page,
        pages=made.pages,
        label=made.label,
        width=made.width,
        height=made.height,
        sentences=(*ending_here, *sentences[len(before) :]),
    )


def _sentences(passages: Sequence[PassageRow]) -> list[PageSentence]:
    return [
        PageSentence(passage.first_sentence + number, passage.id, text, ())
        for passage in passages
        for number, text in enumerate(passage.sentence_texts)
    ]


def _shown(box: Box) -> TextBox:
    """A box with its size. A millionth of a page is less than can be seen."""
    width, height = box.right - box.left, box.bottom - box.top
    return TextBox(box.left, box.top, round(width, 6), round(height, 6))
