"""Turn lines of markup into blocks: the text of a paragraph's lines without markup, located in the source."""

from __future__ import annotations

from collections.abc import Callable

from semsearch.readers.align import Aligner
from semsearch.readers.document import Block, line_starts


class Placing:
    """Collects the blocks of a source. Lines are counted from 0; a paragraph's lines are gathered until it ends."""

    def __init__(self, source: str, clean: Callable[[str], str], *, visible: str | None = None) -> None:
        self.blocks: list[Block] = []
        self._source = source
        self._starts = [*line_starts(source), len(source)]
        self._clean = clean
        self._aligner: Aligner | None = None
        self._visible = source if visible is None else visible
        self._first = 0
        self._lines: list[str] = []

    def lines(self) -> list[str]:
        """The lines of the source, without their ends."""
        return [
            self._source[start:end].rstrip("\r\n") for start, end in zip(self._starts, self._starts[1:], strict=False)
        ]

    def gather(self, number: int, line: str) -> None:
        """Add a line to the paragraph."""
        if not self._lines:
            self._first = number
        self._lines.append(line)

    def end(self, number: int, *, verbatim: bool = False) -> None:
        """End the paragraph before line `number`, and make a block of it."""
        if self._lines:
            text = "\n".join(self._lines)
            self._lines = []
            self.add(text if verbatim else self._clean(text), self._first, number)

    def add(self, text: str, first: int, last: int, *, level: int = 0) -> None:
        """Add a block with a clean text, which is in the lines from `first` to below `last`."""
        text = text.strip("\n").rstrip()
        if not text.strip():
            return
        start, end = self._starts[first], self._starts[min(last, len(self._starts) - 1)]
        found = self._source.find(text, start, end)
        if found >= 0:
            self.blocks.append(Block(text, found, level))
            return
        if self._aligner is None:
            self._aligner = Aligner(self._visible)
        anchors = self._aligner.locate(text, start, end)
        self.blocks.append(Block(text, anchors[0][1], level, anchors=anchors))
