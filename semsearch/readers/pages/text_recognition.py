"""Text recognition (OCR): the text of pictures and of scanned pages, by RapidOCR with the models in its wheel, offline.

A reader in the process for files (semsearch.readers.reader_child) asks for the lines of a picture by a key, and gives
the function that draws it. What is in the user's cache is answered at once; anything else is recognized only within
`recognizing`, and takes about two seconds a page. So a sync reads all files first, takes from scans what is known, and
commits; then it has the rest recognized (semsearch.indexing.recognize_scans). What was not recognized is reported, with
what to do.

The process for files writes nothing: it sends the lines of each picture as a part of its answer, and the process that
asks keeps them in the cache, a file for each picture, by its content.

The engine gives boxes, of words or parts of lines; these are joined to lines, which are straightened by the slant of
the page and ordered downwards. Columns and paragraphs are found as in any PDF (semsearch.readers.pages.pdf_layout).
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from functools import cache
from itertools import count
from pathlib import Path
from statistics import median
from typing import Any, NamedTuple

import msgspec
import numpy as np

from semsearch.arrays.types import Floating, UInt8
from semsearch.errors import SourceError
from semsearch.readers.document import WAITING
from semsearch.readers.pages.pdf_layout import PageLine, in_columns
from semsearch.readers.reader_child import send_part
from semsearch.readers.reader_process import Limits
from semsearch.readers.registry import PICTURE
from semsearch.readers.sniff import MISSING_OCR
from semsearch.system.locations import cache_folder

_PAGE = 90.0  # seconds of processor time that recognizing a page may take
_MEMORY = 4 << 30  # bytes; a page takes 0.8 GB at most, and a process that took a quarter of its memory ends
_FAILED = "text recognition (OCR) failed"
_LONGEST = 200  # characters of an error
OTHER_LETTERS = (
    "text recognition (OCR) reads Latin letters, Chinese and Japanese, and finds others or handwriting; "
    "ocrmypdf makes such a PDF searchable"
)
NOTHING = "text recognition (OCR) found nothing that it can read"


class Recognition(NamedTuple):
    """The permission to recognize text while a file is read."""

    cache: str  # the folder of what is known; "" if no engine is installed
    is_allowed: bool  # to recognize what is not known
    failure: str  # why no text can be recognized in this file; "" if it can


NO_RECOGNITION = Recognition("", False, "")
_Lines = list[PageLine] | str  # in reading order and in shares of the picture; or why there are none


# -- In the process for files ------------------------------------------------------------------------------------------

_recognition: ContextVar[Recognition] = ContextVar("recognition", default=NO_RECOGNITION)


@contextmanager
def recognition_of_a_file(recognition: Recognition) -> Iterator[None]:
    """Set the permission to recognize text in the file that is read within this context."""
    token = _recognition.set(recognition)
    try:
        yield
    finally:
        _recognition.reset(token)


def content_key(data: bytes) -> str:
    """The beginning of the cache keys of a file's pictures: the digest of its content."""
    return hashlib.blake2b(data, digest_size=20).hexdigest()


def lines_of(key: str, draw: Callable[[], UInt8], page: int, size: tuple[float, float]) -> list[PageLine] | str:
    """The lines of a picture of a page of this width and height, or why it was not read, with what to do.

    `draw` gives its pixels (h, w, 3); the SourceError that it may raise is such a reason.
    """
    recognition = _recognition.get()
    if not recognition.cache:
        return MISSING_OCR
    if (lines := _known(Path(recognition.cache), key)) is None:
        if recognition.failure or not recognition.is_allowed:
            return recognition.failure or WAITING
        lines = _recognized(draw)
        send_part(key.encode() + b"\n" + msgspec.json.encode(lines))
    if isinstance(lines, str):
        return lines
    placed = (_scaled(line._replace(page=page, size=max(line.size, 1e-4)), *size) for line in lines)
    return [line._replace(text=_HYPHEN.sub("", line.text), hyphen=bool(_HYPHEN.search(line.text))) for line in placed]


# -- The engine --------------------------------------------------------------------------------------------------------

_PROSE = 0.5  # of the marks in words or numbers: text in the languages measured has .7 and more
_NO_PROSE = 0.35
_CLEARLY = 0.1
_IDEAL = "\u2e80"  # from here on Unicode has Chinese and Japanese, whose words are short
_WORD = re.compile(r"[^\W_]+")
_SEVERAL = 3  # pieces of text: a photograph may have a few that are none


class _Pieces(NamedTuple):
    """Pieces of text as the engine finds them; their corners in pixels, clockwise from the upper left: (n, 4, 2)."""

    texts: list[str]
    corners: Floating

    @property
    def lengths(self) -> tuple[Floating, Floating]:
        """The length of each piece along its upper and its left edge."""
        upper, left = (self.corners[:, number] - self.corners[:, 0] for number in (1, 3))
        return np.hypot(*upper.T), np.hypot(*left.T)

    @property
    def share_of_words(self) -> float:
        """The share of the marks that are in words of four and more, or in numbers.

        Text that is upside down, or in letters that the engine does not know, it reads as letters that stand alone, and
        thinks itself as certain of them as of others.
        """
        text = " ".join(self.texts)
        words = (w for w in _WORD.findall(text) if len(w) >= 4 or (w.isdigit() and len(w) > 1) or w[0] > _IDEAL)
        return sum(map(len, words)) / max(1, len(text) - text.count(" "))


@cache
def _rapidocr() -> Any:
    """The engine, with one thread: others count as memory, and this process may not start any."""
    import cv2  # optional, and seconds to import
    from rapidocr import RapidOCR

    cv2.setNumThreads(0)
    threads = {f"EngineConfig.onnxruntime.{kind}_op_num_threads": 1 for kind in ("intra", "inter")}
    # whether a line is upside down it tells wrongly, for one line in a hundred, which is then lost
    return RapidOCR(params=threads | {"Global.log_level": "error", "Global.use_cls": False})


def _pieces(pixels: UInt8) -> _Pieces:
    """The pieces of text in a picture (h, w, 3)."""
    result = _rapidocr()(pixels[:, :, ::-1].copy())
    if result.txts is None or result.boxes is None:
        return _Pieces([], np.empty((0, 4, 2)))
    return _Pieces([*result.txts], np.asarray(result.boxes, np.float64))


def _recognized(draw: Callable[[], UInt8]) -> _Lines:
    try:
        pixels = draw()
        pieces = _pieces(pixels)
        along, down = pieces.lengths
        if sum(down > 1.5 * along) > len(along) / 2:  # a page on its side
            pixels = np.rot90(pixels)
            pieces = _pieces(pixels)
        if pieces.texts and pieces.share_of_words < _PROSE:  # or upside down
            turned = np.rot90(pixels, 2)
            other_pieces = _pieces(turned)
            if other_pieces.share_of_words > pieces.share_of_words + _CLEARLY:
                pixels, pieces = turned, other_pieces
        if len(pieces.texts) >= _SEVERAL and pieces.share_of_words < _NO_PROSE:
            return OTHER_LETTERS
        return _joined_lines(pieces, *pixels.shape[:2])
    except MemoryError:
        raise
    except Exception as error:  # of an engine, on one page of many
        return f"{_FAILED}: {ascii(str(error))[1:-1][:_LONGEST] or type(error).__name__}"


# -- Lines -------------------------------------------------------------------------------------------------------------

_LETTERS = 0.7  # of a box's height: the size of its letters
_BASELINE = 0.2  # of a box's height, from its lower edge
_SAME_ROW = 0.5  # heights between the middles of two boxes in one row
_WORDS = 1.0  # heights between two boxes of one line at most
_ODD_SIZE = 0.3  # in proportion: such letters are of another size than most
_HYPHEN = re.compile(r"(?<=[^\W\d_])[-\u2010]\Z")
_LONG = 5.0  # heights of a box that shows how the page slants


class _Box(NamedTuple):
    text: str
    left: float
    right: float
    middle: float  # downwards, all in pixels
    height: float


def _joined_lines(pieces: _Pieces, height: int, width: int) -> list[PageLine]:
    """The lines that pieces are parts of, in reading order, column by column where the page has some."""
    rows: list[list[_Box]] = []
    for box in sorted(_boxes(pieces), key=lambda box: box.middle):
        if rows and abs(box.middle - rows[-1][-1].middle) < _SAME_ROW * min(box.height, rows[-1][-1].height):
            rows[-1].append(box)
        else:
            rows.append([box])
    usual = median([box.height for row in rows for box in row] or [0])
    lines = []
    for row in rows:
        for box in _joined(sorted(row, key=lambda box: box.left)):
            tall = usual if abs(box.height / usual - 1) < _ODD_SIZE else box.height
            bottom = height - box.middle - tall * (0.5 - _BASELINE)
            lines.append(PageLine(box.text, 1, box.left, box.right, bottom, _LETTERS * tall))
    ordered = in_columns(lines)  # the engine has parted them where there is a column's white
    return [_scaled(line, 1 / width, 1 / height) for line in ordered]


def _scaled(line: PageLine, across: float, upwards: float) -> PageLine:
    left, right = round(line.left * across, 4), round(line.right * across, 4)
    return line._replace(left=left, right=right, bottom=round(line.bottom * upwards, 4), size=line.size * upwards)


def _boxes(pieces: _Pieces) -> Iterator[_Box]:
    """The boxes of pieces with words, on a page that is straightened by the slant of its long pieces."""
    along, down = pieces.lengths
    steps = pieces.corners[:, 1] - pieces.corners[:, 0]
    is_long = (along > _LONG * down) & (steps[:, 0] != 0)
    slant = float(np.median(steps[is_long, 1] / steps[is_long, 0])) if is_long.any() else 0.0
    for text, corners, height in zip(pieces.texts, pieces.corners, down, strict=True):
        if any(map(str.isalnum, text)):
            (x, y), (left, _), (right, _) = corners.mean(axis=0), corners.min(axis=0), corners.max(axis=0)
            shown = " ".join(text.encode("utf-8", "replace").decode().split())
            yield _Box(shown, float(left), float(right), float(y - slant * x), max(1.0, float(height)))


def _joined(row: Sequence[_Box]) -> Iterator[_Box]:
    """The lines in a row from left to right: boxes with no more than a space between them are one."""
    line = row[0]
    for box in row[1:]:
        if box.left - line.right < _WORDS * min(line.height, box.height):
            text, right = f"{line.text} {box.text}", max(line.right, box.right)
            line = line._replace(text=text, right=right, height=max(line.height, box.height))
        else:
            yield line
            line = box
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
        key, _, lines = part.partition(b"\n")
        _keep(folder, key, lines)  # only such a process reads them, and checks them
        report(next(number))

    usual = Limits.of(len(data))
    try:
        return ask(waiting._replace(is_allowed=True), Limits(usual.seconds + _PAGE, usual.memory + _MEMORY), take)
    except SourceError as error:  # the file's own, or the engine's: reading it without recognition shows which
        failure = f"{_FAILED}: {str(error).removeprefix(name).strip()[:_LONGEST]}"
    _keep(folder, file_key.encode(), msgspec.json.encode(failure))
    return ask(waiting._replace(failure=failure), None, None)


# -- The cache ---------------------------------------------------------------------------------------------------------


def _path(folder: Path, key: bytes) -> Path:
    return folder / f"{hashlib.blake2b(key, digest_size=20).hexdigest()}.json"


def _known(folder: Path, key: str) -> _Lines | None:
    """The cached lines of a picture; None if there are none, or they are damaged."""
    with suppress(OSError, ValueError):  # msgspec's errors are ValueErrors
        lines: _Lines = msgspec.json.decode(_path(folder, key.encode()).read_bytes(), type=str | list[PageLine])
        return lines
    return None


def _keep(folder: Path, key: bytes, lines: bytes) -> None:
    with suppress(OSError):
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        _path(folder, key).write_bytes(lines)
