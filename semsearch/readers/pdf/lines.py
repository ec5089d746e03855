"""A line of text on a page, as it comes out of PDFium and as the layout is worked out from."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Line:
    """Text in one direction. Places in points from the page's lower left corner, as the page is shown."""

    text: str
    page: int  # the first is 1
    left: float = 0.0
    right: float = 0.0
    bottom: float = 0.0  # where its letters stand
    size: float = 0.0  # of its letters, in points
    bold: bool = False
    hyphen: bool = False  # it ends in the middle of a word, or of one with a hyphen


@dataclass(frozen=True, slots=True)
class Entry:
    """One line of a document's table of contents; the outermost level is 1."""

    title: str
    page: int
    level: int


@dataclass(frozen=True, slots=True)
class Pages:
    """All that is taken out of a file."""

    count: int
    lines: list[Line]
    contents: list[Entry]
    properties: dict[str, str]
    empty: int = 0  # pages without text
