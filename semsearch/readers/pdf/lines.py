"""Lines of text on pages: PDFium gives them, and the layout is derived from them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple


class PageLine(NamedTuple):
    """A line of text. Coordinates are in points from the lower left corner of the page as it is shown.

    There are hundreds of thousands of them: a named tuple is made in a third of the time of a frozen dataclass.
    """

    text: str
    page: int  # the first is 1
    left: float = 0.0
    right: float = 0.0
    bottom: float = 0.0  # the baseline of its letters
    size: float = 0.0  # of its letters, in points
    bold: bool = False
    hyphen: bool = False  # it ends in the middle of a word, or of one with a hyphen


@dataclass(frozen=True, slots=True)
class Entry:
    """An entry of a document's table of contents; the outermost level is 1."""

    title: str
    page: int
    level: int


@dataclass(frozen=True, slots=True)
class Pages:
    """The content of a PDF file: lines, table of contents, properties."""

    count: int
    lines: list[PageLine]
    contents: list[Entry]
    properties: dict[str, str]
    unread: list[int]  # numbers of the pages that show something, and have no text that can be read
    sizes: dict[int, tuple[float, float]]  # width and height of each page, in points
    attachments: int = 0  # files within the file
