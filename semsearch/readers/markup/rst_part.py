"""A part of a reStructuredText document: its lines, without their indentation."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class LinesOfPart:
    """Lines of the document, or of something in it, without their indentation."""

    lines: Sequence[str]
    first: int  # its number in the document
    is_nested: bool = True

    def after_indented(self, start: int) -> int:
        """The next line that is neither blank nor indented."""
        while start < len(self.lines) and (not self.lines[start] or self.lines[start][0] == " "):
            start += 1
        return start

    def after_block(self, start: int) -> int:
        """The next line that is not indented, after a blank one."""
        start += 1
        while start < len(self.lines) and (
            not self.lines[start] or self.lines[start][0] == " " or self.lines[start - 1]
        ):
            start += 1
        return start

    def within(self, start: int, end: int, before: str | None = None) -> LinesOfPart:
        """Indented lines as a part of its own; `before` stands on the line before them, after a mark."""
        lines = self.lines[start:end]
        indent = min((len(line) - len(line.lstrip(" ")) for line in lines if line), default=0)
        lines = [line[indent:] for line in lines]
        return (
            LinesOfPart(lines, self.first + start)
            if before is None
            else LinesOfPart([before, *lines], self.first + start - 1)
        )
