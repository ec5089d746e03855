"""Pictures of a PDF's pages, with the fields of forms and with notes, and where given sentences stand on them.

A sentence is found by its letters and digits alone, in one case and without ligatures, whatever became of its spaces,
line ends, hyphens and marks on the way to the index. One whose letters do not follow each other, because a footnote,
another column or the page's end comes between, is found in pieces, on a page and the next one. What is not found nearly
whole is not found: a box in the wrong place is worse than none.
"""

from __future__ import annotations

import ctypes
import struct
import sys
import unicodedata
import zlib
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass
from functools import lru_cache
from operator import itemgetter
from typing import Any, NamedTuple

import msgspec
import numpy as np

from semsearch.arrays.types import UInt8
from semsearch.errors import SourceError, UsageError
from semsearch.readers.pages.pdf_pages import opened_pdf, pdfium
from semsearch.readers.reader_process import Limits, in_reader_process

_SIGNATURE = b"\x89PNG\r\n\x1a\n"
_LEVEL = 3  # a page of text in 11 ms and 59 KB; level 6 takes 16 ms for 52 KB


def to_png(pixels: UInt8) -> bytes:
    """Encode the pixels of a picture, red, green, blue: (h, w, 3)."""
    height, width = pixels.shape[:2]
    filtered = np.zeros((height, 3 * width + 1), dtype=np.uint8)  # each row begins with its filter: none
    filtered[:, 1:] = pixels.reshape(height, -1)
    header = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)  # 8 bits of each colour
    data = zlib.compress(filtered.data, _LEVEL)
    return _SIGNATURE + _chunk(b"IHDR", header) + _chunk(b"IDAT", data) + _chunk(b"IEND", b"")


def _chunk(name: bytes, data: bytes) -> bytes:
    return struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(data, zlib.crc32(name)))


# -- Letters -----------------------------------------------------------------------------------------------------------

_GRID = 10_000_000  # steps across a page in which PDFium is asked for places


class Box(NamedTuple):
    """A rectangle on a page as it is shown, from its upper left corner, in shares of its width and height."""

    left: float
    top: float
    right: float
    bottom: float


def letters_of(text: str) -> str:
    """The letters and digits of a text, as those of pages are compared."""
    return "".join(map(_letters, text))


@lru_cache(maxsize=4096)
def _letters(character: str) -> str:
    """The letters of a character that are compared: none, one or several."""
    return "".join(letter for letter in unicodedata.normalize("NFKC", character).casefold() if letter.isalnum())


def page_letters(text: Any, raw: Any) -> tuple[str, list[int]]:
    """The letters of a page's text page, and the number that PDFium gives to the character of each."""
    codes = (raw.FPDFText_GetUnicode(text.raw, number) for number in range(text.count_chars()))
    letters = [_letters(chr(code)) if code <= sys.maxunicode else "" for code in codes]
    return "".join(letters), [number for number, letters_of_it in enumerate(letters) for _ in letters_of_it]


def boxes_of(characters: Sequence[int], page: Any, text: Any, raw: Any) -> Iterator[Box]:
    """The boxes around characters with rising numbers: one at least for each line that they are on."""
    for index in range(text.count_rects(characters[0], characters[-1] + 1 - characters[0])):
        left, bottom, right, top = text.get_rect(index)
        (x, y), (far_x, far_y) = _shown(left, top, page, raw), _shown(right, bottom, page, raw)
        box = Box(min(x, far_x), min(y, far_y), max(x, far_x), max(y, far_y))
        if box.left < box.right and box.top < box.bottom:
            yield box


def _shown(x: float, y: float, page: Any, raw: Any) -> tuple[float, float]:
    """A point of the page's own coordinates on the page as it is shown: cropped, and perhaps turned."""
    across, down = ctypes.c_int(), ctypes.c_int()
    raw.FPDF_PageToDevice(page.raw, 0, 0, _GRID, _GRID, 0, x, y, across, down)
    return min(max(across.value / _GRID, 0.0), 1.0), min(max(down.value / _GRID, 0.0), 1.0)


# -- Sentence search ---------------------------------------------------------------------------------------------------

_PIECE = 12  # letters of a piece: shorter ones occur anywhere
_NEARLY = 0.9  # of a sentence's letters
_SHORT = 8  # letters: so short a sentence may be anywhere on a page
_NEAR = 200  # letters after the sentence before, within which a short one that occurs again is believed
_Span = tuple[int, int]


def find_sentences(sentences: Sequence[str], first: str, second: str) -> Iterator[list[_Span]]:
    """The pieces of each sentence, in order, in the letters of two pages; none of one that is not there.

    The sentences begin on the first page, one after the other.
    """
    letters, after = first + second, 0
    for sentence in map(letters_of, sentences):
        pieces = _pieces(sentence, letters, after)
        after = min(pieces[-1][1], len(first)) if pieces else after
        yield pieces


def _pieces(sentence: str, letters: str, after: int) -> list[_Span]:
    start = letters.find(sentence, after)
    start = letters.find(sentence) if start < 0 else start
    if not sentence or (
        len(sentence) < _SHORT and not (after <= start <= after + _NEAR or letters.count(sentence) == 1)
    ):
        return []
    if start >= 0:
        return [(start, start + len(sentence))]
    pieces, done = list[_Span](), 0
    while done < len(sentence):  # a footnote, or the edge of the page, comes between
        rest = sentence[done:]
        start, length = max((_longest_beginning(rest, letters, begin) for begin in (after, 0)), key=itemgetter(1))
        if length < _PIECE:
            break
        after, done = start + length, done + length
        pieces.append((start, after))
    return pieces if done >= _NEARLY * len(sentence) else []


def _longest_beginning(text: str, letters: str, start: int) -> tuple[int, int]:
    """Where the longest beginning of a text is in letters at or after a start, and its length."""
    length = bisect_left(range(1, len(text) + 1), True, key=lambda size: letters.find(text[:size], start) < 0)
    return letters.find(text[:length], start), length


# -- Pictures ----------------------------------------------------------------------------------------------------------

MOST_PIXELS = 9_000_000  # a page of A4 in 300 dots an inch; the bitmap takes three bytes each
MOST_SECONDS = 20.0  # for drawing a page


def draw_page(page: Any, width: int) -> UInt8:
    """Draw a page so many pixels wide, or less wide if it is too high: (h, w, 3)."""
    across, down = (max(side, 0.01) for side in page.get_size())
    scale = min(width / across, (MOST_PIXELS / (across * down)) ** 0.5) - 0.9 / max(across, down)
    with closing(page.render(scale=scale, rev_byteorder=True)) as bitmap:
        return np.array(bitmap.to_numpy()[..., :3])


# -- Pages with sentences ----------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class PlacedPage:
    """A page and the boxes of sentences on it; a sentence that was not found has none."""

    pages: int  # of the document
    label: str  # as the document numbers it, such as "iv"; empty where it does not
    width: float  # in points, as it is shown
    height: float
    boxes: Sequence[Sequence[Box]]  # of each sentence


def page_picture(data: bytes, name: str, number: int, width: int) -> bytes:
    """A page, counted from 1, as PNG, so many pixels wide, or less wide if it is too high. Another process draws it.

    Raises SourceError for a file or page that is damaged or takes too long, UsageError for a page number out of range,
    MissingExtra.
    """
    picture = in_reader_process(drawn, data, name, name, number, width, limits=_limits(data))
    if not picture.startswith(_SIGNATURE):
        raise SourceError(f"page {number} of {name} was drawn as something else than a picture")
    return picture


def place_sentences(data: bytes, name: str, number: int, before: Sequence[str], on: Sequence[str]) -> PlacedPage:
    """Find sentences on a page, counted from 1: those that begin on the page before it, then those that begin on it.

    Another process finds them. Raises as `page_picture`.
    """
    question = name, number, [*before], [*on]
    answer = in_reader_process(placed, data, name, *question, limits=_limits(data))
    try:
        page = msgspec.json.decode(answer, type=PlacedPage)
    except (ValueError, RecursionError) as error:
        raise SourceError(f"page {number} of {name} has no places of sentences: {error}") from None
    edges = (edge for boxes in page.boxes for box in boxes for edge in box)
    if (
        len(page.boxes) != len(before) + len(on)
        or not 0 < page.pages <= sys.maxsize
        or any(not 0 <= edge <= 1 for edge in edges)
    ):
        raise SourceError(f"page {number} of {name} has places of other sentences")
    return page


def _limits(data: bytes) -> Limits:
    return Limits(MOST_SECONDS, Limits.of(len(data)).memory)


# -- In the other process ----------------------------------------------------------------------------------------------


def drawn(data: bytes, name: str, number: int, width: int) -> bytes:
    """A page as PNG. Raises as `page_picture`."""
    pypdfium2 = pdfium()
    with opened_pdf(data, name) as document:
        if document.get_formtype() == pypdfium2.raw.FORMTYPE_ACRO_FORM:
            document.init_forms()  # before the first page is opened
        with _page(document, name, number, pypdfium2) as page:
            pixels = draw_page(page, width)
    return to_png(pixels)


def placed(data: bytes, name: str, number: int, before: Sequence[str], on: Sequence[str]) -> bytes:
    """A PlacedPage, as JSON. Raises as `page_picture`."""
    pypdfium2 = pdfium()
    with opened_pdf(data, name) as document, _page(document, name, number, pypdfium2) as page:
        with closing(page.get_textpage()) as text:
            letters, characters = page_letters(text, pypdfium2.raw)
            earlier = _letters_on(document, name, number - 1, pypdfium2) if before else ""
            later = _letters_on(document, name, number + 1, pypdfium2) if on else ""
            begun = ([(start - len(earlier), end - len(earlier)) for start, end in pieces]
                     for pieces in find_sentences(before, earlier, letters))  # fmt: skip
            places = []
            for pieces in (*begun, *find_sentences(on, letters, later)):
                parts = (characters[max(0, start) : max(0, end)] for start, end in pieces)
                places.append([box for part in parts if part for box in boxes_of(part, page, text, pypdfium2.raw)])
        width, height = page.get_size()
        label = str(document.get_page_label(number - 1) or "")
        return msgspec.json.encode(PlacedPage(len(document), label, width, height, places))


def _letters_on(document: Any, name: str, number: int, pypdfium2: Any) -> str:
    """The letters of another page; none if there is no such page, or it is damaged."""
    with (
        suppress(UsageError, SourceError),
        _page(document, name, number, pypdfium2) as page,
        closing(page.get_textpage()) as text,
    ):
        return letters_of(text.get_text_range())
    return ""


@contextmanager
def _page(document: Any, name: str, number: int, pypdfium2: Any) -> Iterator[Any]:
    count = len(document)
    if not 1 <= number <= count:
        raise UsageError(f"{name} has no page {number}; expected 1 to {count}")
    try:
        page = document[number - 1]
    except pypdfium2.PdfiumError:
        raise SourceError(f"page {number} of {name} is damaged and cannot be shown") from None
    with closing(page):
        yield page
