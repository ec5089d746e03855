"""Text recognition (OCR): the text of pictures and of scanned pages, by RapidOCR with the models in its wheel, offline.

A reader in the process for files (semsearch.readers.reader_child) asks for the lines of a picture by a key, and gives
the function that draws it. What is in the user's cache is answered at once; anything else is recognized only within
`recognizing`, and takes about two seconds a page. So a sync reads all files first, takes from scans what is known, and
commits; then it has the rest recognized (semsearch.indexing.recognize_scans). What was not recognized is reported, with
what to do.

The process for files writes nothing: it sends the lines of each picture as a part of its answer, and the process that
asks checks them and keeps them in the cache, a file for each picture, by its content and the version of the engine.

The engine gives boxes, of words or parts of lines; these are joined to lines, which are straightened by the slant of
the page and ordered downwards. Columns and paragraphs are found as in any PDF (semsearch.readers.pages.pdf_layout).
"""

from __future__ import annotations

import hashlib
import json
import math
import os
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from itertools import count
from pathlib import Path
from statistics import median
from typing import Any, NamedTuple

import msgspec
import numpy as np

from semsearch.arrays.types import UInt8
from semsearch.errors import SourceError
from semsearch.readers.document import WAITING
from semsearch.readers.pages.pdf_layout import PageLine, in_columns
from semsearch.readers.reader_child import send_part
from semsearch.readers.reader_process import Limits
from semsearch.readers.registry import PICTURE
from semsearch.readers.sniff import MISSING_OCR
from semsearch.system.locations import cache_folder

MOST_PAGES = 2000  # of one file that are recognized
_PROSE = 0.5  # of the marks in words or numbers: text in the languages measured has .7 and more
_NO_PROSE = 0.35
_CLEARLY = 0.1
_IDEAL = "\u2e80"  # from here on Unicode has Chinese and Japanese, whose words are short
_WORD = re.compile(r"[^\W_]+")
_SEVERAL = 3  # pieces of text: a photograph may have a few that are none
_PAGE = 90.0  # seconds of processor time that recognizing a page may take
_MEMORY = 4 << 30  # bytes; a page takes 0.8 GB at most, and a process that took a quarter of its memory ends
_FAILED = "text recognition (OCR) failed"
_LONGEST = 200  # characters of an error
_PACKAGE = "rapidocr"
OTHER_LETTERS = (
    "text recognition (OCR) reads Latin letters, Chinese and Japanese, and finds others or handwriting; "
    "ocrmypdf makes such a PDF searchable"
)
NOTHING = "text recognition (OCR) found nothing that it can read"


class Line(NamedTuple):
    """A line that was recognized, in shares of the picture: of its width, or its height from the top."""

    text: str
    left: float
    right: float
    bottom: float  # the baseline
    size: float  # of the letters, of the height


class TextPiece(NamedTuple):
    """A piece of text as an engine finds it: its corners in pixels, clockwise from the upper left."""

    text: str
    corners: Sequence[tuple[float, float]]

    @property
    def is_upright(self) -> bool:
        """Whether the box is higher than wide, as of lines from top to bottom."""
        (x0, y0), (x1, y1), _, (x3, y3) = self.corners
        return math.hypot(x3 - x0, y3 - y0) > 1.5 * math.hypot(x1 - x0, y1 - y0)


class Recognition(NamedTuple):
    """What may be recognized while a file is read."""

    cache: str  # the folder of what is known; "" if no engine is installed
    is_allowed: bool  # to recognize what is not known
    failure: str  # why no text can be recognized in this file; "" if it can


NO_RECOGNITION = Recognition("", False, "")
_Lines = list[Line] | str  # of a picture in reading order, or why there are none


# -- In the process for files ------------------------------------------------------------------------------------------

_recognition: ContextVar[Recognition] = ContextVar("recognition", default=NO_RECOGNITION)
_pictures = count()  # that were recognized in the file that is read


@contextmanager
def recognition_of_a_file(recognition: Recognition) -> Iterator[None]:
    """What may be recognized in the file that is read within this context."""
    global _pictures  # this process reads one file at a time
    _pictures = count()
    token = _recognition.set(recognition)
    try:
        yield
    finally:
        _recognition.reset(token)


def content_key(data: bytes) -> str:
    """What the keys of the pictures in a file begin with: the digest of its content."""
    return hashlib.blake2b(data, digest_size=20).hexdigest()


def page_lines(lines: Iterable[Line], page: int, width: float, height: float) -> list[PageLine]:
    """Recognized lines on a page of this size, in points; those that end with a hyphen go on in the next."""
    return [
        PageLine(
            _HYPHEN.sub("", line.text), page, line.left * width, line.right * width, (1 - line.bottom) * height,
            max(line.size * height, 0.1), hyphen=bool(_HYPHEN.search(line.text)),
        )
        for line in lines
    ]  # fmt: skip


def lines_of(key: str, draw: Callable[[], UInt8]) -> _Lines:
    """The lines of a picture, in reading order, or the reason why it was not read, which says what to do.

    `draw` gives its pixels (h, w, 3); the SourceError that it may raise is such a reason.
    """
    recognition = _recognition.get()
    if not recognition.cache:
        return MISSING_OCR
    if (known := _known(Path(recognition.cache), key)) is not None:
        return known
    if recognition.failure:
        return recognition.failure
    if not recognition.is_allowed:
        return WAITING
    if next(_pictures) >= MOST_PAGES:
        return f"it has more than {MOST_PAGES:,} pages without text; divide it"
    lines = _recognized(draw)
    send_part(json.dumps([key, lines]).encode("utf-8", "replace"))
    return lines


def _recognized(draw: Callable[[], UInt8]) -> _Lines:
    try:
        pixels = draw()
        pieces = by_rapidocr(pixels)
        if sum(piece.is_upright for piece in pieces) > len(pieces) / 2:  # a page on its side
            pixels = np.rot90(pixels)
            pieces = by_rapidocr(pixels)
        if pieces and _share_of_words(pieces) < _PROSE:  # or upside down
            turned = np.rot90(pixels, 2)
            other_pieces = by_rapidocr(turned)
            if _share_of_words(other_pieces) > _share_of_words(pieces) + _CLEARLY:
                pixels, pieces = turned, other_pieces
        if len(pieces) >= _SEVERAL and _share_of_words(pieces) < _NO_PROSE:
            return OTHER_LETTERS
        return joined_lines(pieces, pixels.shape[1], pixels.shape[0])
    except MemoryError:
        raise
    except Exception as error:  # of an engine, on one page of many
        return f"{_FAILED}: {str(error)[:_LONGEST] or type(error).__name__}"


def _share_of_words(pieces: Sequence[TextPiece]) -> float:
    """The share of the marks that are in words of four and more, or in numbers.

    Text that is upside down, or in letters that the engine does not know, it reads as letters that stand alone, and
    thinks itself as certain of them as of others.
    """
    text = " ".join(piece.text for piece in pieces)
    words = _WORD.findall(text)
    counted = (len(word) for word in words if len(word) >= 4 or (word.isdigit() and len(word) > 1) or word[0] > _IDEAL)
    return sum(counted) / max(1, len(text) - text.count(" "))


@cache
def _rapidocr() -> Any:
    """The engine, with one thread: others count as memory, and this process may not start any."""
    import cv2  # optional, and seconds to import
    from rapidocr import RapidOCR

    cv2.setNumThreads(0)
    threads = {f"EngineConfig.onnxruntime.{kind}_op_num_threads": 1 for kind in ("intra", "inter")}
    # whether a line is upside down it tells wrongly, for one line in a hundred, which is then lost
    return RapidOCR(params=threads | {"Global.log_level": "error", "Global.use_cls": False})


def by_rapidocr(pixels: UInt8) -> list[TextPiece]:
    """The text in a picture (h, w, 3), by RapidOCR."""
    result = _rapidocr()(pixels[:, :, ::-1].copy())
    if result.txts is None or result.boxes is None:
        return []
    return [
        TextPiece(text, [(float(x), float(y)) for x, y in box])
        for text, box in zip(result.txts, result.boxes, strict=True)
    ]


# -- Lines -------------------------------------------------------------------------------------------------------------

_LETTERS = 0.7  # of a box's height: the size of its letters
_BASELINE = 0.2  # of a box's height, from its lower edge
_SAME_ROW = 0.5  # heights between the middles of two boxes in one row
_WORDS = 1.0  # heights between two boxes of one line at most
_ODD_SIZE = 0.3  # in proportion: such letters are of another size than most
_HYPHEN = re.compile(r"(?<=[^\W\d_])[-\u2010]\Z")
_LONG = 5.0  # heights of a box that shows how the page slants


class _LinePiece(NamedTuple):
    text: str
    left: float
    right: float
    middle: float  # downwards, all in pixels
    height: float


def joined_lines(boxes: Iterable[TextPiece], width: int, height: int) -> list[Line]:
    """The lines that boxes are parts of, in reading order, column by column where the page has some."""
    written = [box for box in boxes if any(map(str.isalnum, box.text)) and len(box.corners) == 4]
    if not written:
        return []
    slant = _slant(written)
    pieces = sorted((_piece(box, slant) for box in written), key=lambda box: box.middle)
    rows: list[list[_LinePiece]] = []
    for piece in pieces:
        if rows and abs(piece.middle - rows[-1][-1].middle) < _SAME_ROW * min(piece.height, rows[-1][-1].height):
            rows[-1].append(piece)
        else:
            rows.append([piece])
    usual = median(piece.height for piece in pieces)
    lines = []
    for row in rows:
        for piece in _joined(sorted(row, key=lambda box: box.left)):
            is_usual = abs(piece.height / usual - 1) < _ODD_SIZE
            tall = usual if is_usual else piece.height
            bottom = height - piece.middle - tall * (0.5 - _BASELINE)
            lines.append(PageLine(piece.text, 1, piece.left, piece.right, bottom, _LETTERS * tall))
    return [
        Line(
            line.text,
            *(round(share, 4) for share in (line.left / width, line.right / width)),
            *(round(share, 4) for share in (1 - line.bottom / height, line.size / height)),
        )
        for line in in_columns(lines)  # the engine has parted them where there is a column's white
    ]


def _slant(boxes: Sequence[TextPiece]) -> float:
    """By how much the page's lines fall for each step to the right."""
    slants = []
    for box in boxes:
        (x0, y0), (x1, y1), _, (x3, y3) = box.corners
        if math.hypot(x1 - x0, y1 - y0) > _LONG * math.hypot(x3 - x0, y3 - y0) and x1 != x0:
            slants.append((y1 - y0) / (x1 - x0))
    return median(slants) if slants else 0.0


def _piece(box: TextPiece, slant: float) -> _LinePiece:
    (x0, y0), (x1, y1), (x2, y2), (x3, y3) = box.corners
    middle = (y0 + y1 + y2 + y3) / 4 - slant * (x0 + x1 + x2 + x3) / 4
    height = max(1.0, (math.hypot(x3 - x0, y3 - y0) + math.hypot(x2 - x1, y2 - y1)) / 2)
    return _LinePiece(" ".join(box.text.split()), min(x0, x3), max(x1, x2), middle, height)


def _joined(row: Sequence[_LinePiece]) -> Iterator[_LinePiece]:
    """The lines in a row from left to right: pieces with no more than a space between them are one."""
    line = row[0]
    for piece in row[1:]:
        if piece.left - line.right < _WORDS * min(line.height, piece.height):
            text, right = f"{line.text} {piece.text}", max(line.right, piece.right)
            line = line._replace(text=text, right=right, height=max(line.height, piece.height))
        else:
            yield line
            line = piece
    yield line


# -- In the process that asks ------------------------------------------------------------------------------------------

_Report = Callable[[int], None]  # called with the number of pictures of a file that were recognized
_report: ContextVar[_Report | None] = ContextVar("report", default=None)
_Ask = Callable[[Recognition, Limits | None, Callable[[bytes], None] | None], bytes]


@contextmanager
def recognizing(report: _Report) -> Iterator[None]:
    """Within this context, files that are read have the text of their pictures recognized, however long it takes."""
    token = _report.set(report)
    try:
        yield
    finally:
        _report.reset(token)


def with_recognition(ask: _Ask, data: bytes, name: str) -> bytes:
    """Have a file with pictures read, by a function that asks another process for it: what that answers.

    A file on which the engine crashes is read again without recognition. Raises as `ask`.
    """
    if PICTURE.lacks_package:
        return ask(NO_RECOGNITION, None, None)
    folder, file_key, report = cache_folder("recognized"), f"{content_key(data)} file", _report.get()
    failure = _known(folder, file_key)
    waiting = Recognition(str(folder), False, failure if isinstance(failure, str) else "")
    if report is None or waiting.failure:
        return ask(waiting, None, None)
    number = count(1)

    def take(part: bytes) -> None:
        with suppress(ValueError, TypeError, RecursionError):  # what another process sends may be anything
            key, value = json.loads(part)
            if (lines := _checked(value)) is not None:
                _keep(folder, str(key), lines)
        report(next(number))

    usual = Limits.of(len(data))
    try:
        return ask(waiting._replace(is_allowed=True), Limits(usual.seconds + _PAGE, usual.memory + _MEMORY), take)
    except SourceError as error:  # the file's own, or the engine's: reading it without recognition shows which
        failure = f"{_FAILED}: {str(error).removeprefix(name).strip()[:_LONGEST]}"
    _keep(folder, file_key, failure)
    return ask(waiting._replace(failure=failure), None, None)


# -- The cache ---------------------------------------------------------------------------------------------------------

_MOST_LINES = 20_000  # of a picture


@cache
def _engine_version() -> str:
    with suppress(PackageNotFoundError):
        return f"{_PACKAGE} {version(_PACKAGE)}"
    return _PACKAGE


def _path(folder: Path, key: str) -> Path:
    digest = hashlib.blake2b(f"{_engine_version()} {key}".encode("utf-8", "replace"), digest_size=20).hexdigest()
    return folder / digest[:2] / f"{digest[2:]}.json"


def _known(folder: Path, key: str) -> _Lines | None:
    """What is known of a picture; None if nothing is, or it is damaged."""
    path = _path(folder, key)
    with suppress(OSError, ValueError, RecursionError):
        return _checked(json.loads(path.read_bytes()))
    return None


def _keep(folder: Path, key: str, lines: _Lines) -> None:
    path = _path(folder, key)
    with suppress(OSError):
        path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        temporary = path.with_suffix(f".{os.getpid()}.tmp")
        temporary.write_text(json.dumps(lines), encoding="utf-8")
        temporary.replace(path)


def _checked(value: Any) -> _Lines | None:
    """The lines of a picture, or the reason why there are none; None for anything else."""
    with suppress(msgspec.ValidationError):
        lines = msgspec.convert(value, str | list[Line])
        if isinstance(lines, str):
            return _encodable(lines[: 2 * _LONGEST])
        if len(lines) <= _MOST_LINES and all(-9 < share < 9 for line in lines for share in line[1:]):
            return [line._replace(text=_encodable(line.text)) for line in lines]
    return None


def _encodable(text: str) -> str:
    return text.encode("utf-8", "replace").decode()
