"""AsciiDoc: headings, paragraphs, lists, tables and the text of blocks; attributes of the head are metadata.

Left out are comments, attribute lists, delimiters, index terms, macros that show nothing, and the marks of emphasis. A
reference without a text is shown by its target. No file is included, and both branches of a condition are read.
"""

from __future__ import annotations

import re

from semsearch.readers.document import Block, Document, each_line_span, title_of
from semsearch.readers.markup.org import marks_of_emphasis, without
from semsearch.readers.placed_text import PlacedText, joined_row

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
_LABEL = re.compile(r"\.(?=[^\s.])|image::[^\[]{0,2000}\[")
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
    blocks: list[Block] = []
    metadata: dict[str, str] = {}
    paragraph, row = PlacedText(), list[PlacedText]()
    inside, is_table = "", False  # the delimiter of the block that is kept as it stands, or not at all

    def end(*, level: int = 0, is_code: bool = False) -> None:
        nonlocal paragraph
        body = paragraph.text.rstrip()
        text = paragraph.cut(len(body) - len(body.lstrip("\n")), len(body)) if is_code else clean(paragraph)
        if text.text.strip():
            blocks.append(text.block(source, level))
        paragraph = PlacedText()

    def end_row() -> None:
        nonlocal paragraph
        paragraph = joined_row(clean(cell) for cell in row)
        row.clear()
        end()

    for start, stop in each_line_span(source):
        line = source[start:stop].rstrip()
        body = line.lstrip()
        at = start + len(line) - len(body)
        delimiter = _DELIMITER.match(line)
        if inside:
            if line == inside:
                end(is_code=True)
                inside = ""
            elif not inside.startswith(_DROPPED):
                paragraph.add(f"{line}\n", start)
        elif delimiter and _is_underline(line, paragraph):
            end(level=_UNDERLINES.index(line[0]) + 1)
        elif delimiter:
            end()
            if "|" in line:
                end_row()
                is_table = not is_table
            elif line.startswith((*_VERBATIM, *_DROPPED)):
                closing = "```" if line.startswith("```") else line
                inside = closing if source.find(f"\n{closing}", stop - 1) >= 0 else ""  # else it is a rule
        elif is_table:
            text, marks = PlacedText(), [*_CELL.finditer(line)]
            text.add(line, start)
            if len(marks) > 1:
                end_row()
            if body and row and not (marks and marks[0].start() == 0):  # the last cell goes on
                row[-1].add("\n", start)
                row[-1].add_all(text.cut(0, marks[0].start() if marks else len(line)))
            ends = [*(mark.start() for mark in marks[1:]), len(line)]
            row += [text.cut(mark.end(), last) for mark, last in zip(marks, ends, strict=False)]
            if len(marks) > 1 or not body:
                end_row()
        elif heading := _HEADING.match(line):
            end()
            paragraph.add(heading[2], start + heading.start(2))
            end(level=len(heading[1]))
        elif attribute := _ATTRIBUTE.match(line):
            end()
            if attribute[1] in _KEPT and attribute[2]:
                metadata.setdefault(attribute[1], attribute[2].strip())
        elif _UNSEEN.match(line):
            end()
        elif label := _LABEL.match(line):
            end()
            paragraph.add(
                line[label.end() :].split("," if line[0] == "i" else "\n")[0].removesuffix("]"), start + label.end()
            )
            end()
        elif item := _ITEM.match(body):
            end()
            paragraph.add(f"{body[item.end() :]}\n", at + item.end())
        elif (term := _TERM.match(body)) and "://" not in body:
            end()
            paragraph.add(term[1], at)
            end()
            paragraph.add(f"{body[term.end() :]}\n", at + term.end())
        else:
            paragraph.add(f"{body}\n", at)
    end(is_code=bool(inside))
    end_row()
    return Document(source, blocks, "asciidoc", title_of(name, blocks=blocks), metadata)


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
