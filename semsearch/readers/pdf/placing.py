"""A page of a PDF as it is looked at: how large it is, its picture, and where given sentences stand on it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from semsearch.arrays.png import to_png
from semsearch.errors import SourceError, UsageError
from semsearch.readers.pdf.letters import Box, LetterBoxes, letters_of, page_letters
from semsearch.readers.pdf.opening import PDFIUM, opened_pdf, pdfium
from semsearch.readers.pdf.pictures import draw_page
from semsearch.readers.pdf.sentence_search import Piece, SentenceSearch


@dataclass(frozen=True, slots=True)
class PlacedPage:
    """A page and the boxes of sentences on it; a sentence that was not found has none."""

    pages: int  # of the document
    label: str  # as the document numbers it, such as "iv"; empty where it does not
    width: float  # in points, as it is shown
    height: float
    boxes: Sequence[Sequence[Box]]  # of each sentence


def page_picture(data: bytes, name: str, number: int, width: int) -> bytes:
    """A page, counted from 1, as PNG, so many pixels wide, or less wide if it is too high.

    Raises SourceError for a file or page that is damaged or takes too long, UsageError for a page that there is not,
    MissingExtra.
    """
    pypdfium2 = pdfium()
    with opened_pdf(data, name) as document, PDFIUM.turn():
        if document.get_formtype() == pypdfium2.raw.FORMTYPE_ACRO_FORM:
            document.init_forms()  # before the first page is opened
        with _page(document, name, number, pypdfium2) as page:
            pixels = draw_page(document, page, width, pypdfium2)
    return to_png(pixels)


def place_sentences(data: bytes, name: str, number: int, before: Sequence[str], on: Sequence[str]) -> PlacedPage:
    """Find sentences on a page, counted from 1: those that begin on the page before it, then those that begin on it.

    Raises as `page_picture`.
    """
    pypdfium2 = pdfium()
    with opened_pdf(data, name) as document, PDFIUM.turn(), _page(document, name, number, pypdfium2) as page:
        text = page.get_textpage()
        try:
            own = page_letters(text, pypdfium2.raw)
            earlier = _letters_on(document, number - 1, pypdfium2) if before else ""
            later = _letters_on(document, number + 1, pypdfium2) if on else ""
            found = [*_found(before, (earlier, own.letters), 1), *_found(on, (own.letters, later), 0)]
            boxes = LetterBoxes(page, text, pypdfium2.raw)
            width, height = page.get_size()
            return PlacedPage(
                len(document),
                _label(document, number),
                width,
                height,
                [
                    [box for each in pieces for box in boxes.of(own.characters[each.start : each.end])]
                    for pieces in found
                ],
            )
        finally:
            text.close()


def _found(sentences: Sequence[str], pages: Sequence[str], wanted: int) -> Iterator[list[Piece]]:
    """For each sentence, its pieces on the wanted one of the pages."""
    search = SentenceSearch(pages)
    for sentence in sentences:
        yield [piece for piece in search.find(letters_of(sentence)) if piece.page == wanted]


def _letters_on(document: Any, number: int, pypdfium2: Any) -> str:
    """The letters of another page; none if there is no such page, or it is damaged."""
    if not 1 <= number <= len(document):
        return ""
    try:
        page = document[number - 1]
    except pypdfium2.PdfiumError:
        return ""
    text = page.get_textpage()
    try:
        return letters_of(text.get_text_range())
    finally:
        text.close()
        page.close()


@contextmanager
def _page(document: Any, name: str, number: int, pypdfium2: Any) -> Iterator[Any]:
    count = len(document)
    if not 1 <= number <= count:
        raise UsageError(f"{name} has no page {number}; give one from 1 to {count}")
    try:
        page = document[number - 1]
    except pypdfium2.PdfiumError:
        raise SourceError(f"page {number} of {name} is damaged and cannot be shown") from None
    try:
        yield page
    finally:
        page.close()


def _label(document: Any, number: int) -> str:
    return str(document.get_page_label(number - 1) or "")
