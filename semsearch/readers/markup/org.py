"""Org: headings, paragraphs, lists, tables and the text of blocks; #+KEYWORDS: are metadata.

Left out are comments, property drawers, planning lines, the marks of emphasis, the targets of links, and a heading's
state, priority and tags.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from semsearch.readers.document import Document, each_line_span, title_of
from semsearch.readers.placed_text import Paragraphs, PlacedText

_HEADING = re.compile(
    r"(\*+)\s+(?:(?:TODO|DONE|NEXT|WAITING|CANCELLED|CANCELED)\s+)?(?:\[#\w\]\s+)?(.*?)(?:\s:[\w@#%:]+:)?\s*\Z"
)
_KEYWORD = re.compile(r"\s*#\+(\w+):(.*)\Z")
_BEGIN = re.compile(r"\s*#\+begin_(\w+)", re.IGNORECASE)
_DRAWER = re.compile(r"\s*:(?:PROPERTIES|LOGBOOK):\s*\Z", re.IGNORECASE)
_UNSEEN = re.compile(  # comments, planning lines, rules, and blank lines
    r"\s*(?:#(?:\s|\+|\Z)|(?:DEADLINE|SCHEDULED|CLOSED|CLOCK):|(?:\|[-+|]*|-{5,})?\s*\Z)"
)
_ITEM = re.compile(r"\s*(?:[-+]|\s\*|\d+[.)])\s+(?:\[[ xX-]\]\s+)?")
_CELL = re.compile(r"[^|\r\n]+")
_LINK = re.compile(r"\[\[(?:[^\[\]]+\]\[)?([^\[\]]+)\]\]|\[fn:[^\]:]*\]()")
_OPENING = re.compile(r"(?<![\w*/_=~+])[*/_=~+](?=\S)")
_VERBATIM = {"src", "example", "export", "comment"}
_KEPT = {"title": "title", "author": "author", "date": "date", "keywords": "keywords", "filetags": "tags"}


def read(source: str, name: str) -> Document:
    """Read an Org text. Its title is #+TITLE, else its first heading of level 1, else its name."""
    metadata: dict[str, str] = {}
    paragraphs, ending = Paragraphs(source, clean), ""  # the line that ends the block or drawer that we are in

    for start, stop in each_line_span(source):
        line = source[start:stop].rstrip("\r\n")
        body = line.strip()
        if ending:
            if body.lower() == ending:
                paragraphs.end(is_code=True)
                ending = ""
            elif ending not in (":end:", "#+end_comment"):
                paragraphs.add(f"{line}\n", start)
            continue
        item, heading = _ITEM.match(line), _HEADING.match(line)
        begin, keyword = _BEGIN.match(line), _KEYWORD.match(line)
        is_verbatim = begin is not None and begin[1].lower() in _VERBATIM
        if heading or is_verbatim or keyword or item or body[:1] == "|" or _UNSEEN.match(line) or _DRAWER.match(line):
            paragraphs.end()
        if heading:
            paragraphs.add_block(heading[2], start + heading.start(2), level=min(len(heading[1]), 6))
        elif begin and is_verbatim:
            ending = f"#+end_{begin[1].lower()}"
        elif _DRAWER.match(line):
            ending = ":end:"
        elif keyword:
            if keyword[1].lower() in _KEPT and (value := keyword[2].strip()):
                metadata.setdefault(_KEPT[keyword[1].lower()], value)
        elif _UNSEEN.match(line):
            continue
        elif body[:1] == "|":
            text = PlacedText()
            text.add(line, start)
            paragraphs.add_row(text.cut(*match.span()) for match in _CELL.finditer(line))
        else:
            first = item.end() if item else len(line) - len(line.lstrip())
            paragraphs.add(f"{line[first:].rstrip()}\n", start + first)
    paragraphs.end(is_code=bool(ending))
    return Document(
        source, paragraphs.blocks, "org", title_of(name, metadata.get("title", ""), blocks=paragraphs.blocks), metadata
    )


def clean(text: PlacedText) -> PlacedText:
    """The visible text of a paragraph: links by what they show, without notes and the marks of emphasis."""
    text = without(text, _marks_of_links(text.text))
    return without(text, marks_of_emphasis(text.text, _OPENING)).stripped()


def without(text: PlacedText, spans: Iterable[tuple[int, int]]) -> PlacedText:
    """The text without some of its parts."""
    shown, last = PlacedText(), 0
    for start, end in spans:
        shown.add_all(text.cut(last, start))
        last = end
    shown.add_all(text.cut(last, len(text.text)))
    return shown if last else text


def _marks_of_links(text: str) -> Iterator[tuple[int, int]]:
    for link in _LINK.finditer(text):
        shown = link.span(1) if link[1] else (link.end(), link.end())
        yield link.start(), shown[0]
        yield shown[1], link.end()


def marks_of_emphasis(text: str, opening: re.Pattern[str]) -> Iterator[tuple[int, int]]:
    """The marks that belong together, in time by the length: one never closed is searched for once."""
    unclosed: set[str] = set()
    at = 0
    while begin := opening.search(text, at):
        at, mark = begin.end(), begin[0]
        closing = None if mark in unclosed else re.compile(rf"(?<=\S){re.escape(mark)}(?!\w)").search(text, at + 1)
        if closing:
            yield begin.span()
            yield closing.span()
            at = closing.end()
        else:
            unclosed.add(mark)
