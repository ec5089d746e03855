"""Text recognition (OCR): the text of pictures and of scanned pages, by RapidOCR with the models in its wheel, offline.

A reader in the process for files (semsearch.readers.reader_child) asks for the lines of a picture by a key, and gives
the function that draws it. What is known is answered at once; anything else is recognized only while `recognizing`, and
takes about two seconds a page. So a sync reads all files first, takes from scans what is known, and commits; then it
has the rest recognized (semsearch.indexing.recognize_scans). What was not recognized is reported, with what to do.

What was recognized is kept in the user's cache folder, under the version of the engine and the content of the file,
or the path of mail and archives, which have pictures within them. Only the process that asks writes there; it checks
what the other one, which a file may have taken over, has found.

The engine gives boxes, of words or parts of lines; these are joined to lines, which are straightened by the slant of
the page and ordered downwards. Columns and paragraphs are found as in any PDF (semsearch.readers.pages.pdf_layout).
"""

from __future__ import annotations

import hashlib
import json
import math
import os
import re
import time
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from dataclasses import dataclass, field
from functools import cache
from importlib import import_module
from importlib.metadata import PackageNotFoundError, version
from itertools import count
from pathlib import Path
from statistics import median
from typing import Any, NamedTuple

import numpy as np

from semsearch.arrays.types import UInt8
from semsearch.errors import SourceError
from semsearch.readers.document import Document
from semsearch.readers.document_codec import DocumentParts, read_encoded
from semsearch.readers.pages.pdf_layout import PageLine, in_columns
from semsearch.readers.reader_process import Limits, in_reader_process
from semsearch.readers.registry import PICTURE, installed
from semsearch.readers.sniff import MISSING_OCR
from semsearch.results.omissions import WAITING
from semsearch.system.locations import cache_folder

MOST_PAGES = 2000  # of one file that are recognized
_PROSE = 0.5  # of the marks in words or numbers: text in the languages measured has .7 and more
_NO_PROSE = 0.35
_CLEARLY = 0.1
_IDEAL = "\u2e80"  # from here on Unicode has Chinese and Japanese, whose words are short
_WORD = re.compile(r"[^\W_]+")
_SEVERAL = 3  # pieces of text: a photograph may have a few that are none
_BUDGET = 10.0  # seconds of processor time for one question, after whose pages the rest waits for the next
_PAGE = 90.0  # seconds that the last of them may take beyond it
_MEMORY = 4 << 30  # bytes; a page takes 0.8 GB at most, and a process that took a quarter of its memory ends
_FAILED = "text recognition (OCR) failed"
_ALL = "*"  # the key of a reason that holds for all pictures of a file
_LONGEST = 200  # characters of an error
OTHER_LETTERS = (
    "text recognition (OCR) reads Latin letters, Chinese and Japanese, and finds others or handwriting; "
    "ocrmypdf makes such a PDF searchable"
)
NOTHING = "text recognition (OCR) found nothing that it can read"


_PACKAGE = "rapidocr"
ENGINE = f"{__name__}:by_rapidocr"  # "module:name" of a function of the pixels (h, w, 3) that returns TextPieces


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


Recognized = dict[str, "list[Line] | str"]  # the lines of each picture by its key, or why there are none


def is_installed() -> bool:
    """Return whether text can be recognized."""
    return not PICTURE.lacks_package


@cache
def _engine_version() -> str:
    with suppress(PackageNotFoundError):
        return f"{_PACKAGE} {version(_PACKAGE)}"
    return _PACKAGE


# -- In the process for files ------------------------------------------------------------------------------------------


class _Unfinished(BaseException):
    """The time for this question is over: no reader may take it for an error of its file."""


@dataclass(slots=True)
class _Session:
    """What may be recognized of a file, and what is known."""

    engine: str = ""  # the function; "" if none is installed
    known: Mapping[str, Any] = field(default_factory=dict)
    seconds: float = 0.0  # of processor time, from `started` on; 0 for none
    started: float = 0.0
    used: Recognized = field(default_factory=dict)
    is_new: bool = False


_session = _Session()  # of this process, which reads one file at a time


def content_key(data: bytes) -> str:
    """What the keys of the pictures in a file begin with: the digest of its content."""
    return hashlib.blake2b(data, digest_size=12).hexdigest()


def page_lines(lines: Iterable[Line], page: int, width: float, height: float) -> list[PageLine]:
    """Recognized lines on a page of this size, in points; those that end with a hyphen go on in the next."""
    return [
        PageLine(
            _HYPHEN.sub("", line.text), page, line.left * width, line.right * width, (1 - line.bottom) * height,
            max(line.size * height, 0.1), hyphen=bool(_HYPHEN.search(line.text)),
        )
        for line in lines
    ]  # fmt: skip


def lines_of(key: str, draw: Callable[[], UInt8]) -> list[Line] | str:
    """The lines of a picture, in reading order, or the reason why it was not read, which says what to do.

    `draw` gives its pixels (h, w, 3); the SourceError that it may raise is such a reason.
    """
    session = _session
    if not session.engine:
        return MISSING_OCR
    found = _checked(session.known.get(key, session.known.get(_ALL)))
    if found is None:
        if not session.seconds:
            return WAITING
        if len(session.used) >= MOST_PAGES:
            return f"it has more than {MOST_PAGES:,} pages without text; divide it"
        if session.is_new and time.process_time() > session.started + session.seconds:
            raise _Unfinished
        found, session.is_new = _recognized(session.engine, draw), True
    session.used[key] = found
    return found


def _recognized(engine: str, draw: Callable[[], UInt8]) -> list[Line] | str:
    try:
        pixels = draw()
        module, _, name = engine.partition(":")
        recognize: Callable[[UInt8], list[TextPiece]] = getattr(import_module(module), name)
        found = recognize(pixels)
        if sum(each.is_upright for each in found) > len(found) / 2:  # a page on its side
            pixels = np.rot90(pixels)
            found = recognize(pixels)
        if found and _share_of_words(found) < _PROSE:  # or upside down
            turned = np.rot90(pixels, 2)
            other = recognize(turned)
            if _share_of_words(other) > _share_of_words(found) + _CLEARLY:
                pixels, found = turned, other
        if len(found) >= _SEVERAL and _share_of_words(found) < _NO_PROSE:
            return OTHER_LETTERS
        return joined_lines(found, pixels.shape[1], pixels.shape[0])
    except MemoryError:
        raise
    except Exception as error:  # of an engine, on one page of many
        return f"{_FAILED}: {str(error)[:_LONGEST] or type(error).__name__}"


def _share_of_words(boxes: Sequence[TextPiece]) -> float:
    """The share of the marks that are in words of four and more, or in numbers.

    Text that is upside down, or in letters that the engine does not know, it reads as letters that stand alone, and
    thinks itself as certain of them as of others.
    """
    text = " ".join(each.text for each in boxes)
    words = (found[0] for found in _WORD.finditer(text))
    counted = (len(word) for word in words if len(word) >= 4 or (word.isdigit() and len(word) > 1) or word[0] > _IDEAL)
    return sum(counted) / max(1, len(text) - text.count(" "))


def read_pictured(
    data: bytes,
    module: str,
    name: str,
    is_text: bool,
    columns: tuple[list[str], list[str]] | None,
    engine: str,
    known: Mapping[str, Any],
    seconds: float,
) -> Generator[bytes, None, bytes]:
    """As `document_codec.read_encoded`, with the text of pictures: what the process for files is asked to do.

    It returns what was recognized, as JSON, and yields no document if there was too little time.
    """
    global _session  # one file at a time
    _session = _Session(engine, known, seconds, time.process_time())
    installed[_PACKAGE] = bool(engine)  # as the process that asks has found it
    try:
        yield from read_encoded(data, module, name, is_text, columns)
    except _Unfinished:
        pass
    except SourceError:
        if not _session.is_new:
            raise  # else what was recognized goes with the answer, and the next question gets the error
    used, _session = _session.used, _Session()
    return json.dumps(used).encode("utf-8", "replace")


@cache
def _rapidocr() -> Any:
    """The engine, with one thread: others count as memory, and this process may not start any."""
    import cv2
    from rapidocr import RapidOCR

    cv2.setNumThreads(0)
    threads = {f"EngineConfig.onnxruntime.{kind}_op_num_threads": 1 for kind in ("intra", "inter")}
    # whether a line is upside down it tells wrongly, for one line in a hundred, which is then lost
    return RapidOCR(params=threads | {"Global.log_level": "error", "Global.use_cls": False})


def by_rapidocr(pixels: UInt8) -> list[TextPiece]:
    """The text in a picture (h, w, 3), by RapidOCR."""
    found = _rapidocr()(pixels[:, :, ::-1].copy())
    if found.txts is None or found.boxes is None:
        return []
    return [
        TextPiece(text, [(float(x), float(y)) for x, y in box])
        for text, box in zip(found.txts, found.boxes, strict=True)
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
    found = [each for each in boxes if any(map(str.isalnum, each.text)) and len(each.corners) == 4]
    if not found:
        return []
    slant = _slant(found)
    pieces = sorted((_piece(each, slant) for each in found), key=lambda each: each.middle)
    rows: list[list[_LinePiece]] = []
    for piece in pieces:
        if rows and abs(piece.middle - rows[-1][-1].middle) < _SAME_ROW * min(piece.height, rows[-1][-1].height):
            rows[-1].append(piece)
        else:
            rows.append([piece])
    usual = median(piece.height for piece in pieces)
    lines = []
    for row in rows:
        for piece in _joined(sorted(row, key=lambda each: each.left)):
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
        for line in in_columns(lines, _WholeLines())
    ]


class _WholeLines:
    """Lines that are not cut: the engine has found them apart where there is a column's white between them."""

    def gaps(self, index: int) -> list[Any]:  # noqa: ARG002
        """No gaps."""
        return []

    def cut(self, index: int, offsets: Sequence[int]) -> list[PageLine]:
        """Never asked for."""
        raise NotImplementedError


def _slant(boxes: Sequence[TextPiece]) -> float:
    """By how much the page's lines fall for each step to the right."""
    slants = []
    for each in boxes:
        (x0, y0), (x1, y1), _, (x3, y3) = each.corners
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

_Told = Callable[[int], None]  # called with the number of pictures of a file that are recognized
_told: ContextVar[_Told | None] = ContextVar("told", default=None)
_WITHIN = ("archive", "mail", "msg")  # formats with other files in them


@contextmanager
def recognizing(told: _Told) -> Iterator[None]:
    """Within this context, files that are read have the text of their pictures recognized, however long it takes."""
    token = _told.set(told)
    try:
        yield
    finally:
        _told.reset(token)


def read_by_pictures(format: str, data: bytes, name: str, module: str) -> Document:
    """Have a file with pictures read in another process. Raises NotADocument, and as `in_reader_process`."""
    told, engine = _told.get(), ENGINE if is_installed() else ""
    kept = _Kept.of(format, data, name) if engine else _Kept(Path(), {})
    limits = usual = Limits.of(len(data))
    seconds = _BUDGET if told is not None and engine else 0.0
    if seconds:
        limits = Limits(usual.seconds + seconds + _PAGE, usual.memory + _MEMORY)
    has_failed = False
    while True:
        arguments, parts = (module, name, False, None, engine, kept.found, seconds), DocumentParts()
        try:
            reader = f"{__name__}:read_pictured"
            found = _checked_all(in_reader_process(reader, data, name, *arguments, limits=limits, take=parts.take))
        except SourceError as error:
            if not seconds:  # the file's own error, or what is left of it without recognition
                if has_failed and _FAILED in str(error):
                    kept.save()
                raise
            kept.found[_ALL] = f"{_FAILED}: {str(error).removeprefix(name).strip()[:_LONGEST]}"
            seconds, limits, has_failed = 0.0, usual, True
            continue
        if told is not None and kept.add(found, is_whole=bool(parts) and not has_failed):
            told(len(kept.found))
        elif not parts:
            raise SourceError(f"{name} cannot be read: recognizing its text makes no progress")
        if parts:
            if has_failed:
                kept.save()
            return parts.document()


# -- The cache ---------------------------------------------------------------------------------------------------------

_MOST_BYTES = 300_000_000  # of the cache: some 60,000 pages
_MOST_LINES = 20_000  # of a picture
_LOOKS = 200  # files that are written between looks at the size of the cache
_saved = count()
_unsaved: dict[Path, Recognized] = {}  # of files for which the cache has no room


@dataclass(slots=True)
class _Kept:
    """What was recognized in a file, by the keys of its pictures, and where that is kept."""

    path: Path
    found: Recognized

    @classmethod
    def of(cls, format: str, data: bytes, name: str) -> _Kept:
        """What is kept of a file."""
        known = name.encode("utf-8", "replace") if format in _WITHIN else data
        digest = hashlib.blake2b(known, digest_size=20, person=b"recognized", salt=format.encode()[:16])
        digest.update(f"{ENGINE} {_engine_version()}".encode())
        path = cache_folder("recognized") / digest.hexdigest()[:2] / f"{digest.hexdigest()[2:]}.json"
        if path in _unsaved:
            return cls(path, _unsaved[path])
        try:
            found = _checked_all(path.read_bytes())
            os.utime(path)  # what is used stays
        except OSError:
            found = {}
        return cls(path, found)

    def add(self, found: Recognized, *, is_whole: bool) -> bool:
        """Add what was recognized, which is all there is of a file if that was read whole; whether any of it is new."""
        if not found.keys() - self.found.keys():
            return False
        self.found = found if is_whole else {**self.found, **found}
        self.save()
        return True

    def save(self) -> None:
        """Write it to the cache; to this process's memory if that cannot be."""
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
            temporary = self.path.with_suffix(f".{os.getpid()}.tmp")
            temporary.write_text(json.dumps(self.found), encoding="utf-8")
            temporary.replace(self.path)
            if next(_saved) % _LOOKS == 0:
                _make_room(self.path.parents[1])
        except OSError:
            _unsaved[self.path] = self.found


def _make_room(folder: Path) -> None:
    """Delete what was used longest ago, if the cache is too large."""
    files = []
    for path in folder.glob("*/*"):
        with suppress(OSError):
            status = path.stat()
            files.append((status.st_mtime, status.st_size, path))
    over = sum(size for _, size, _ in files) - _MOST_BYTES
    for _, size, path in sorted(files):
        if over <= 0:
            break
        with suppress(OSError):
            path.unlink()
            over -= size


def _checked_all(data: bytes) -> Recognized:
    """What was recognized, from JSON that another process has written; without what is no such thing."""
    try:
        found = json.loads(data)
    except (ValueError, RecursionError):
        return {}
    if not isinstance(found, dict):
        return {}
    return {key: lines for key, value in [*found.items()][:MOST_PAGES] if (lines := _checked(value)) is not None}


def _checked(value: Any) -> list[Line] | str | None:
    """The lines of a picture, or the reason why there are none; None for anything else."""
    if isinstance(value, str):
        return value[: 2 * _LONGEST]
    if not isinstance(value, list) or len(value) > _MOST_LINES:
        return None
    lines = []
    for each in value:
        match each:
            case [str(text), *places] if len(places) == 4 and all(
                type(x) in (int, float) and -9 < x < 9 for x in places
            ):
                lines.append(Line(text.encode("utf-8", "replace").decode(), *map(float, places)))
            case _:
                return None
    return lines


def _is_share(value: Any) -> bool:
    return type(value) in (int, float) and -9 < value < 9
