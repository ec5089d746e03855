"""The visible text of lines of reStructuredText, with its offsets in the source."""

from __future__ import annotations

from semsearch.readers.document import line_starts
from semsearch.readers.markup.placed_text import PlacedText
from semsearch.readers.markup.rst_inline import visible_inline
from semsearch.readers.markup.rst_part import LinesOfPart
from semsearch.readers.markup.rst_tree import seen_text
from semsearch.readers.rst_parser import InlineParser


class VisibleLines:
    """The lines of one source text, of which the visible text can be asked."""

    def __init__(self, source: str, lines: list[str]) -> None:
        self._source = source
        self._lines = lines
        self._ends = [start + len(line) for start, line in zip(line_starts(source), lines, strict=False)]
        self._has_tabs = "\t" in source
        self._inliner = InlineParser()

    def text(self, part: LinesOfPart, start: int, end: int, length: int | None, *, is_code: bool) -> PlacedText | str:
        """The visible text of some lines, with its offsets unless docutils has to say it."""
        raw = self._placed(part, start, end)
        if raw is not None:
            raw = raw if length is None else raw.cut(0, length)
            if (visible := raw if is_code else visible_inline(raw)) is not None:
                return visible
        text = "\n".join(part.lines[start:end])[:length]
        if is_code:
            return text
        found, document = self._inliner.nodes(text)
        return "".join(seen_text(node, document) for node in found)

    def _placed(self, part: LinesOfPart, start: int, end: int) -> PlacedText | None:
        """Lines, each of which is the end of one in the source; nothing if one of those has tabs."""
        placed = PlacedText()
        for number in range(start, end):
            line, stop = part.lines[number], self._ends[part.first + number - 1]
            if self._has_tabs and "\t" in self._source[stop - len(self._lines[part.first + number - 1]) : stop]:
                return None
            placed.add(line if number + 1 == end else f"{line}\n", stop - len(line))
        return placed
