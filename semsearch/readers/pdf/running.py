"""Running heads and feet: what stands at the edge of page after page, and page numbers.

A head may change with the chapter, but the page number in it counts on: where numbers at the edges keep their distance
from the pages' own, the lines with them are such.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise

from semsearch.readers.pdf.lines import Line

_EDGE = 2.0  # letters' heights that a head or foot of several lines takes at most
_GAP = 1.5  # letters' heights between such and the text, from line to line
_PAGES = 3  # on so many at least
_AT_END = re.compile(r"(?:\A\d{1,5}(?=\s|\Z)|(?<=\s)\d{1,5}\Z)")
_NUMBER = re.compile(
    r"\W*(?:(?:page|p\.?|seite|s\.)\s*)?(?:\d+|[ivxlc]+)(?:\s*(?:/|of|von)\s*\d+)?\W*\Z", re.IGNORECASE
)


def without_running_lines(lines: Sequence[Line]) -> list[Line]:
    """The lines that are no running heads, feet or page numbers; of a short document, all of them."""
    pages: dict[int, list[Line]] = defaultdict(list)
    for line in lines:
        pages[line.page].append(line)
    seen: dict[tuple[str, int], set[int]] = defaultdict(set)
    for number, page in pages.items():
        for line in _edges(page):
            for height in (round(line.bottom / 4), round(line.bottom / 4) + 1):
                seen[_key(line.text), height].add(number)
    counted = _with_page_numbers(pages)
    repeated = {key for key, numbers in seen.items() if len(numbers) >= _PAGES}
    running = counted | {
        id(line)
        for page in pages.values()
        for line in _edges(page)
        if any((_key(line.text), round(line.bottom / 4) + step) in repeated for step in (0, 1))
    }
    return [line for line in lines if id(line) not in running]


def _with_page_numbers(pages: Mapping[int, Sequence[Line]]) -> set[int]:
    """The lines that begin or end with a number that is the page's, less the same number on all pages."""
    lines: dict[int, list[Line]] = defaultdict(list)
    for number, page in pages.items():
        for line in _edges(page):
            for found in {*_AT_END.findall(line.text)}:
                lines[int(found) - number].append(line)
    most = max(lines.values(), key=len, default=[])
    is_counted = len(most) >= _PAGES and len(most) * 3 >= len(pages)
    return {id(line) for line in most} if is_counted else set()


def _edges(page: Iterable[Line]) -> list[Line]:
    """The lines at the top and at the bottom that stand apart from the text."""
    upwards = sorted(page, key=lambda line: line.bottom)
    return [*_edge(upwards), *_edge(upwards[::-1])]


def _edge(lines: Sequence[Line]) -> list[Line]:
    """The first lines, up to a gap or to another size; none where there is neither within two lines' height."""
    for count, (outer, inner) in enumerate(pairwise(lines), start=1):
        distance = abs(inner.bottom - outer.bottom)
        if distance > _GAP * inner.size or (distance > 0.5 * inner.size and abs(outer.size - inner.size) > 0.5):
            return list(lines[:count])
        if abs(outer.bottom - lines[0].bottom) > _EDGE * outer.size:
            break
    return []


def _key(text: str) -> str:
    return "#" if _NUMBER.match(text) else _AT_END.sub("#", text)
