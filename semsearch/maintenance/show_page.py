"""The file of a document, and a page of a PDF: its picture, and the positions of its sentences.

They are shown only if the file is still the one that was indexed, by size and digest: whatever lies at its path now,
what is shown was searched.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from semsearch.errors import SourceChanged, UsageError
from semsearch.readers.pages.pdf_pictures import Box, page_picture, place_sentences
from semsearch.results.documents import PageSentence, PdfPage, TextBox
from semsearch.storage.database import IndexDatabase
from semsearch.storage.document_rows import DocumentRow
from semsearch.storage.find_document import find_document, path_of
from semsearch.storage.passage_rows import PassageRow, passages_on_page
from semsearch.system.locations import uri_scheme, working_folder
from semsearch.system.source_files import content_digest, read_source
from semsearch.trust import require

# -- Unchanged files ---------------------------------------------------------------------------------------------------


def read_indexed(document: DocumentRow, path: str) -> bytes:
    """Read the file of a document, called `path` in errors.

    Raises SourceChanged if it was changed or deleted, or is an object in a store, which is only read for indexing.
    """
    if uri_scheme(document.root):
        raise SourceChanged(f"{path} lies in an object store and cannot be shown here; its indexed text can be read")
    try:
        data = read_source(document.absolute, document.size + 1, root=document.root).data
    except OSError as error:
        raise SourceChanged(f"{path} cannot be read ({error.strerror}); its indexed text can be read") from None
    if content_digest(data) != document.digest:
        raise SourceChanged(f"{path} has changed since it was indexed; index it again to show it")
    return data


def read_file(database: IndexDatabase, name: str) -> bytes:
    """Read the file of the document that a path names. Raises as `Index.file`; IndexNotTrusted."""
    with database.reading() as db:
        require(database, db, ["root"])
        document = find_document(db, name)
        path = path_of(document, working_folder().as_posix())
    if not document.root:
        raise UsageError(f"{path} is a text that a program added, which is in no file; its text can be read")
    return read_indexed(document, path)


# -- Pages -------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class IndexedPage:
    """A page in the index: its document, and the passages that begin on it and on the page before."""

    path: str  # as one would open it from here
    document: DocumentRow
    page: int
    before: Sequence[PassageRow]
    on: Sequence[PassageRow]


def find_page(database: IndexDatabase, name: str, page: int) -> IndexedPage:
    """Find a page, counted from 1, of the PDF that a path names.

    Raises IndexNotTrusted; SourceError for a path that is not in the index, UsageError for what is not a PDF file.
    """
    with database.reading() as db:
        require(database, db, ["root"])
        document = find_document(db, name)
        path = path_of(document, working_folder().as_posix())
        if document.format != "pdf" or not document.root:
            raise UsageError(f"{path} is not a PDF file and has no pages to show; its text can be read")
        first, last = document.first_passage, document.first_passage + document.passages
        before, on = (passages_on_page(db, first, last, number) for number in (page - 1, page))
        return IndexedPage(path, document, page, before, on)


def picture_of(page: IndexedPage, width: int) -> bytes:
    """The page as PNG, so many pixels wide. Raises SourceChanged, SourceError, UsageError, MissingExtra."""
    return page_picture(read_indexed(page.document, page.path), page.path, page.page, width)


def placed(page: IndexedPage) -> PdfPage:
    """The page with the boxes of its sentences. Raises as `picture_of`."""
    before, on = _sentences(page.before), _sentences(page.on)
    located = place_sentences(
        read_indexed(page.document, page.path),
        page.path,
        page.page,
        [sentence.text for sentence in before],
        [sentence.text for sentence in on],
    )
    sentences = [
        PageSentence(sentence.sentence_id, sentence.passage_id, sentence.text, tuple(map(_shown, boxes)))
        for sentence, boxes in zip([*before, *on], located.boxes, strict=True)
    ]
    ending_here = [sentence for sentence in sentences[: len(before)] if sentence.boxes]
    return PdfPage(
        path=page.path,
        page=page.page,
        pages=located.pages,
        label=located.label,
        width=located.width,
        height=located.height,
        sentences=(*ending_here, *sentences[len(before) :]),
    )


def _sentences(passages: Sequence[PassageRow]) -> list[PageSentence]:
    return [
        PageSentence(passage.first_sentence + number, passage.id, text, ())
        for passage in passages
        for number, text in enumerate(passage.sentence_texts)
    ]


def _shown(box: Box) -> TextBox:
    """A box with its size, rounded to an invisible millionth of a page."""
    width, height = box.right - box.left, box.bottom - box.top
    return TextBox(box.left, box.top, round(width, 6), round(height, 6))
