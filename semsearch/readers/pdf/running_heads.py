"""Recognise running heads and feet, which recur at the edge of page after page, and page numbers.

A head may change with the chapter, but the page number in it counts on: if a number at the edge keeps its distance from
the number of the page, its line is a running head or foot.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise

from semsearch.readers.pdf.lines import PageLine

_EDGE = 2.0  # heights of letters that a head or foot of several lines takes at most
_GAP = 1.5  # heights of letters between a head or foot and the text, from line to line
_PAGES = 3  # a running head or foot is on so many at least
_AT_END = re.compile(r"(?:\A\d{1,5}(?=\s|\Z)|(?<=\s)\d{1,5}\Z)")
_NUMBER = re.compile(
    r"\W*(?:(?:page|p\.?|seite|s\.)\s*)?(?:\d+|[ivxlc]+)(?:\s*(?:/|of|von)\s*\d+)?\W*\Z", re.IGNORECASE
)


def without_running_lines(lines: Sequence[PageLine]) -> list[PageLine]:
    """Leave out running heads, feet and page numbers; a short document keeps all its lines."""
    pages: dict[int, list[PageLine]] = defaultdict(list)
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


def _with_page_numbers(pages: Mapping[int, Sequence[PageLine]]) -> set[int]:
    """The lines that begin or end with a number whose difference from the page's number is the same on many pages."""
    lines: dict[int, list[PageLine]] = defaultdict(list)
    for number, page in pages.items():
        for line in _edges(page):
            for found in {*_AT_END.findall(line.text)}:
                lines[int(found) - number].append(line)
    most = max(lines.values(), key=len, default=[])
    is_counted = len(most) >= _PAGES and len(most) * 3 >= len(pages)
    return {id(line) for line in most} if is_counted else set()


def _edges(page: Iterable[PageLine]) -> list[PageLine]:
    """The lines at the top and at the bottom that are set apart from the text."""
    upwards = sorted(page, key=lambda line: line.bottom)
    return [*_edge(upwards), *_edge(upwards[::-1])]


def _edge(lines: Sequence[PageLine]) -> list[PageLine]:
    """The first lines, up to a gap or to another size; none if there is neither within two lines' height."""
    for count, (outer, inner) in enumerate(pairwise(lines), start=1):
        distance = abs(inner.bottom - outer.bottom)
        if distance > _GAP * inner.size or (distance > 0.5 * inner.size and abs(outer.size - inner.size) > 0.5):
            return list(lines[:count])
        if abs(outer.bottom - lines[0].bottom) > _EDGE * outer.size:
            break
    return []


def _key(text: str) -> str:
    return "#" if _NUMBER.match(text) else _AT_END.sub("#", text)
