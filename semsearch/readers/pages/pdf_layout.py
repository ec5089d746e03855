"""The layout of a PDF's pages: lines of text, columns and paragraphs, derived from the lines that PDFium gives.

Most programs write one column after the other, and their order is kept. Others write line 1 of both columns, then line
2. Where lines leap across the same strip of white again and again, down the page, and the lines on either side of it go
on from one to the next, the page is cut along that strip. The lines that cross it, such as a title over both columns,
stay where they are between the cuts. A table of two columns leaps as well, but its entries begin with a capital or a
figure, or do not fill their column; such a page is left as it is.

Lines are grouped to paragraphs as the eye does: by gaps, indents, short last lines, changes of size. A paragraph that a
column or a page interrupts is continued if its last line was full or the next begins in lower case; one that a footnote
interrupts, only if the next begins in lower case.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby, pairwise
from operator import attrgetter
from statistics import median
from typing import NamedTuple, Protocol

_PAGE = attrgetter("page")


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
    advice: str = ""  # why text was not recognized on the unread pages, and what to do


# -- Columns -----------------------------------------------------------------------------------------------------------

_FEWEST = 8  # rows of a page that may have columns
_SAMPLE = 3  # lines that are examined first
_WIDE = 0.55  # of the text's width: such a line may be two
_WHITE = 0.9  # letters' heights, at least, of the strip between columns
_SAME_ROW = 0.9  # letters' heights between the baselines of two lines in one row
_ROWS = 0.4  # share of rows that leap across the strip
_NARROWEST = 0.2  # of the text's width, of a column
_FILLED = 0.6  # of a column, by half of its lines
_LETTERS = 15  # of half of its lines, at least
_GO_ON = 0.5  # of a column's lines begin in lower case; a list of references has fewer, but
_SOME_GO_ON = 0.1  # some, and
_FULL = 0.45  # of its lines reach the edge
_DOWNWARD = 0.8  # of the steps within a column
_PARTED = re.compile(r"(?<=[^\W\d_])[-\u2010]\Z")


class Gap(NamedTuple):
    """White in a line: it begins before `offset` of the page's content, and spans `left` to `right`."""

    offset: int
    left: float
    right: float


class Runs(Protocol):
    """The page that lines are from, for a closer look at them by their index."""

    def gaps(self, index: int) -> list[Gap]:
        """The gaps between the words of a line."""
        ...

    def cut(self, index: int, offsets: Sequence[int]) -> list[PageLine]:
        """The pieces of a line that is cut at these offsets."""
        ...


def in_columns(lines: list[PageLine], runs: Runs | None = None) -> list[PageLine]:
    """The lines of a page in reading order, cut where they go across columns, unless there are no `runs` to cut."""
    if len(lines) < _FEWEST:
        return lines
    gaps = _gaps(lines, runs) if runs else {}
    leaps = _leaps(lines)
    rows = len(gaps) + len(leaps)
    strips = _column_strips([gap for in_line in gaps.values() for gap in in_line] + leaps, max(_FEWEST, _ROWS * rows))
    if not strips:
        return lines
    pieces = _pieces(lines, runs, gaps, strips) if runs else lines
    columns = _by_column(pieces, strips)
    if not all(column and _is_prose(column, lines) for column in columns):
        return lines
    return list(_reordered(pieces, strips))


def _gaps(lines: Sequence[PageLine], runs: Runs) -> dict[int, list[Gap]]:
    """The wide gaps of wide lines, by the index of the line; none unless some of a sample have such."""
    left, right = min(line.left for line in lines), max(line.right for line in lines)
    wide = [index for index, line in enumerate(lines) if line.right - line.left > _WIDE * (right - left)]
    if len(wide) < _FEWEST:
        return {}

    def wide_gaps(index: int) -> list[Gap]:
        return [gap for gap in runs.gaps(index) if gap.right - gap.left > _WHITE * lines[index].size]

    sample = wide[len(wide) // (2 * _SAMPLE) :: max(1, len(wide) // _SAMPLE)]
    if sum(bool(wide_gaps(index)) for index in sample) * 3 < len(sample):
        return {}
    return {index: wide_gaps(index) for index in wide}


def _leaps(lines: Sequence[PageLine]) -> list[Gap]:
    """The white between lines that follow each other in one row."""
    return [
        Gap(0, line.right, next_line.left)
        for line, next_line in pairwise(lines)
        if abs(line.bottom - next_line.bottom) < _SAME_ROW * min(line.size, next_line.size)
        and next_line.left - line.right > _WHITE * min(line.size, next_line.size)
    ]


def _column_strips(gaps: Iterable[Gap], fewest: float) -> list[float]:
    """Where most gaps overlap, from left to right, as long as enough of them do."""
    left = list(gaps)
    strips: list[float] = []
    while len(left) >= fewest:
        count, place = _densest(left)
        if count < fewest:
            break
        strips.append(place)
        left = [gap for gap in left if not gap.left <= place <= gap.right]
    return sorted(strips)


def _densest(gaps: Sequence[Gap]) -> tuple[int, float]:
    """The largest number of gaps that overlap, and the middle of that overlap."""
    ends = sorted([(gap.left, 1) for gap in gaps] + [(gap.right, -1) for gap in gaps])
    count = most = 0
    place = 0.0
    for (at, step), (following, _) in pairwise(ends):
        count += step
        if count > most:
            most, place = count, (at + following) / 2
    return most, place


def _pieces(
    lines: Sequence[PageLine], runs: Runs, gaps: dict[int, list[Gap]], strips: Sequence[float]
) -> list[PageLine]:
    pieces: list[PageLine] = []
    for index, line in enumerate(lines):
        offsets = [gap.offset for gap in gaps.get(index, ()) if any(gap.left <= x <= gap.right for x in strips)]
        parts = runs.cut(index, offsets) if offsets else [line]
        pieces += [_hyphened(part) for part in parts[:-1]] + parts[-1:]
    return pieces


def _hyphened(line: PageLine) -> PageLine:
    """A line that has become one by being cut: PDFium has not looked for a hyphen at its end."""
    match = _PARTED.search(line.text)
    return line._replace(text=line.text[: match.start()], hyphen=True) if match else line


def _column_of(line: PageLine, strips: Sequence[float]) -> int | None:
    """The column that a line is in; None if it crosses a strip."""
    first, last = bisect_right(strips, line.left), bisect_right(strips, line.right - 0.1)
    return first if first == last else None


def _by_column(pieces: Iterable[PageLine], strips: Sequence[float]) -> list[list[PageLine]]:
    columns: list[list[PageLine]] = [[] for _ in range(len(strips) + 1)]
    for piece in pieces:
        if (column := _column_of(piece, strips)) is not None:
            columns[column].append(piece)
    return columns


def _is_prose(column: Sequence[PageLine], page: Sequence[PageLine]) -> bool:
    """Tell whether a column is wide and full, and its lines go on from one to the next, downwards."""
    extent = max(line.right for line in page) - min(line.left for line in page)
    left, right = min(line.left for line in column), max(line.right for line in column)
    going_on = sum(_column_goes_on(line.text) for line in column) / max(1, len(column))
    steps = [upper.bottom > lower.bottom for upper, lower in pairwise(column)]
    return (
        len(column) >= _FEWEST // 2
        and median(len(line.text) for line in column) >= _LETTERS
        and right - left >= _NARROWEST * extent
        and median(line.right - line.left for line in column) >= _FILLED * (right - left)
        and (going_on >= _GO_ON or (going_on >= _SOME_GO_ON and _full(column) >= _FULL))
        and sum(steps) >= _DOWNWARD * len(steps)
    )


def _full(column: Sequence[PageLine]) -> float:
    """The share of lines that end where most of the longest do."""
    edge = sorted(line.right for line in column)[-1 - len(column) // 10]
    return sum(line.right > edge - line.size for line in column) / len(column)


def _column_goes_on(text: str) -> bool:
    return text[0].isalpha() and not text[0].isupper() and "://" not in text


def _reordered(pieces: Iterable[PageLine], strips: Sequence[float]) -> Iterable[PageLine]:
    """Column after column, between the lines that cross them."""
    columns: list[list[PageLine]] = [[] for _ in range(len(strips) + 1)]
    for piece in pieces:
        column = _column_of(piece, strips)
        if column is not None:
            columns[column].append(piece)
            continue
        for waiting in columns:
            yield from waiting
            waiting.clear()
        yield piece
    for waiting in columns:
        yield from waiting


# -- Paragraphs --------------------------------------------------------------------------------------------------------

_ENDED = re.compile(r"[.!?:;…。！？][\"'”’»)\]]*(?:\s?\[?\d{1,3}\]?)?\Z")
_ITEM = re.compile(r"(?:[•‣◦▪■●○–—*·-]|\(?(?:\d{1,3}|[a-zA-Z]|[ivx]{1,4})[.)])\s+\S|\[\d+\]\s")
_SAME_SIZE = 0.1  # in proportion
_GAP = 1.35  # in distances of lines
_INDENT = 0.7  # in heights of letters
_SHORT = 4.0  # heights of letters by which a short line ends before its column
_LOOKED_BACK = 6  # paragraphs


Paragraph = list[PageLine]


def paragraphs(lines: Iterable[PageLine], distance: float) -> Iterator[Paragraph]:
    """Group lines, which are in reading order, to paragraphs. `distance` is the usual one from line to line."""
    open_paragraphs: list[Paragraph] = []  # the last ones: a line may still be added to them
    edges: dict[tuple[int, int], float] = {}
    for _, page in groupby(lines, key=_PAGE):
        on_page = list(page)
        edges = {strip: edge for strip, edge in edges.items() if strip[0] == open_paragraphs[-1][-1].page}
        _add_right_edges(edges, on_page)
        for line in on_page:
            paragraph = open_paragraphs[-1] if open_paragraphs else None
            if paragraph is not None and _continues(paragraph, line, distance, edges):
                paragraph.append(line)
            elif (earlier := _interrupted(open_paragraphs, line)) is not None:
                open_paragraphs.append(open_paragraphs.pop(earlier))
                open_paragraphs[-1].append(line)
            else:
                open_paragraphs.append([line])
        yield from open_paragraphs[:-_LOOKED_BACK]
        del open_paragraphs[:-_LOOKED_BACK]
    yield from open_paragraphs


class Usual(NamedTuple):
    """The usual size of letters and distance of lines in a file."""

    size: float = 0.0  # of its characters
    distance: float = 1.2  # from one line to the next, in heights of letters
    bold: bool = False

    @classmethod
    def of(cls, lines: Iterable[PageLine]) -> Usual:
        """What is usual in these lines."""
        sizes, distances, bold = Counter[float](), Counter[float](), 0
        above = PageLine("", 0)
        for line in lines:
            sizes[round(line.size * 2) / 2] += len(line.text)
            bold += len(line.text) if line.bold else -len(line.text)
            if above.page == line.page and _same_size(above, line):
                step = (above.bottom - line.bottom) / above.size
                if 0.5 < step < 2.5:
                    distances[round(step, 1)] += 1
            above = line
        distance = distances.most_common(1)[0][0] if distances else 1.2
        return cls(sizes.most_common(1)[0][0] if sizes else 0.0, distance, bold > 0)


def _same_size(line: PageLine, other: PageLine) -> bool:
    return abs(line.size - other.size) <= _SAME_SIZE * max(line.size, other.size)


def _add_right_edges(edges: dict[tuple[int, int], float], lines: Iterable[PageLine]) -> None:
    """Add the right edge of the lines that begin in the same strip of the same page."""
    for line in lines:
        for strip in _strips(line):
            edges[line.page, strip] = max(edges.get((line.page, strip), 0.0), line.right)


def _strips(line: PageLine) -> tuple[int, int]:
    strip = int(line.left // 36)  # half an inch
    return strip, strip + 1


def _continues(paragraph: Paragraph, line: PageLine, distance: float, edges: dict[tuple[int, int], float]) -> bool:
    last = paragraph[-1]
    if last.hyphen:
        return _same_size(last, line)
    if not _same_size(last, line) or (last.bold != line.bold and len(paragraph) == 1):
        return abs(last.bottom - line.bottom) < 0.6 * last.size and last.page == line.page  # a word in another size
    step = last.bottom - line.bottom
    edge = max(edges[last.page, strip] for strip in _strips(last))
    is_full = last.right > edge - _SHORT * last.size
    if last.page != line.page or step < -0.5 * last.size:  # the next page or column
        return not _ENDED.search(last.text) and (line.text[0].islower() or (is_full and not _ITEM.match(line.text)))
    if abs(step) < 0.3 * last.size:
        return True
    if step > _GAP * distance * last.size or _ITEM.match(line.text):
        return False
    if not _ENDED.search(last.text):
        return True
    moved = abs(line.left - last.left) > _INDENT * last.size and (len(paragraph) > 1 or line.left > last.left)
    return is_full and not moved


def _interrupted(earlier: Sequence[Paragraph], line: PageLine) -> int | None:
    """The index, from the end, of the paragraph that a line on a new page or in a new column continues after notes."""
    if not earlier or not line.text[0].islower():
        return None
    above = earlier[-1][-1]
    if above.page == line.page and line.bottom < above.bottom + above.size:
        return None
    for number in range(-1, -min(_LOOKED_BACK, len(earlier)) - 1, -1):
        last = earlier[number][-1]
        if last.page < line.page - 1:
            return None
        if _same_size(last, line) and len(last.text) > 30:
            return None if _ENDED.search(last.text) else number
    return None
