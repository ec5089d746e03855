"""Documents as a model sees them: cited, quoted without control characters, read in part.

Control characters, which steer terminals, and invisible characters that a model reads (Unicode's tags, which mirror
ASCII) or that reverse the order of a line are removed or replaced. All other text stays: instructions in it are for the
model to refuse, as the server's own instructions say.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, TypeVar

from semsearch.errors import INVISIBLE, SourceError
from semsearch.results.documents import DocumentPassages, PlacedPassage
from semsearch.results.hits import Position, location
from semsearch.text.text_lengths import count_words, cut_to

if TYPE_CHECKING:
    from semsearch.index import Index

# -- Harmless text -----------------------------------------------------------------------------------------------------

_CONTROL = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f]")  # but not tab and line end
_HIDDEN = re.compile(f"[{INVISIBLE}\U000e0000-\U000e0fff]")
_LINE_ENDS = re.compile("\r\n?|[\x0b\x0c\x1c-\x1e\x85\u2028\u2029]")
_SHOWN_CONTROL = "\ufffd"


def harmless(text: str) -> str:
    """A text without control and invisible characters."""
    if text.isascii() and text.isprintable():
        return text
    return _CONTROL.sub(_SHOWN_CONTROL, _HIDDEN.sub("", _LINE_ENDS.sub("\n", text)))


def harmless_values(value: Any) -> Any:
    """A plain value with all its texts harmless."""
    if isinstance(value, str):
        return harmless(value)
    if isinstance(value, Mapping):
        return {key: harmless_values(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [harmless_values(item) for item in value]
    return value


# -- Citations ---------------------------------------------------------------------------------------------------------

Answer = TypeVar("Answer")

_LINES = re.compile(r"(?P<path>.+?):(?P<first>\d{1,9})(?:[-–](?P<last>\d{1,9}))?(?:[ ,(:].*)?", re.DOTALL)


@dataclass(frozen=True, slots=True)
class CitedPlace:
    """A path, perhaps with a place in the document's own terms; and lines, if cited."""

    path: str
    line: int | None = None
    last_line: int | None = None


def readings(citation: str) -> Iterator[CitedPlace]:
    """Yield the possible meanings of a citation, the likeliest first.

    A colon and digits, or a comma, may also be part of a file's name; of a range of pages or places (`p. 3–4`) the
    first is meant.
    """
    if lines := _LINES.fullmatch(citation):
        last = int(lines["last"]) if lines["last"] else None
        yield CitedPlace(lines["path"], int(lines["first"]), last)
    yield CitedPlace(citation)
    before, ranged, _ = citation.partition("–")
    if ranged:
        yield CitedPlace(before.rstrip())
    before, comma, _ = citation.rpartition(",")  # a list of sources has the heading after a comma
    if comma:
        yield CitedPlace(before.partition("–")[0].rstrip())


def by_citation(citation: str, ask: Callable[[CitedPlace], Answer]) -> Answer:
    """Ask for a citation, by its first reading that is in the index. Raises the first SourceError."""
    failed: SourceError | None = None
    for place in readings(citation):
        try:
            return ask(place)
        except SourceError as error:
            failed = failed or error
    assert failed is not None  # there is always a reading
    raise failed


# -- Parts of documents ------------------------------------------------------------------------------------------------

_AT_ONCE = 20


@dataclass(frozen=True, slots=True)
class DocumentPart:
    """Consecutive passages of a document, with its details."""

    of: DocumentPassages
    first: int  # number of the first passage, from 0
    passages: tuple[PlacedPassage, ...]
    next: int | None  # number of the passage to continue at; None: complete


def read_part(index: Index, place: CitedPlace, *, around: int, start: int | None, max_words: int) -> DocumentPart:
    """Read a cited place with `around` passages before and after it; without lines or place, the document.

    `start` is the passage where an earlier part ended. Passages are added while they fit. The cited one, of several the
    first, is always included, whole; without one the first passage is, cut if necessary. Raises SourceError for what is
    not in the index.
    """
    of = index.passages(place.path, line=place.line, limit=1)
    cited, first, end = of.found, start or 0, of.count
    if cited is not None:
        last = index.passages(of.path, line=place.last_line, limit=1).found if place.last_line else None
        end = min(max(last or 0, cited) + around + 1, of.count)
    if cited is not None and start is None:
        first = max(cited - around, 0)
        passages = index.passages(of.path, offset=first, limit=cited - first + 1).passages
        lengths = [count_words(passage.text) for passage in passages]
        while first < cited and sum(lengths[first - cited - 1 :]) > max_words:
            first += 1  # of those before the cited one, as many as leave room for it
    taken: list[PlacedPassage] = []
    room = max_words
    for number, passage in zip(range(first, end), _from(index, of.path, first), strict=False):
        words = count_words(passage.text)
        if words > room and taken:
            return DocumentPart(of, first, tuple(taken), number)
        is_whole = words <= room or number == cited
        taken.append(passage if is_whole else replace(passage, text=f"{cut_to(passage.text, room)} …"))
        room -= words
    return DocumentPart(of, first, tuple(taken), None)


def _from(index: Index, path: str, offset: int | None) -> Iterator[PlacedPassage]:
    while offset is not None:
        some = index.passages(path, offset=offset, limit=_AT_ONCE)
        yield from some.passages
        offset = some.next


def cited_passage(passage: PlacedPassage, path: str, format: str) -> str:
    """A passage as one cites it: `guide.md:10-14`, `report.pdf p. 3`."""
    first, last = passage.sentences[0], passage.sentences[-1]
    last_line = last.line + passage.text[last.start : last.end].count("\n")
    begin, end = Position(first.line, passage.page, first.place), Position(last_line, passage.page, last.place)
    return location(path, format, begin, end)
