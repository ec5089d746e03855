"""A document as every reader gives it: its source text, and the blocks that a person would read.

A block is one heading or one paragraph-like piece (paragraph, list item, table row, code block), in reading order. Its
text is clean (no markup). Where markup was taken away, `anchors` says where the clean characters come from, so that a
sentence can be found again in the file, to the character and the line.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

_LINE_END = re.compile(r"\r\n?|\n")
MAX_BYTES = 100_000_000  # of one file, unless told otherwise; a larger one is rarely prose


@dataclass(frozen=True, slots=True)
class Block:
    """One heading or paragraph. `start` is a character offset into `Document.source`."""

    text: str
    start: int
    level: int = 0  # 0: body; 1 to 6: a heading of that level
    page: int | None = None
    anchors: tuple[tuple[int, int], ...] = ()  # (offset in text, offset in source), rising; empty: text is a slice
    place: str | None = None  # in the document's own terms: "slide 3", "Sheet1!B7", "cell 4", "message 12"

    def source_offset(self, offset: int) -> int:
        """The place in the source of the character at `offset` of the clean text."""
        if not self.anchors:
            return self.start + offset
        following = bisect_right(self.anchors, (offset, 1 << 62))
        clean, source = self.anchors[max(0, following - 1)]
        place = source + max(0, offset - clean)
        return min(place, self.anchors[following][1]) if 0 < following < len(self.anchors) else place


@dataclass(frozen=True, slots=True)
class Document:
    """A file, or a text given to `Index.add`, before it is cut into passages."""

    source: str  # the decoded text as it stands in the file; line n is its n-th line
    blocks: Sequence[Block]
    format: str = "text"  # text, markdown, rst, html, ...
    title: str = ""
    metadata: Mapping[str, Any] = field(default_factory=dict)  # JSON values: front matter, <meta>, field lists


def line_starts(source: str) -> list[int]:
    """The offset at which each line begins, as an editor counts lines: they end with CRLF, LF or a lone CR."""
    return [0, *(end.end() for end in _LINE_END.finditer(source))]


@dataclass(frozen=True, slots=True)
class Text:
    """A document that is in no file. `metadata` and a non-empty `title` override what the text says of itself."""

    id: str
    text: str
    title: str = ""
    metadata: Mapping[str, Any] = field(default_factory=dict)
    format: str = "text"
