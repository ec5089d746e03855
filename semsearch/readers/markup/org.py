"""Org: headings, paragraphs, lists, tables and the text of blocks; #+KEYWORDS: are metadata.

Left out are comments, property drawers, planning lines, the marks of emphasis, the targets of links, and a heading's
state, priority and tags.
"""

from __future__ import annotations

import re
from pathlib import PurePath

from semsearch.readers.document import Document, joined_cells
from semsearch.readers.placed_text import Emphasis, Placing

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
_EMPHASIS = Emphasis(re.compile(r"(?<![\w*/_=~+])[*/_=~+](?=\S)"), r"(?<=\S)", r"(?!\w)")
_VERBATIM = {"src", "example", "export", "comment"}
_KEPT = {"title": "title", "author": "author", "date": "date", "keywords": "keywords", "filetags": "tags"}


def read(source: str, name: str) -> Document:
    """Read an Org text. Its title is #+TITLE, else its first heading of level 1, else its name."""
    placing = Placing(source, clean)
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
    titles = [metadata.get("title", ""), *(block.text for block in placing.blocks if block.level == 1)]
    return Document(source, placing.blocks, "org", next(filter(None, titles), PurePath(name).stem), metadata)


def clean(text: str) -> str:
    """The visible text of a paragraph."""
    text = _NOTE.sub("", _LINK.sub(lambda match: match[2] or match[1], text))
    return _EMPHASIS.removed(text).strip()
