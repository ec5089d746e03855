"""Documents as all readers return them: the source text, and the blocks that a person would read.

A block is one heading or one paragraph-like piece (paragraph, list item, table row, code block), in reading order. Its
text is clean (no markup). Where markup was removed, `anchors` map the clean characters to the source, so that a
sentence can be found again in the file, to the character and the line.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from operator import itemgetter
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from semsearch.results.state.problems import Omission

_LINE_END = re.compile(r"\r\n?|\n")


class Spot(NamedTuple):
    """The page and place of a block's text from an offset on, until the next spot."""

    offset: int  # in the block's text
    page: int | None
    place: str | None


@dataclass(frozen=True, slots=True)
class Block:
    """A heading or paragraph. `start` is a character offset into `Document.source`.

    A heading without text ends the sections of its level and below: the blocks after it are under none of them.
    """

    text: str
    start: int
    level: int = 0  # 0: body; 1 to 6: a heading of that level
    page: int | None = None
    anchors: tuple[tuple[int, int], ...] = ()  # (offset in text, offset in source), rising; empty: text is a slice
    place: str | None = None  # in the document's own terms: "slide 3", "Sheet1!B7", "cell 4", "message 12"
    part: str | None = None  # no passage extends beyond it: the slide or the message, not a table's row
    spots: tuple[Spot, ...] = ()  # rising, the first for offset 0; empty: all of it is at `page` and `place`
    metadata: Mapping[str, Any] | None = None  # JSON values: the chosen columns of the block's record

    def page_at(self, offset: int) -> int | None:
        """The page of the character at `offset` of the text."""
        return self._spot(offset).page if self.spots else self.page

    def place_at(self, offset: int) -> str | None:
        """The place of the character at `offset` of the text."""
        return self._spot(offset).place if self.spots else self.place

    def _spot(self, offset: int) -> Spot:
        return self.spots[max(0, bisect_right(self.spots, offset, key=itemgetter(0)) - 1)]

    def source_offset(self, offset: int) -> int:
        """The offset in the source of the character at `offset` of the clean text."""
        return mapped_by(self.anchors, offset) if self.anchors else self.start + offset


def mapped_by(anchors: Sequence[tuple[int, int]], offset: int) -> int:
    """The offset in the source of the character at `offset` of a clean text. There is one anchor at least."""
    following = bisect_right(anchors, (offset, 1 << 62))
    clean, source = anchors[max(0, following - 1)]
    found = source + max(0, offset - clean)
    return min(found, anchors[following][1]) if 0 < following < len(anchors) else found


@dataclass(frozen=True, slots=True)
class Document:
    """A file that was read, or a text given to `Index.add`, before it is divided into passages."""

    source: str  # the decoded text as it stands in the file; line n is its n-th line
    blocks: Sequence[Block]
    format: str = "text"  # text, markdown, rst, html, ...
    title: str = ""
    metadata: Mapping[str, Any] = field(default_factory=dict)  # JSON values: front matter, <meta>, field lists
    omissions: tuple[Omission, ...] = ()  # parts of the file that are not in it, or may be wrong
    columns: tuple[str, ...] = ()  # names of the columns of a table or of records


def line_starts(source: str) -> list[int]:
    """The offset at which each line begins, as an editor counts lines: they end with CRLF, LF or a lone CR."""
    return [0, *(end.end() for end in _LINE_END.finditer(source))]


@dataclass(frozen=True, slots=True)
class Text:
    """A document that is in no file. `metadata` and a non-empty `title` override those found in the text."""

    id: str
    text: str
    title: str = ""
    metadata: Mapping[str, Any] = field(default_factory=dict)
    format: str = "text"
