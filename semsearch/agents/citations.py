"""Citations, as results give them and models give them back: `guide.md:10-14`, `report.pdf p. 3`, or a path alone."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TypeVar

from semsearch.errors import SourceError

Answer = TypeVar("Answer")

_LINES = re.compile(r"(?P<path>.+?):(?P<first>\d{1,9})(?:[-–](?P<last>\d{1,9}))?(?::\d*)?(?P<rest>[ ,(].*)?", re.DOTALL)


@dataclass(frozen=True, slots=True)
class CitedPlace:
    """A path, perhaps with a place in the document's own terms; and lines, where it has them."""

    path: str
    line: int | None = None
    last_line: int | None = None


def readings(citation: str) -> Iterator[CitedPlace]:
    """Yield what a citation may mean, the likeliest first.

    A colon and digits, or a comma, may also be part of a file's name; of a range of pages or places (`p. 3–4`) the
    first is meant.
    """
    if lines := _LINES.fullmatch(citation):
        last = int(lines["last"]) if lines["last"] else None
        yield CitedPlace(lines["path"], max(1, int(lines["first"])), last)
    yield CitedPlace(citation)
    before, ranged, _ = citation.partition("–")
    if ranged:
        yield CitedPlace(before.rstrip())
    before, comma, _ = citation.rpartition(",")  # a list of sources has the heading after a comma
    if comma:
        yield CitedPlace(before.partition("–")[0].rstrip())


def by_citation(citation: str, ask: Callable[[CitedPlace], Answer]) -> Answer:
    """Ask for what a citation means: its first reading that is in the index. Raises the first SourceError."""
    failed: SourceError | None = None
    for place in readings(citation):
        try:
            return ask(place)
        except SourceError as error:
            failed = failed or error
    assert failed is not None  # there is always a reading
    raise failed
