"""Clean text with its place in the source, piece by piece: for parsers that give exact offsets.

For the others, `readers/align.py` has to find them again.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator, Mapping

from semsearch.readers.document import Block, mapped_by

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
        return bool(self._parts)

    @property
    def text(self) -> str:
        """The text so far."""
        if len(self._parts) > 1:
            self._parts = ["".join(self._parts)]
        return self._parts[0] if self._parts else ""

    def add(self, text: str, start: int) -> None:
        """Add a piece whose offset in the source is `start`."""
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

    def replaced(self, pattern: re.Pattern[str], by: str = "") -> PlacedText:
        """The text with all matches of a pattern replaced."""
        replaced, last, text = PlacedText(), 0, self.text
        for match in pattern.finditer(text):
            for piece, offset in self._pieces(last, match.start()):
                replaced.add(piece, offset)
            if by:
                replaced.add(by, self.source_offset(match.start()))
            last = match.end()
        if not last:
            return self
        for piece, offset in self._pieces(last, self._length):
            replaced.add(piece, offset)
        return replaced

    def translated(self, table: Mapping[int, int]) -> PlacedText:
        """The text with each character of a table replaced by another."""
        self._parts = [self.text.translate(table)]
        return self

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
