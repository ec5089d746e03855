"""Group lines to paragraphs as the eye does: by gaps, indents, short last lines, changes of size.

A paragraph that a column or a page interrupts is continued if its last line was full or the next begins in lower case;
one that a footnote interrupts, only if the next begins in lower case.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import pairwise

from semsearch.readers.pdf.lines import PageLine

_ENDED = re.compile(r"[.!?:;…。！？][\"'”’»)\]]*(?:\s?\[?\d{1,3}\]?)?\Z")
_ITEM = re.compile(r"(?:[•‣◦▪■●○–—*·-]|\(?(?:\d{1,3}|[a-zA-Z]|[ivx]{1,4})[.)])\s+\S|\[\d+\]\s")
_SAME_SIZE = 0.1  # in proportion
_GAP = 1.35  # in distances of lines
_INDENT = 0.7  # in heights of letters
_SHORT = 4.0  # heights of letters by which a short line ends before its column
_LOOKED_BACK = 6  # paragraphs


@dataclass(slots=True)
class Paragraph:
    """The lines of one paragraph."""

    lines: list[PageLine] = field(default_factory=list)

    @property
    def first(self) -> PageLine:
        """The first line."""
        return self.lines[0]

    @property
    def last(self) -> PageLine:
        """The last line."""
        return self.lines[-1]


def paragraphs(lines: Sequence[PageLine]) -> list[Paragraph]:
    """Group lines, which are in reading order, to paragraphs."""
    distance = usual_distance(lines)
    edges = _right_edges(lines)
    found: list[Paragraph] = []
    for line in lines:
        paragraph = found[-1] if found else None
        if paragraph is not None and _goes_on(paragraph, line, distance, edges):
            paragraph.lines.append(line)
        elif (earlier := _interrupted(found, line)) is not None:
            found.append(found.pop(earlier))
            found[-1].lines.append(line)
        else:
            found.append(Paragraph([line]))
    return found


def usual_size(lines: Sequence[PageLine]) -> float:
    """The size of most characters."""
    sizes: Counter[float] = Counter()
    for line in lines:
        sizes[round(line.size * 2) / 2] += len(line.text)
    return sizes.most_common(1)[0][0] if sizes else 0.0


def usual_distance(lines: Sequence[PageLine]) -> float:
    """The usual distance from one line to the next, in heights of letters."""
    found: Counter[float] = Counter()
    for above, below in pairwise(lines):
        step = above.bottom - below.bottom
        if above.page == below.page and _same_size(above, below) and 0.5 < step / above.size < 2.5:
            found[round(step / above.size, 1)] += 1
    return found.most_common(1)[0][0] if found else 1.2


def _same_size(one: PageLine, other: PageLine) -> bool:
    return abs(one.size - other.size) <= _SAME_SIZE * max(one.size, other.size)


def _right_edges(lines: Sequence[PageLine]) -> dict[tuple[int, int], float]:
    """The right edge of the lines that begin in the same strip of the same page."""
    edges: dict[tuple[int, int], float] = defaultdict(float)
    for line in lines:
        for strip in _strips(line):
            edges[line.page, strip] = max(edges[line.page, strip], line.right)
    return edges


def _strips(line: PageLine) -> tuple[int, int]:
    strip = int(line.left // 36)  # half an inch
    return strip, strip + 1


def _goes_on(paragraph: Paragraph, line: PageLine, distance: float, edges: dict[tuple[int, int], float]) -> bool:
    last = paragraph.last
    if last.hyphen:
        return _same_size(last, line)
    if not _same_size(last, line) or (last.bold != line.bold and len(paragraph.lines) == 1):
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
    moved = abs(line.left - last.left) > _INDENT * last.size and (len(paragraph.lines) > 1 or line.left > last.left)
    return is_full and not moved


def _interrupted(found: Sequence[Paragraph], line: PageLine) -> int | None:
    """The index, from the end, of the paragraph that a line on a new page or in a new column continues after notes."""
    if not found or not line.text[0].islower():
        return None
    above = found[-1].last
    if above.page == line.page and line.bottom < above.bottom + above.size:
        return None
    for number in range(-1, -min(_LOOKED_BACK, len(found)) - 1, -1):
        last = found[number].last
        if last.page < line.page - 1:
            return None
        if _same_size(last, line) and len(last.text) > 30:
            return None if _ENDED.search(last.text) else number
    return None
