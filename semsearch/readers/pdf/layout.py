"""Lines to paragraphs, by what the eye goes by: gaps, indents, short last lines, changes of size.

A paragraph that a column or a page interrupts goes on where its last line was full or the next begins in lower case;
one that a footnote interrupts, in lower case only.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import pairwise

from semsearch.readers.pdf.lines import Line

_ENDED = re.compile(r"[.!?:;…。！？][\"'”’»)\]]*(?:\s?\[?\d{1,3}\]?)?\Z")
_ITEM = re.compile(r"(?:[•‣◦▪■●○–—*·-]|\(?(?:\d{1,3}|[a-zA-Z]|[ivx]{1,4})[.)])\s+\S|\[\d+\]\s")
_SAME_SIZE = 0.1  # in proportion
_GAP = 1.35  # lines' distances
_INDENT = 0.7  # letters' heights
_SHORT = 4.0  # letters' heights that a line ends before its column
_LOOKED_BACK = 6  # paragraphs


@dataclass(slots=True)
class Paragraph:
    """Lines that belong together."""

    lines: list[Line] = field(default_factory=list)

    @property
    def first(self) -> Line:
        return self.lines[0]

    @property
    def last(self) -> Line:
        return self.lines[-1]


def paragraphs(lines: Sequence[Line]) -> list[Paragraph]:
    """The paragraphs that lines in reading order make."""
    distance = usual_distance(lines)
    edges = _right_edges(lines)
    found: list[Paragraph] = []
    for line in lines:
        paragraph = found[-1] if found else None
        if paragraph is not None and _goes_on(paragraph, line, distance, edges):
            paragraph.lines.append(line)
        elif (earlier := _interrupted(found, line)) is not None:
            earlier.lines.append(line)
            found.remove(earlier)
            found.append(earlier)
        else:
            found.append(Paragraph([line]))
    return found


def usual_size(lines: Sequence[Line]) -> float:
    """That of most characters."""
    sizes: Counter[float] = Counter()
    for line in lines:
        sizes[round(line.size * 2) / 2] += len(line.text)
    return sizes.most_common(1)[0][0] if sizes else 0.0


def usual_distance(lines: Sequence[Line]) -> float:
    """From one line to the next, in letters' heights."""
    found: Counter[float] = Counter()
    for above, below in pairwise(lines):
        step = above.bottom - below.bottom
        if above.page == below.page and _same_size(above, below) and 0.5 < step / above.size < 2.5:
            found[round(step / above.size, 1)] += 1
    return found.most_common(1)[0][0] if found else 1.2


def _same_size(one: Line, other: Line) -> bool:
    return abs(one.size - other.size) <= _SAME_SIZE * max(one.size, other.size)


def _right_edges(lines: Sequence[Line]) -> dict[tuple[int, int], float]:
    """How far lines go to the right that begin in the same strip of the same page."""
    edges: dict[tuple[int, int], float] = defaultdict(float)
    for line in lines:
        for strip in _strips(line):
            edges[line.page, strip] = max(edges[line.page, strip], line.right)
    return edges


def _strips(line: Line) -> tuple[int, int]:
    strip = int(line.left // 36)  # half an inch
    return strip, strip + 1


def _goes_on(paragraph: Paragraph, line: Line, distance: float, edges: dict[tuple[int, int], float]) -> bool:
    last = paragraph.last
    if last.hyphen:
        return True
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


def _interrupted(found: Sequence[Paragraph], line: Line) -> Paragraph | None:
    """The paragraph that a line on a new page goes on with, when notes or pictures stand between."""
    if not found or not line.text[0].islower() or found[-1].last.page == line.page:
        return None
    for paragraph in reversed(found[-_LOOKED_BACK:]):
        last = paragraph.last
        if last.page < line.page - 1:
            return None
        if _same_size(last, line) and len(last.text) > 30:
            return None if _ENDED.search(last.text) else paragraph
    return None
