"""The letters and digits of a page of a PDF, in their order, and where each is drawn.

Only letters and digits count, in one case and without ligatures: so a sentence is found again whatever became of its
spaces, line ends, hyphens and marks on the way to the index.
"""

from __future__ import annotations

import ctypes
import sys
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, NamedTuple

_GRID = 10_000_000  # steps across a page in which PDFium is asked for places
_FAR = 1000.0  # points: how far apart the places are that it is asked for
_SAME_LINE = 0.5  # of the smaller letter: so much of two letters on one line is beside each other
_GAP = 2.0  # heights of letters: a wider one is between columns


class Box(NamedTuple):
    """A rectangle on a page as it is shown, from its upper left corner: in shares of width and height, or points."""

    left: float
    top: float
    right: float
    bottom: float


@dataclass(frozen=True, slots=True)
class PageLetters:
    """The letters of a page, and the number that PDFium gives to the character of each."""

    letters: str
    characters: Sequence[int]


def letters_of(text: str) -> str:
    """The letters and digits of a text, as those of pages are compared."""
    return "".join(map(_letters, text))


@lru_cache(maxsize=4096)
def _letters(character: str) -> str:
    """What counts of a character: none, or one or several letters."""
    return "".join(each for each in unicodedata.normalize("NFKC", character).casefold() if each.isalnum())


def page_letters(text: Any, raw: Any) -> PageLetters:
    """Read the letters of a page's text page. The caller has a turn of PDFIUM."""
    content: Sequence[str] = text.get_text_range()
    if len(content) != text.count_chars():  # PDFium counts some characters twice
        content = [_character(text, number, raw) for number in range(text.count_chars())]
    letters = [_letters(character) for character in content]
    return PageLetters("".join(letters), [number for number, each in enumerate(letters) for _ in each])


def _character(text: Any, number: int, raw: Any) -> str:
    code = raw.FPDFText_GetUnicode(text.raw, number)
    return chr(code) if code <= sys.maxunicode else ""


class LetterBoxes:
    """Where the characters of a page are drawn. The caller has a turn of PDFIUM."""

    def __init__(self, page: Any, text: Any, raw: Any) -> None:
        self._text, self._raw = text.raw, raw
        self._box = raw.FS_RECTF()
        self._size = page.get_size()
        self._left, self._top = left, top = self._shown(page, 0, 0)
        right, below = self._shown(page, _FAR, 0), self._shown(page, 0, _FAR)
        self._by_x = ((right[0] - left) / _FAR, (right[1] - top) / _FAR)
        self._by_y = ((below[0] - left) / _FAR, (below[1] - top) / _FAR)

    def of(self, characters: Sequence[int]) -> list[Box]:
        """The boxes of characters with rising numbers, one for each line that they are on."""
        boxes: list[Box] = []
        last: Box | None = None
        for number in characters:
            box = self._of(number)
            if box is None:
                continue
            if last is not None and _is_beside(last, box):
                boxes[-1] = _around(boxes[-1], box)
            else:
                boxes.append(box)
            last = box
        return [shown for box in boxes if (shown := self._share(box)).left < shown.right and shown.top < shown.bottom]

    def _of(self, number: int) -> Box | None:
        box = self._box
        if not self._raw.FPDFText_GetLooseCharBox(self._text, number, box):
            return None
        x, y = self._point(box.left, box.top)
        far_x, far_y = self._point(box.right, box.bottom)
        found = Box(min(x, far_x), min(y, far_y), max(x, far_x), max(y, far_y))
        return found if found.left < found.right and found.top < found.bottom else None

    def _point(self, x: float, y: float) -> tuple[float, float]:
        """A point of the page's own coordinates on the page as it is shown, in points: cropped, and perhaps turned."""
        return self._left + x * self._by_x[0] + y * self._by_y[0], self._top + x * self._by_x[1] + y * self._by_y[1]

    def _shown(self, page: Any, x: float, y: float) -> tuple[float, float]:
        """Where PDFium draws a point."""
        found_x, found_y = ctypes.c_int(), ctypes.c_int()
        self._raw.FPDF_PageToDevice(page.raw, 0, 0, _GRID, _GRID, 0, x, y, found_x, found_y)
        width, height = self._size
        return found_x.value / _GRID * width, found_y.value / _GRID * height

    def _share(self, box: Box) -> Box:
        """What of a box is on the page, in shares of it."""
        shares = (edge / size for edge, size in zip(box, self._size * 2, strict=True))
        return Box(*(round(min(max(share, 0.0), 1.0), 6) for share in shares))


def _is_beside(one: Box, other: Box) -> bool:
    """Whether a character goes on the line of another; lines may run up and down as well."""
    across, down = _overlap(one.left, one.right, other.left, other.right), _overlap(*one[1::2], *other[1::2])
    width = min(one.right - one.left, other.right - other.left)
    height = min(one.bottom - one.top, other.bottom - other.top)
    if down >= _SAME_LINE * height:
        return -across <= _GAP * height
    return across >= _SAME_LINE * width and -down <= _GAP * width


def _overlap(one: float, one_end: float, other: float, other_end: float) -> float:
    """The length that two stretches share; below zero, the gap between them."""
    return min(one_end, other_end) - max(one, other)


def _around(one: Box, other: Box) -> Box:
    return Box(
        min(one.left, other.left), min(one.top, other.top), max(one.right, other.right), max(one.bottom, other.bottom)
    )
