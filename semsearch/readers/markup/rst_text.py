"""What a reader sees of reStructuredText: the visible text of lines, inline markup and docutils' tree, with offsets.

Inline markup in its usual spellings is read here, with exact positions: ``literals``, *emphasis*, **strong**,
`references <x>`_, :roles:`text`, notes [1]_ and names_, each between ASCII characters that may be next to it. If
anything else in a paragraph could be markup, docutils reads all of it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from docutils import nodes
from docutils.parsers.rst import states

from semsearch.readers.document import joined_cells, line_starts
from semsearch.readers.markup.rst_parser import InlineParser, role_text
from semsearch.readers.placed_text import PlacedText


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


# -- Tables as lists ---------------------------------------------------------------------------------------------------

_TABLE_OPTION = re.compile(r":(header-rows|stub-columns|widths|align|class|width):( +|$)(.*)")
_WIDTHS = re.compile(r"[1-9]\d?(?:[ ,]+[1-9]\d?)*")
_ROW = re.compile(r"[*+-] [*+-]")
_ALIGNED = ("left", "center", "right")


def list_table(options: Sequence[str], rows: LinesOfPart) -> list[list[LinesOfPart]] | None:
    """The cells of a table that is written as a list of lists, each a part of its own; None if docutils has to say.

    It has to if an option is a rare one or rows differ in length.
    """
    said = {found[1]: found[3] for line in options if (found := _TABLE_OPTION.match(line))}
    found_rows = _rows(rows)
    if len(said) < len(options) or not found_rows or len({*map(len, found_rows)}) > 1:
        return None
    columns, widths = len(found_rows[0]), said.get("widths", "auto")
    counts = said.get("header-rows", "0"), said.get("stub-columns", "0")
    if not all(count.isdecimal() and count.isascii() for count in counts) or said.get("align", "left") not in _ALIGNED:
        return None
    are_widths = widths in ("auto", "grid") or (
        _WIDTHS.fullmatch(widths) and len(re.findall(r"\d+", widths)) == columns
    )
    is_known = are_widths and int(counts[0]) < len(found_rows) and int(counts[1]) < columns and "width" not in said
    return found_rows if is_known and said.get("class", "x").isalpha() else None


def _rows(part: LinesOfPart) -> list[list[LinesOfPart]] | None:
    """The cells of each row; None if anything else stands among them."""
    mark, cell_mark = "", ""
    found: list[list[LinesOfPart]] = []
    lines: list[str] = []  # of the last cell
    is_over = True  # no more lines can be of the last cell
    for number, line in enumerate(part.lines):
        if not line:
            lines.append("")
            continue
        if line[0] != " ":
            if (
                line[0] not in "*-+"
                or line[1:2] != " "
                or line[2:3] not in ("-", "*", "+")
                or line[0] != (mark or line[0])
            ):
                return None
            mark, cell_mark = line[0], line[2]
            found.append([])
        elif not found or not line.startswith("  "):
            return None
        if line[2:3] == cell_mark and line[3:4] in ("", " "):
            lines = [line[4:].lstrip(" ")]
            is_over = line[4:] != lines[0] or not lines[0]
            found[-1].append(LinesOfPart(lines, part.first + number))
        elif is_over or line[:4].strip() or line[4:5] == " ":
            return None
        else:
            lines.append(line[4:])
    return found


# -- docutils' tree ----------------------------------------------------------------------------------------------------

_ERROR = 3  # docutils' level from which the text in a message is nowhere else
_UNSEEN = (
    nodes.colspec,
    nodes.comment,
    nodes.decoration,
    nodes.label,
    nodes.meta,
    nodes.pending,
    nodes.raw,
    nodes.substitution_definition,
)

_LONGEST_SUBSTITUTION = 2_000  # characters of its definition
_MOST_SUBSTITUTED = 2_000_000  # characters of a document, and
_LEFT = "semsearch-left"  # how many of them are left, an attribute of its tree


@dataclass(frozen=True, slots=True)
class RstPiece:
    """A block before it is located. docutils knows the line of most, counted from 1; 0 if it does not."""

    text: str
    line: int
    level: int = 0
    placed: PlacedText | None = None  # the text, where its offsets are known


def take_header(tree: nodes.document) -> dict[str, str]:
    """Remove the field list before everything or right after the first title from the tree, and return its fields."""
    element: nodes.Element = tree
    for _ in range(2):
        for child in element.children:
            if isinstance(child, nodes.field_list):
                element.remove(child)
                return dict(_field(tree, field) for field in child.children)
            if isinstance(child, nodes.section):
                element = child
                break
            if not isinstance(child, (nodes.title, nodes.Invisible, nodes.system_message)):
                return {}
    return {}


def tree_pieces(tree: nodes.document) -> Iterator[RstPiece]:
    """All headings and paragraphs, in order."""
    return _pieces(tree, 0, tree)


def seen_text(node: nodes.Node, tree: nodes.document) -> str:
    """The visible text of a node."""
    if isinstance(node, nodes.Text):
        return str(node.astext())
    if isinstance(node, (nodes.system_message, *_UNSEEN)):
        return ""
    if isinstance(node, nodes.image):
        return str(node.get("alt", ""))
    if isinstance(node, nodes.substitution_reference):
        return _substituted(node, tree)
    between = "" if isinstance(node, nodes.TextElement) else "\n"
    text = between.join(filter(None, (seen_text(child, tree) for child in node.children)))
    return f"[{text}]" if text and isinstance(node, (nodes.footnote_reference, nodes.citation_reference)) else text


def piece(text: str, line: int, level: int = 0) -> Iterator[RstPiece]:
    """The piece of a text, if there is anything in it."""
    text = text.strip("\n").rstrip()
    if text and not text.isspace():
        yield RstPiece(text, line, level)


def _field(tree: nodes.document, field: nodes.Node) -> tuple[str, str]:
    name, body = field.children[0], field.children[1]
    return seen_text(name, tree), " ".join(seen_text(body, tree).split())


def _pieces(element: nodes.Element, level: int, tree: nodes.document) -> Iterator[RstPiece]:
    """Walk the pieces under an element; `level` is the depth of its section."""
    for child in element.children:
        if isinstance(child, _UNSEEN):
            continue
        if isinstance(child, nodes.system_message):
            if child["level"] >= _ERROR:
                for literal in child.findall(nodes.literal_block):
                    yield from piece(literal.astext(), child.get("line", 0))
        elif isinstance(child, nodes.title) and isinstance(element, nodes.section):
            title = " ".join(seen_text(child, tree).split())
            yield from piece(title, max((element.line or 0) - 1, 0), min(level, 6))  # docutils has the underline's
        elif isinstance(child, nodes.row):
            yield from piece(joined_cells(seen_text(cell, tree) for cell in child.children), _line(child))
        elif isinstance(child, nodes.field):
            yield from piece(": ".join(filter(None, _field(tree, child))), _line(child))
        elif isinstance(child, (nodes.TextElement, nodes.line_block, nodes.option_group, nodes.image)):
            yield from piece(seen_text(child, tree), _line(child))
        elif isinstance(child, nodes.Element):
            yield from _pieces(child, level + isinstance(child, nodes.section), tree)


def _substituted(reference: nodes.substitution_reference, tree: nodes.document) -> str:
    """The text that a |substitution| stands for; one that is unknown, or made of others, stands for itself.

    So does one that is long, and all of them once they have stood for very much text: three characters name each again.
    """
    name = reference["refname"]
    definition = tree.substitution_defs.get(tree.substitution_names.get(name.lower(), name))
    left = tree.get(_LEFT, _MOST_SUBSTITUTED)
    if (
        definition is None
        or len(definition.rawsource) > min(left, _LONGEST_SUBSTITUTION)
        or any(True for _ in definition.findall(nodes.substitution_reference))
    ):
        return str(reference.astext())
    text = "".join(seen_text(child, tree) for child in definition.children)
    tree[_LEFT] = left - len(text)
    return text


def _line(node: nodes.Node) -> int:
    """The line of a node, or of the first thing in it that knows its own."""
    while node.line is None and node.children:
        node = node.children[0]
    return node.line or 0


# -- Inline markup -----------------------------------------------------------------------------------------------------

_SPECIAL = re.compile(r"[*`|\\]|_(?!\w)")  # without these there is no markup in a paragraph
_NAME = states.Inliner.simplename
_MARKUP = re.compile(
    r"(?<![^\s'\"(\[{<\-/:])"
    r"(?:``(?=\S)(?P<literal>.*?\S)``"
    r"|\*\*(?=\S)(?P<strong>[^*]+)(?<=\S)\*\*"
    r"|\*(?=\S)(?P<emphasis>[^*]+)(?<=\S)\*"
    rf"|(?::(?P<role>{_NAME}):)?`(?=\S)(?P<quoted>[^`]+)(?<=\S)`(?P<reference>__?)?"
    rf"|(?P<note>\[(?:\d+|{_NAME})\])_"
    rf"|(?P<name>{_NAME})__?)"
    r"(?![^\s'\")\]}>\-/:.,;!?])",
    re.DOTALL,
)
_TARGET = re.compile(r"([^<>]+?)[ \n]+<[^<>]+>")
_QUOTED = {"''", '""', "()", "[]", "{}", "<>"}  # around a mark, they make it text


def visible_inline(raw: PlacedText) -> PlacedText | None:
    """The visible text of a paragraph; None if docutils has to read it."""
    text = raw.text
    if not _SPECIAL.search(text):
        return raw
    if "\\" in text:
        return None
    shown, last = PlacedText(), 0
    for found in _MARKUP.finditer(text):
        if _SPECIAL.search(text, last, found.start()):
            return None
        shown.add_all(raw.cut(last, found.start()))
        if not _take(found, raw, shown):
            return None
        last = found.end()
    if _SPECIAL.search(text, last):
        return None
    shown.add_all(raw.cut(last, len(text)))
    return shown


def _take(found: re.Match[str], raw: PlacedText, shown: PlacedText) -> bool:
    """Add the visible text of a match and return True; return False if it may not be markup after all."""
    kind = "quoted" if found["quoted"] else str(found.lastgroup)
    start, end = found.span(kind)
    text, mark = found.string, found.start()
    if kind not in ("note", "name") and mark and text[mark - 1] + text[start] in _QUOTED:
        return False
    if kind == "quoted":
        return _take_quoted(found, raw, shown)
    shown.add_all(raw.cut(start, end))
    return True


def _take_quoted(found: re.Match[str], raw: PlacedText, shown: PlacedText) -> bool:
    text, role, start = found["quoted"], found["role"], found.start("quoted")
    following = found.string[found.end() : found.end() + 2]
    if (role and found["reference"]) or (following[:1] == ":" and following[1:].strip()):
        return False  # an error; perhaps a role after the text
    if found["reference"]:
        titled = _TARGET.fullmatch(text)
        if not titled and ("<" in text or ">" in text):
            return False
        said = titled[1] if titled else text
    else:
        said = role_text((role or "").lower(), text)
        before, _, said = (
            said.rpartition(" ") if role in ("pep", "rfc") and not text.startswith(said) else ("", "", said)
        )
        if before:
            shown.add(f"{before} ", raw.source_offset(found.start("role")))
    at = text.rfind(said) if text[0] == "~" else text.find(said)
    if at < 0:
        return False
    shown.add_all(raw.cut(start + at, start + at + len(said)))
    return True


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
