"""Plain text: paragraphs are separated by blank lines, and kept word for word as in the file.

Files that give a line to each paragraph, record or list entry have no blank lines, or few. So lines are taken for
paragraphs when lines that follow each other are long (no one wraps at more than 120 characters) or when hardly any of
them goes on in lower case (wrapped prose does so three times in four). Elsewhere an entry of a list is one, and so is
each line where lines are short or end before they are full, as those of a list of tasks do. Of a log's lines that
differ only in their time, the first is kept, with their number. A line underlined with === or --- is a heading.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator
from itertools import pairwise
from typing import NamedTuple

from semsearch.readers.document import Block, Document, title_of
from semsearch.readers.sniff import LOOKED_AT, is_log

_LONG_LINE = 120  # characters, on average
_FEW_CONTINUED = 0.15  # of the lines that follow another
_ENOUGH_LINES = 8  # to judge by
_FEW_LINES = 3  # of a list, at least
_NARROW = 40  # characters: no one wraps prose so early
_PUNCTUATION = re.compile(r"[.,;!?](?:\s|\Z)")
_RAGGED = 8  # parts of the longest line, of which one may be missing at the end of a full line

_ENTRY = re.compile(r"(?:[-*+•–]|\(?\d{1,3}[.)]|\[[ xX]\]|\([A-Z]\)|x (?=\d{4}-))\s")
_TIME = re.compile(
    r"\d{4}[-/.]\d\d[-/.]\d\d[T _-]*\d\d:\d\d[\d.,:Z+-]*|[A-Z][a-z]{2} [ \d]\d \d\d:\d\d:\d\d|\d\d:\d\d:\d\d[.,\d]*"
)
_HEAD = 60  # characters of a log's line, in which its time is
_END = r"(?:\r\n|\n|\r(?!\n))"
_BLANK_LINES = re.compile(rf"{_END}[^\S\r\n]*{_END}\s*")
_LINE_ENDS = re.compile(r"[\r\n]+\s*")
# possessive: else a long line that is no heading is gone through backwards, too
_UNDERLINED = re.compile(rf"(\S[^\r\n]*+){_END}(={{3,}}|-{{3,}})[^\S\r\n]*(?:{_END}|\Z)")


def read(source: str, name: str) -> Document:
    """The paragraphs and underlined headings of a text. Its title is the first heading of level 1, else its name."""
    if is_log(name, source[:LOOKED_AT].encode("utf-8", "replace")):
        blocks = list(_without_repetitions(_blocks(source, by_line=True)))
    else:
        blocks = list(_blocks(source))
    return Document(source, blocks, "text", title_of(name, blocks=blocks))


def _without_repetitions(blocks: Iterable[Block]) -> Iterator[Block]:
    """Of a log's lines that are alike but for their time, the first, with their number."""
    lines = [(block, _message(block.text)) for block in blocks]
    counts = Counter(message for _, message in lines if message)
    for block, message in lines:
        count = counts.pop(message, 0) if message else 1
        if count == 1:
            yield block
        elif count:
            text, end = f"{block.text} (×{count:,})", len(block.text)
            anchors = ((0, block.start), (end, block.start + end), (len(text), block.start + end))
            yield Block(text, block.start, anchors=anchors)


def _message(line: str) -> int | None:
    """The hash of a log's line without its time; None if it has none, as in what an error goes on with."""
    time = _TIME.search(line, 0, _HEAD)
    return hash((line[: time.start()], line[time.end() :])) if time else None


class _Chunk(NamedTuple):
    start: int
    end: int
    level: int = 0
    has_lines: bool = False


def _blocks(source: str, *, by_line: bool = False) -> Iterator[Block]:
    spans = _between(_BLANK_LINES, source, 0, len(source))
    chunks = [chunk for start, end in spans for chunk in _peeled(source, start, end)]
    by_line = by_line or _gives_each_paragraph_a_line(source, chunks)
    for chunk in chunks:
        lines = list(_between(_LINE_ENDS, source, chunk.start, chunk.end)) if chunk.has_lines else []
        for start, end in lines if by_line and lines else _entries(source, lines) or [(chunk.start, chunk.end)]:
            text = source[start:end].lstrip()
            if text:
                yield Block(text.rstrip(), end - len(text), chunk.level)


def _entries(source: str, lines: list[tuple[int, int]]) -> list[tuple[int, int]]:
    """The entries of a list, or the lines if they end before they are full; none of prose."""
    if len(lines) < _FEW_LINES:
        return []
    begins = [start for start, _ in lines if _ENTRY.match(source, start)]
    if len(begins) < _FEW_LINES or begins[0] > lines[0][0]:
        is_code = any(source[start - 1] in " \t" for start, _ in lines[1:])
        return lines if not is_code and _are_unfilled([source[start:end] for start, end in lines]) else []
    ends = {start: end for (_, end), (start, _) in pairwise(lines)}
    return list(zip(begins, [*(ends[start] for start in begins[1:]), lines[-1][1]], strict=True))


def _are_unfilled(lines: list[str]) -> bool:
    """Whether most lines have room for the first word of the next, or all are short, and few as in prose."""
    if max(map(len, lines)) <= _NARROW and 4 * sum(1 for line in lines if _PUNCTUATION.search(line)) <= len(lines):
        return True
    width = sorted(map(len, lines))[-2] * (1 - 1 / _RAGGED)  # the longest may be an address
    unfilled = sum(len(line) + 1 + len(after.split(maxsplit=1)[0]) <= width for line, after in pairwise(lines))
    return 2 * unfilled >= len(lines) - 1


def _peeled(source: str, start: int, end: int) -> Iterator[_Chunk]:
    """The underlined headings that the lines of a chunk begin with, and the rest."""
    if source.find("\n", start, end) < 0 and source.find("\r", start, end) < 0:
        yield _Chunk(start, end)
        return
    while (heading := _UNDERLINED.match(source, start, end)) and abs(len(heading[1].rstrip()) - len(heading[2])) <= 2:
        yield _Chunk(start, heading.end(1), level=1 if heading[2][0] == "=" else 2)
        start = heading.end()
    if start < end:
        yield _Chunk(start, end, has_lines=True)


def _between(separator: re.Pattern[str], source: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    for match in separator.finditer(source, start, end):
        first, last = match.span()
        if first > start:
            yield start, first
        start = last
    if start < end:
        yield start, end


def _gives_each_paragraph_a_line(source: str, chunks: list[_Chunk]) -> bool:
    characters = lines = following = continued = 0
    for chunk in chunks:
        if chunk.has_lines and len(text := source[chunk.start : chunk.end].splitlines()) > 1:
            characters += chunk.end - chunk.start
            lines += len(text)
            following += len(text) - 1
            continued += sum(line.lstrip()[:1].islower() for line in text[1:])
    if not following:
        return False
    return characters > _LONG_LINE * lines or (following >= _ENOUGH_LINES and continued < _FEW_CONTINUED * following)
