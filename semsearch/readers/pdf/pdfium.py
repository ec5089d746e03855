"""The door to PDFium: a file's lines, in the order in which its content has them.

That order is the reading order in nearly all files that programs write, with two columns too. PDFium is not safe to use
from several threads, so one file is read at a time in a process. pypdfium2 is an extra: semsearch[pdf].
"""

from __future__ import annotations

import ctypes
import math
import re
from collections.abc import Iterator
from threading import Lock
from typing import Any

from semsearch.errors import MissingExtra, SourceError
from semsearch.readers.pdf.lines import Entry, Line, Pages

_LOCK = Lock()
_LINE_END = re.compile("\r\n|\ufffe")  # U+FFFE is a hyphen at the end of a line, and that end
_ODD = re.compile("[\x00-\x1f\x7f\u00ad\ufffe\uffff]")
_LIGATURES = {0xFB00: "ff", 0xFB01: "fi", 0xFB02: "fl", 0xFB03: "ffi", 0xFB04: "ffl", 0xFB05: "st", 0xFB06: "st"}
_BOLD = 600
_MOST_ENTRIES = 10_000
_PROPERTIES = {"Title": "title", "Author": "author", "Subject": "subject", "Keywords": "keywords"}


def read_pages(data: bytes, name: str) -> Pages:
    """The lines of a file.

    Raises SourceError for what is damaged or needs a password, MissingExtra where pypdfium2 is not installed.
    """
    try:
        import pypdfium2
    except ImportError:
        raise MissingExtra("pypdfium2", "pdf") from None
    with _LOCK:
        try:
            document = pypdfium2.PdfDocument(data)
        except pypdfium2.PdfiumError as error:
            if "password" in str(error).lower():
                raise SourceError(f"{name} is protected by a password; save it without one") from None
            raise SourceError(f"{name} cannot be read as PDF: {str(error).strip('.')}; it may be cut short") from None
        try:
            return _pages(document, pypdfium2)
        finally:
            document.close()


def _pages(document: Any, pypdfium2: Any) -> Pages:
    lines: list[Line] = []
    empty = 0
    for number in range(len(document)):
        try:
            page = document[number]
        except pypdfium2.PdfiumError:  # one page of a file that is damaged
            empty += 1
            continue
        text = page.get_textpage()
        try:
            found = list(_lines(text, page, number + 1, pypdfium2.raw))
        finally:
            text.close()
            page.close()
        lines += found
        empty += not found
    properties = {
        ours: " ".join(value.split())
        for theirs, ours in _PROPERTIES.items()
        if (value := document.get_metadata_value(theirs))
    }
    return Pages(len(document), lines, list(_contents(document)), properties, empty)


def _contents(document: Any) -> Iterator[Entry]:
    for number, bookmark in enumerate(document.get_toc()):
        if number >= _MOST_ENTRIES:
            return
        target = bookmark.get_dest()
        index = None if target is None else target.get_index()
        if index is not None:
            yield Entry(bookmark.get_title(), index + 1, bookmark.level + 1)


def _lines(text: Any, page: Any, number: int, raw: Any) -> Iterator[Line]:
    content = text.get_text_range()
    if not content:
        return
    places = _Places(text, page, raw)
    same = len(content) == text.count_chars()
    start = 0
    ends = [*(found.span() for found in _LINE_END.finditer(content)), (len(content), len(content))]
    for end, following in ends:
        line = content[start:end]
        shown = _ODD.sub("", line).translate(_LIGATURES).strip()
        if shown:
            first = start + len(line) - len(line.lstrip())
            last = start + len(line.rstrip()) - 1
            if not same:
                first, last = (raw.FPDFText_GetCharIndexFromTextIndex(text.raw, place) for place in (first, last))
            left, bottom = places.origin(first)
            size, bold = places.letters((first + last) // 2)
            hyphen = content[end:following] == "\ufffe"
            yield Line(shown, number, left, places.right_edge(last), bottom, size, bold, hyphen)
        start = following


class _Places:
    """Where the characters of a page are, as it is shown: it may be kept lying on its side."""

    def __init__(self, text: Any, page: Any, raw: Any) -> None:
        self._raw, self._text = raw, text.raw
        self._box, self._matrix = raw.FS_RECTF(), raw.FS_MATRIX()
        self._x, self._y = ctypes.c_double(), ctypes.c_double()
        self._turns = page.get_rotation() // 90
        width, height = page.get_size()
        self._width, self._height = (height, width) if self._turns % 2 else (width, height)

    def origin(self, index: int) -> tuple[float, float]:
        """Where a character stands on its line."""
        x, y = self._x, self._y
        if not self._raw.FPDFText_GetCharOrigin(self._text, index, x, y):
            return 0.0, 0.0
        return self._turned(x.value, y.value)

    def right_edge(self, index: int) -> float:
        """The right edge of a character."""
        box = self._box
        if not self._raw.FPDFText_GetLooseCharBox(self._text, index, box):
            return 0.0
        return max(self._turned(box.left, box.bottom)[0], self._turned(box.right, box.top)[0])

    def letters(self, index: int) -> tuple[float, bool]:
        """The size of a character in points, and whether it is bold."""
        size = self._raw.FPDFText_GetFontSize(self._text, index)
        matrix = self._matrix
        if self._raw.FPDFText_GetMatrix(self._text, index, matrix):
            size *= math.hypot(matrix.c, matrix.d)
        return max(size, 0.1), self._raw.FPDFText_GetFontWeight(self._text, index) >= _BOLD

    def _turned(self, x: float, y: float) -> tuple[float, float]:
        if self._turns == 0:
            return x, y
        if self._turns == 1:
            return y, self._width - x
        return (self._width - x, self._height - y) if self._turns == 2 else (self._height - y, x)
