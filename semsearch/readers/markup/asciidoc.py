"""AsciiDoc: headings, paragraphs, lists, tables and the text of blocks; attributes of the head are metadata.

Left out are comments, attribute lists, delimiters, index terms, macros that show nothing, and the marks of emphasis. A
reference without a text is shown by its target. No file is included, and both branches of a condition are read.
"""

from __future__ import annotations

import re

from semsearch.readers.document import Block, Document, each_line_span, title_of
from semsearch.readers.markup.org import marks_of_emphasis, without
from semsearch.readers.placed_text import Paragraphs, PlacedText

_HEADING = re.compile(r"(={1,6}|#{1,6})\s+(\S.*?)(?:\s\1)?\Z")
_UNDERLINES = "=-~^+"  # of titles of two lines, by their level
_ATTRIBUTE = re.compile(r":(!?[\w-]+!?):(?:\s(.*))?\Z")
_DELIMITER = re.compile(
    r"(-{4,}|\.{4,}|={4,}|\*{4,}|_{4,}|\+{4,}|/{4,}|~{4,}|\^{4,}|--|```|[|,:!]={3,})(?:(?<=```).*)?\Z"
)
_VERBATIM, _DROPPED = ("----", "....", "```"), ("++++", "////")
_UNSEEN = re.compile(  # lists of attributes, anchors, macros that show no text, rules, comments, and index terms
    r"(?:\[[^\]]*\]|\[\[.*\]\]|(?:include|ifn?def|ifeval|endif|toc|video|audio)::.*|'{3,}|<{3,}|\+|//(?!/).*|\(\(\(.*\)\)\))?\Z"
)
_LABEL = re.compile(r"\.([^\s.].*)|image::[^\[]{0,2000}\[([^\],]*)")  # the title of a block, or a picture's text
_ITEM = re.compile(r"(?:[*-]+|\.+|\d+\.|<[\d.]+>)\s+(?:\[[ xX*]\]\s+)?(?=\S)")
_TERM = re.compile(r"(\S.*?)(?::{2,4}|;;)(?:\s+|\Z)")
_CELL = re.compile(r"(?<!\\)(?:(?<!\S)[\d.+*<^>]{0,9}[aehlmsv]?)?\|")
_SHOWN = re.compile(  # what is shown by a part of it, or not at all
    r"<<(?:[^<>,#]{0,200}#)?([^<>,]{1,200})(?:,\s*([^<>]{1,500}))?>>"
    r"|(?:link:|xref:|mailto:)([^\s\[\]]{1,2000})\[([^\]]{0,2000})\]"
    r"|(?:https?://|\b(?:footnote|kbd|btn|menu|stem|image|icon|pass|term):)[^\s\[\]]{0,2000}\[([^\]]{1,2000})\]"
    r"|\(\(\([^()]{0,500}\)\)\)|\[\[[^\]]{0,200}\]\]|\[[\w.#%][^\]\s]{0,200}\](?=[*_`#]\S)|(?<=\S) \+$"
    r"|\(\(([^()]{1,500})\)\)",
    re.MULTILINE,
)
_OPENING = re.compile(r"(?<![\w*_`#\\])(?:\*\*?|__?|``?|##?)(?=\S)")
_KEPT = {"author", "description", "keywords", "revdate", "lang"}


def read(source: str, name: str) -> Document:
    """Read an AsciiDoc text. Its title is its heading of level 1, else its name."""
    reader = _AsciiDocReader(source)
    for start, stop in each_line_span(source):
        reader.take(source[start:stop].rstrip(), start, stop)
    blocks = reader.end()
    return Document(source, blocks, "asciidoc", title_of(name, blocks=blocks), reader.metadata)


class _AsciiDocReader:
    """Takes the lines of one source to its blocks."""

    def __init__(self, source: str) -> None:
        self.metadata: dict[str, str] = {}
        self._source = source
        self._paragraphs = Paragraphs(source, clean)
        self._row: list[PlacedText] = []
        self._inside = ""  # the delimiter of the block that is kept as it stands, or not at all
        self._is_table = False

    def end(self) -> list[Block]:
        """All blocks, after the last line."""
        self._paragraphs.end(is_code=bool(self._inside))
        self._end_row()
        return self._paragraphs.blocks

    def take(self, line: str, start: int, stop: int) -> None:
        """Take a line, without the white space at its end; the next one begins at `stop`."""
        if self._inside:
            if line == self._inside:
                self._paragraphs.end(is_code=True)
                self._inside = ""
            elif not self._inside.startswith(_DROPPED):
                self._paragraphs.add(f"{line}\n", start)
        elif _DELIMITER.match(line):
            self._delimit(line, stop)
        elif self._is_table:
            self._take_cells(line, start)
        else:
            self._take_text(line, start)

    def _delimit(self, line: str, stop: int) -> None:
        if _is_underline(line, self._paragraphs.text):
            self._paragraphs.end(level=_UNDERLINES.index(line[0]) + 1)
            return
        self._paragraphs.end()
        if "|" in line:
            self._end_row()
            self._is_table = not self._is_table
        elif line.startswith((*_VERBATIM, *_DROPPED)):
            closing = "```" if line.startswith("```") else line
            self._inside = closing if self._source.find(f"\n{closing}", stop - 1) >= 0 else ""  # else it is a rule

    def _take_cells(self, line: str, start: int) -> None:
        """A line of several cells is a row; cells on lines of their own are one until a blank line."""
        text, marks = PlacedText(), [*_CELL.finditer(line)]
        text.add(line, start)
        if len(marks) > 1:
            self._end_row()
        if line and self._row and not (marks and marks[0].start() == 0):  # the last cell goes on
            self._row[-1].add("\n", start)
            self._row[-1].add_all(text.cut(0, marks[0].start() if marks else len(line)))
        ends = [*(mark.start() for mark in marks[1:]), len(line)]
        self._row += [text.cut(mark.end(), last) for mark, last in zip(marks, ends, strict=False)]
        if len(marks) > 1 or not line:
            self._end_row()

    def _end_row(self) -> None:
        self._paragraphs.add_row(self._row)
        self._row = []

    def _take_text(self, line: str, start: int) -> None:
        body, paragraphs = line.lstrip(), self._paragraphs
        at = start + len(line) - len(body)
        if heading := _HEADING.match(line):
            paragraphs.add_block(heading[2], start + heading.start(2), level=len(heading[1]))
        elif attribute := _ATTRIBUTE.match(line):
            paragraphs.end()
            if attribute[1] in _KEPT and attribute[2]:
                self.metadata.setdefault(attribute[1], attribute[2].strip())
        elif _UNSEEN.match(line):
            paragraphs.end()
        elif label := _LABEL.match(line):
            paragraphs.add_block(label[1] or label[2], start + label.start(1 if label[1] else 2))
        elif item := _ITEM.match(body):
            paragraphs.end()
            paragraphs.add(f"{body[item.end() :]}\n", at + item.end())
        elif (term := _TERM.match(body)) and "://" not in body:
            paragraphs.end()
            paragraphs.add(term[1], at)
            paragraphs.text.add_unplaced(": ")
            if definition := body[term.end() :]:
                paragraphs.add(f"{definition}\n", at + term.end())
        else:
            paragraphs.add(f"{body}\n", at)


def _is_underline(line: str, paragraph: PlacedText) -> bool:
    """Whether a line makes a title of the one before it, which is all of the paragraph."""
    title = paragraph.text.removesuffix("\n")
    return line[0] in _UNDERLINES and "\n" not in title and abs(len(title) - len(line)) <= 1 < len(title)


def clean(text: PlacedText) -> PlacedText:
    """The visible text of a paragraph."""
    text = text.replaced(_SHOWN, _shown)
    for _ in range(2):  # *_both_*
        text = without(text, marks_of_emphasis(text.text, _OPENING))
    return text.stripped()


def _shown(match: re.Match[str]) -> str:
    """What is seen of a reference, a macro or an index term."""
    target, title, address, *texts = match.groups(default="")
    return next(filter(None, (title, *texts, address)), "") or target.lstrip("_").replace("_", " ").replace("-", " ")
