"""Org: headings, paragraphs, lists, tables and the text of blocks; #+KEYWORDS: are metadata.

Left out are comments, property drawers, planning lines, the marks of emphasis, the targets of links, and a heading's
state, priority and tags.
"""

from __future__ import annotations

import re
from itertools import pairwise

from semsearch.readers.align import Aligner
from semsearch.readers.document import Block, Document, joined_cells, line_starts, title_of

_HEADING = re.compile(
    r"(\*+)\s+(?:(?:TODO|DONE|NEXT|WAITING|CANCELLED|CANCELED)\s+)?(?:\[#\w\]\s+)?(.*?)(?:\s:[\w@#%:]+:)?\Z"
)
_KEYWORD = re.compile(r"\s*#\+(\w+):(.*)\Z")
_BEGIN = re.compile(r"\s*#\+begin_(\w+)", re.IGNORECASE)
_DRAWER = re.compile(r"\s*:(?:PROPERTIES|LOGBOOK):\s*\Z", re.IGNORECASE)
_PLANNING = re.compile(r"\s*(?:DEADLINE|SCHEDULED|CLOSED|CLOCK):")
_COMMENT = re.compile(r"\s*#(?:\s|\+|\Z)")
_ITEM = re.compile(r"\s*(?:[-+]|\s\*|\d+[.)])\s+(?:\[[ xX-]\]\s+)?")
_RULE = re.compile(r"\s*(?:\|[-+|]*|-{5,})\s*\Z")
_LINK = re.compile(r"\[\[([^\[\]]+)\](?:\[([^\[\]]+)\])?\]")
_NOTE = re.compile(r"\[fn:[^\]:]*\]")
_OPENING = re.compile(r"(?<![\w*/_=~+])[*/_=~+](?=\S)")
_VERBATIM = {"src", "example", "export", "comment"}
_KEPT = {"title": "title", "author": "author", "date": "date", "keywords": "keywords", "filetags": "tags"}


def read(source: str, name: str) -> Document:
    """Read an Org text. Its title is #+TITLE, else its first heading of level 1, else its name."""
    placing = _Placing(source)
    metadata: dict[str, str] = {}
    inside = ""  # the block or drawer that we are in
    lines = placing.lines()
    for number, line in enumerate(lines):
        if inside:
            end = ":end:" if inside == "drawer" else f"#+end_{inside}"
            if line.strip().lower() == end:
                placing.end(number, verbatim=True)
                inside = ""
            elif inside not in ("drawer", "comment"):
                placing.gather(number, line)
        elif heading := _HEADING.match(line.rstrip()):
            placing.end(number)
            placing.add(clean(heading[2]), number, number + 1, level=min(len(heading[1]), 6))
        elif (begin := _BEGIN.match(line)) and begin[1].lower() in _VERBATIM:
            placing.end(number)
            inside = begin[1].lower()
        elif _DRAWER.match(line):
            placing.end(number)
            inside = "drawer"
        elif (keyword := _KEYWORD.match(line)) and keyword[1].lower() != "begin":
            placing.end(number)
            if keyword[1].lower() in _KEPT and (value := keyword[2].strip()):
                metadata.setdefault(_KEPT[keyword[1].lower()], value)
        elif not line.strip() or _COMMENT.match(line) or _PLANNING.match(line) or _RULE.match(line):
            placing.end(number)
        elif line.lstrip().startswith("|"):
            placing.end(number)
            placing.add(joined_cells(map(clean, line.strip().strip("|").split("|"))), number, number + 1)
        elif item := _ITEM.match(line):
            placing.end(number)
            placing.gather(number, line[item.end() :])
        else:
            placing.gather(number, line.strip())
    placing.end(len(lines), verbatim=bool(inside))
    title = title_of(name, metadata.get("title", ""), blocks=placing.blocks)
    return Document(source, placing.blocks, "org", title, metadata)


def clean(text: str) -> str:
    """The visible text of a paragraph."""
    return _without_emphasis(_NOTE.sub("", _LINK.sub(lambda match: match[2] or match[1], text))).strip()


def _without_emphasis(text: str) -> str:
    """The text without the marks that belong together, in time by its length: one never closed is searched for once."""
    parts: list[str] = []
    unclosed: set[str] = set()
    done = at = 0
    while match := _OPENING.search(text, at):
        at, mark = match.end(), match[0]
        closing = None if mark in unclosed else re.compile(rf"(?<=\S){re.escape(mark)}(?!\w)").search(text, at + 1)
        if closing:
            parts += [text[done : match.start()], text[at : closing.start()]]
            done = at = closing.end()
        else:
            unclosed.add(mark)
    return "".join([*parts, text[done:]])


class _Placing:
    """Collects the blocks of a source. Lines are counted from 0; a paragraph's lines are gathered until it ends."""

    def __init__(self, source: str) -> None:
        self.blocks: list[Block] = []
        self._source = source
        self._starts = [*line_starts(source), len(source)]
        self._aligner = Aligner(source)
        self._first = 0
        self._lines: list[str] = []

    def lines(self) -> list[str]:
        """The lines of the source, without their ends."""
        return [self._source[start:end].rstrip("\r\n") for start, end in pairwise(self._starts)]

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
            self.add(text if verbatim else clean(text), self._first, number)

    def add(self, text: str, first: int, last: int, *, level: int = 0) -> None:
        """Add a block with a clean text, which is in the lines from `first` to below `last`."""
        text = text.strip("\n").rstrip()
        if not text.strip():
            return
        start, end = self._starts[first], self._starts[min(last, len(self._starts) - 1)]
        at = self._source.find(text, start, end)
        anchors = self._aligner.locate(text, start, end) if at < 0 else ()
        self.blocks.append(Block(text, anchors[0][1] if anchors else at, level, anchors=anchors))
