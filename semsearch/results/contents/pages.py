"""A page of a PDF with the places of its sentences. Plain frozen data."""

from __future__ import annotations

from dataclasses import dataclass

from semsearch.results.codec import Record


@dataclass(frozen=True, slots=True)
class TextBox(Record):
    """A rectangle around text on a page: shares of the page's width and height, from its upper left corner."""

    left: float
    top: float
    width: float
    height: float


@dataclass(frozen=True, slots=True)
class PageSentence(Record):
    """A sentence that stands on a page, or ends there. A sentence that was not found on it has no boxes."""

    sentence_id: int
    passage_id: int
    text: str
    boxes: tuple[TextBox, ...]  # one for each line


@dataclass(frozen=True, slots=True)
class PdfPage(Record):
    """A page of a PDF of an index."""

    path: str  # as one would open it from here
    page: int  # the first is 1
    pages: int  # of the document
    label: str  # as the document numbers it, such as "iv"; empty where it does not
    width: float  # in points, as it is shown
    height: float
    sentences: tuple[PageSentence, ...]  # as they are searched, in order
