"""AsciiDoc: headings, paragraphs, lists, tables and the text of blocks; the attributes of its head are metadata.

Left out are comments, attribute lists, delimiters, macros that show nothing, and the marks of emphasis. Files are not
included, and conditions not decided: both branches are read.
"""

from __future__ import annotations

import re
from pathlib import PurePath

from semsearch.readers.document import Document, joined_cells
from semsearch.readers.placed_text import Emphasis, Placing

_HEADING = re.compile(r"(={1,6}|#{1,6})\s+(\S.*?)(?:\s\1)?\Z")
_ATTRIBUTE = re.compile(r":(!?[\w-]+!?):(.*)\Z")
_DELIMITER = re.compile(r"(-{4,}|\.{4,}|={4,}|\*{4,}|_{4,}|\+{4,}|/{4,}|--|```.*|[|,:!]={3,})\s*\Z")
_VERBATIM = ("-", ".", "`")
_DROPPED = ("+", "/")
_ATTRIBUTES = re.compile(r"\[[^\]]*\]\s*\Z|\[\[.*\]\]\s*\Z")
_LABEL = re.compile(r"\.([^\s.].*)\Z")
_NOTHING = re.compile(
    r"(?:include|ifdef|ifndef|ifeval|endif|toc|image|video|audio)::.*\Z|'{3,}\s*\Z|<{3,}\s*\Z|\+\s*\Z|//(?!/).*\Z"
)
_IMAGE = re.compile(r"image::[^\[]*\[\"?([^\],\"]*)")
_ITEM = re.compile(r"\s*(?:[*-]+|\.+|\d+\.|<[\d.]+>)\s+(?:\[[ xX*]\]\s+)?(?=\S)")
_TERM = re.compile(r"\s*(\S.*?)(?::{2,4}|;;)(?:\s+(.*))?\Z")
_LINK = re.compile(r"(?:link:|https?://|mailto:|xref:)[^\s\[\]]{0,2000}\[([^\]]{0,2000})\]")
_REFERENCE = re.compile(r"<<[^,<>]*(?:,([^<>]*))?>>")
_MACRO = re.compile(
    r"\b(?:footnote|kbd|btn|menu|stem|indexterm|anchor|image|icon|pass|term):[^\s\[\]]{0,2000}\[([^\]]{0,2000})\]"
)
_ROLE = re.compile(r"\[[.#%][^\]]{0,200}\](?=[*_`#])")
_EMPHASIS = Emphasis(re.compile(r"(?<![\w*_`#])[*_`#](?=\S)"), r"(?<=\S)", r"(?!\w)")
_IN_WORDS = Emphasis(re.compile(r"([*_`#])\1(?=\S)"), r"(?<=\S)", "")
_CELL = re.compile(r"(?<!\\)(?:\d{0,3}[.]?\d{0,3}[+*]?[<^>.]{0,3}[aehlmsv]?)\|")
_KEPT = {"author", "description", "keywords", "revdate", "lang"}


def read(source: str, name: str) -> Document:
    """Read an AsciiDoc text. Its title is its heading of level 1, else its name."""
    placing = Placing(source, clean)
    metadata: dict[str, str] = {}
    inside = ""  # the delimiter of the block that we are in and that is taken as it stands, or not at all
    table = False
    lines = placing.lines()
    for number, line in enumerate(lines):
        if inside:
            if line.rstrip() == inside:
                placing.end(number, verbatim=True)
                inside = ""
            elif not inside.startswith(_DROPPED):
                placing.gather(number, line)
        elif delimiter := _DELIMITER.match(line):
            placing.end(number)
            if "|" in delimiter[1]:
                table = not table
            elif delimiter[1].startswith((*_VERBATIM, *_DROPPED)) and delimiter[1] != "--":
                inside = "```" if delimiter[1].startswith("`") else delimiter[1]
        elif table:
            _take_row(placing, number, line)
        elif heading := _HEADING.match(line.rstrip()):
            placing.end(number)
            placing.add(clean(heading[2]), number, number + 1, level=len(heading[1]))
        elif attribute := _ATTRIBUTE.match(line):
            placing.end(number)
            if attribute[1] in _KEPT and (value := attribute[2].strip()):
                metadata.setdefault(attribute[1], value)
        elif image := _IMAGE.match(line):
            placing.end(number)
            placing.add(clean(image[1]), number, number + 1)
        elif not line.strip() or _ATTRIBUTES.match(line) or _NOTHING.match(line):
            placing.end(number)
        elif label := _LABEL.match(line):
            placing.end(number)
            placing.add(clean(label[1]), number, number + 1)
        elif item := _ITEM.match(line):
            placing.end(number)
            placing.gather(number, line[item.end() :])
        elif (term := _TERM.match(line)) and "://" not in line:
            placing.end(number)
            placing.add(clean(term[1]), number, number + 1)
            if term[2]:
                placing.gather(number, term[2])
        else:
            placing.gather(number, line.strip().removesuffix(" +"))
    placing.end(len(lines), verbatim=bool(inside))
    title = next((block.text for block in placing.blocks if block.level == 1), PurePath(name).stem)
    return Document(source, placing.blocks, "asciidoc", title, metadata)


def _take_row(placing: Placing, number: int, line: str) -> None:
    """Add the cells of a table's line as a block; a line without a new cell continues the last one."""
    if line.strip():
        placing.add(joined_cells(map(clean, _CELL.split(line))), number, number + 1)


def clean(text: str) -> str:
    """The visible text of a paragraph."""
    text = _REFERENCE.sub(lambda match: (match[1] or "").lstrip(), text)
    text = _MACRO.sub(lambda match: match[1], _LINK.sub(lambda match: match[1], text))
    text = _IN_WORDS.removed(_ROLE.sub("", text))
    for _ in range(2):  # *_both_*
        text = _EMPHASIS.removed(text)
    return text.strip()
