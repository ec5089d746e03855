"""Plain text: paragraphs are separated by blank lines, and kept word for word as in the file.

Files that give a line to each paragraph, record or list entry have no blank lines, or few. So lines are taken for
paragraphs when lines that follow each other are long (no one wraps at more than 120 characters) or when hardly any of
them goes on in lower case (wrapped prose does so three times in four). A line underlined with === or --- is a heading.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from semsearch.readers.document import Block, Document, title_of

_LONG_LINE = 120  # characters, on average
_FEW_CONTINUED = 0.15  # of the lines that follow another
_ENOUGH_LINES = 8  # to judge by

_END = r"(?:\r\n|\n|\r(?!\n))"
_BLANK_LINES = re.compile(rf"{_END}[^\S\r\n]*{_END}\s*")
_LINE_ENDS = re.compile(r"[\r\n]+\s*")
# the same where there are no carriage returns: what begins with one certain character is found four times as fast
_PLAIN_BLANK_LINES = re.compile(r"\n[^\S\n]*\n\s*")
_PLAIN_LINE_ENDS = re.compile(r"\n\s*")
# possessive: else a long line that is no heading is gone through backwards, too
_LINES = ("\n===", "\n---", "\r===", "\r---")  # how what underlines a heading begins
_UNDERLINED = re.compile(rf"(\S[^\r\n]*+){_END}(={{3,}}|-{{3,}})[^\S\r\n]*(?:{_END}|\Z)")


def read(source: str, name: str) -> Document:
    """The paragraphs and underlined headings of a text. Its title is the first heading of level 1, else its name."""
    blocks = list(_blocks(source))
    return Document(source, blocks, "text", title_of(name, blocks=blocks))


class _Chunk(NamedTuple):
    start: int
    end: int
    level: int = 0


def _blocks(source: str) -> Iterator[Block]:
    has_returns = "\r" in source
    blank_lines = _BLANK_LINES if has_returns else _PLAIN_BLANK_LINES
    line_ends = _LINE_ENDS if has_returns else _PLAIN_LINE_ENDS
    chunks = [_Chunk(start, end) for start, end in _between(blank_lines, source, 0, len(source))]
    if any(line in source for line in _LINES):
        chunks = [peeled for chunk in chunks for peeled in _peeled(source, chunk.start, chunk.end)]
    by_line = _gives_each_paragraph_a_line(source, chunks)
    for chunk in chunks:
        lines = by_line and not chunk.level
        for start, end in _between(line_ends, source, chunk.start, chunk.end) if lines else [(chunk.start, chunk.end)]:
            text = source[start:end].lstrip()
            if text:
                yield Block(text.rstrip(), end - len(text), chunk.level)


def _peeled(source: str, start: int, end: int) -> Iterator[_Chunk]:
    """The underlined headings that the lines of a chunk begin with, and the rest."""
    while (heading := _UNDERLINED.match(source, start, end)) and abs(len(heading[1].rstrip()) - len(heading[2])) <= 2:
        yield _Chunk(start, heading.end(1), level=1 if heading[2][0] == "=" else 2)
        start = heading.end()
    if start < end:
        yield _Chunk(start, end)


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
        text = source[chunk.start : chunk.end].splitlines()
        if len(text) > 1:
            characters += chunk.end - chunk.start
            lines += len(text)
            following += len(text) - 1
            continued += sum(line.lstrip()[:1].islower() for line in text[1:])
    if not following:
        return False
    return characters > _LONG_LINE * lines or (following >= _ENOUGH_LINES and continued < _FEW_CONTINUED * following)
