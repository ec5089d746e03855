"""Clean text with its place in the source, piece by piece."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator, Mapping

from semsearch.readers.document import Block, gap, mapped_by

_SPACES = re.compile(r"\s+")


class PlacedText:
    """A text of pieces from the source. A new anchor is set wherever the distance of text and source changes."""

    __slots__ = ("_anchors", "_distance", "_length", "_parts")

    def __init__(self) -> None:
        self._parts: list[str] = []
        self._anchors: list[tuple[int, int]] = []  # as in Block
        self._length = 0
        self._distance: int | None = None

    def __bool__(self) -> bool:
        return self._length > 0

    @property
    def text(self) -> str:
        """The text so far."""
        if len(self._parts) > 1:
            self._parts = ["".join(self._parts)]
        return self._parts[0] if self._parts else ""

    def add(self, text: str, start: int) -> None:
        """Add a piece whose offset in the source is `start`."""
        if not text:
            return
        distance = start - self._length
        if distance != self._distance:
            self._anchors.append((self._length, start))
            self._distance = distance
        self._parts.append(text)
        self._length += len(text)

    def add_unplaced(self, text: str) -> None:
        """Add a piece that is not in the source, after one that is."""
        self._parts.append(text)
        self._length += len(text)

    def add_all(self, other: PlacedText) -> None:
        """Add the pieces of another text."""
        for text, start in other._pieces(0, other._length):
            self.add(text, start)

    def cut(self, start: int, end: int) -> PlacedText:
        """The slice text[start:end], with its anchors."""
        if start == 0 and end == self._length:
            return self
        part = PlacedText()
        for text, offset in self._pieces(start, end):
            part.add(text, offset)
        return part

    def stripped(self) -> PlacedText:
        """The text without white space at both ends."""
        text = self.text
        body = text.rstrip()
        return self.cut(len(body) - len(body.lstrip()), len(body))

    def on_one_line(self) -> PlacedText:
        """The text with single spaces between words, and none at the ends."""
        text = self.text
        return self if " ".join(text.split()) == text else self.stripped().replaced(_SPACES, " ")

    def replaced(self, pattern: re.Pattern[str], by: str | Callable[[re.Match[str]], str] = "") -> PlacedText:
        """The text with all matches of a pattern replaced, by a text or what a function makes of the match."""
        text = self.text
        if not pattern.search(text):
            return self
        replaced, last = PlacedText(), 0
        for match in pattern.finditer(text):
            replaced.add_all(self.cut(last, match.start()))
            if text_instead := by if isinstance(by, str) else by(match):
                replaced.add(text_instead, self.source_offset(match.start()))
            last = match.end()
        replaced.add_all(self.cut(last, self._length))
        return replaced

    def translated(self, table: Mapping[int, int | str]) -> PlacedText:
        """The text with each character of a table replaced by another; nothing is added to it."""
        text = PlacedText()
        text._parts, text._length = [self.text.translate(table)], self._length
        text._anchors, text._distance = self._anchors, self._distance
        return text

    def block(self, source: str, level: int = 0) -> Block:
        """Make a block of the source; the text must not be empty."""
        text, anchors = self.text, self._anchors
        start = anchors[0][1]
        if len(anchors) == 1 and source.startswith(text, start):
            return Block(text, start, level)
        return Block(text, start, level, anchors=tuple(anchors))

    def source_offset(self, offset: int) -> int:
        """Map an offset in the text to one in the source."""
        return mapped_by(self._anchors, offset) if self._anchors else offset

    def _pieces(self, start: int, end: int) -> Iterator[tuple[str, int]]:
        """The pieces of text[start:end], each with its offset in the source."""
        text, anchors = self.text, self._anchors
        number = max(0, bisect_right(anchors, (start, 1 << 62)) - 1)
        while start < end:
            first, offset = anchors[number]
            number += 1
            last = min(end, anchors[number][0]) if number < len(anchors) else end
            yield text[start:last], offset + start - first
            start = last


class Paragraphs:
    """The blocks of a source that is read line by line: a paragraph is gathered until something ends it."""

    def __init__(self, source: str, clean: Callable[[PlacedText], PlacedText]) -> None:
        self.blocks: list[Block] = []
        self.text = PlacedText()  # of the paragraph so far
        self._source = source
        self._clean = clean

    def add(self, text: str, start: int) -> None:
        """Add a piece whose offset in the source is `start` to the paragraph."""
        self.text.add(text, start)

    def end(self, *, level: int = 0, is_code: bool = False) -> None:
        """Make a block of what was gathered, if it has any text; code stays as it is."""
        body = self.text.text.rstrip()
        text = self.text.cut(len(body) - len(body.lstrip("\n")), len(body)) if is_code else self._clean(self.text)
        if text.text.strip():
            self.blocks.append(text.block(self._source, level))
        self.text = PlacedText()

    def add_block(self, text: str, start: int, level: int = 0) -> None:
        """End the paragraph, and make a block of a piece of the source."""
        self.end()
        self.add(text, start)
        self.end(level=level)

    def add_row(self, cells: Iterable[PlacedText]) -> None:
        """End the paragraph, and make a block of the cells of a row."""
        self.end()
        if row := joined_row(self._clean(cell) for cell in cells):
            self.blocks.append(row.block(self._source))


def joined_row(cells: Iterable[PlacedText]) -> PlacedText:
    """The cells of a row, each on one line, with what separates cells between them; empty ones are left out."""
    row, last = PlacedText(), ""
    for cell in filter(None, (cell.on_one_line() for cell in cells)):
        if row:
            row.add_unplaced(gap(last))
        row.add_all(cell)
        last = cell.text
    return row
