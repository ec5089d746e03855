"""reStructuredText: by its lines where it is written in the usual way, else by docutils' tree.

docutils compares each line with a dozen patterns in a machine of states for each level of nesting, which takes four
fifths of the time. Here sections, paragraphs, lists, quotes, definitions, literal blocks, footnotes, comments, targets
and code are recognised by the lines alone; docutils reads the markup within a paragraph, and by itself anything else
that stands between blank lines (a table, say, or a directive). What its surroundings do not decide (substitutions,
titles out of order) is `Unusual`: then docutils reads the whole. The pieces are those of docutils' tree:
tests/readers/test_rst.py compares them on generated texts.

The field list that a text begins with, or that follows its first title, is metadata (the headers of Python's PEPs are
one). Comments, targets, footnotes' labels and substitutions' definitions are left out; what docutils cannot parse (a
malformed table, say) is kept as it stands.
"""

from __future__ import annotations

import logging
import re
from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise
from pathlib import PurePath

from docutils import nodes
from docutils.parsers.rst import states
from docutils.utils import column_width

from semsearch.readers import text
from semsearch.readers.align import Aligner, Anchors
from semsearch.readers.document import Block, Document, gap, joined_cells, line_starts
from semsearch.readers.markup.rst_parser import LITERAL, MAIL_HEADER, parse, text_lines
from semsearch.readers.markup.rst_text import (
    LinesOfPart,
    RstPiece,
    VisibleLines,
    list_table,
    piece,
    seen_text,
    take_header,
    tree_pieces,
)
from semsearch.readers.placed_text import PlacedText

_BULLET, _ENUMERATOR, _FIELD, _LINE = (
    re.compile(states.Body.patterns[name]) for name in ("bullet", "enumerator", "field_marker", "line")
)
_OTHERS = [  # docutils' order matters
    (name, re.compile(states.Body.patterns[name]))
    for name in ("option_marker", "doctest", "line_block", "grid_table_top", "simple_table_top", "explicit_markup",
                 "anonymous", "line")
]  # fmt: skip
_MAIL_FIELD = re.compile(r"([!-9;-~]+):( +|$)")
_NUMBER = re.compile(r"(\(?)(\d+|#)([.)]) +")
_LITERAL_NEXT = re.compile(r"(?<!\\)(\\\\)*::$")
_ATTRIBUTION = re.compile(r"(---?(?!-)|\u2014) *(?=[^ \n])")
_NAME = states.Inliner.simplename
_LABEL = re.compile(rf"\[(\d+|#|#{_NAME}|\*|{_NAME})\]( +|$)")
_DIRECTIVE = re.compile(rf"\.\. +({_NAME}) ?::( +|$)")
_CODE = frozenset(LITERAL) - {"math"}  # of which the argument is text
_ADMONITIONS = frozenset("attention caution danger error hint important note tip warning".split())
_BORDER = re.compile("=+[ =]*$")
_LEAST_LINE = 4  # characters of a title's line that may be too short, and of a transition
_BEFORE_TITLE, _AFTER_TITLE, _PASSED = range(3)  # where the header's field list may be


class Unusual(Exception):  # never seen by a user: the whole text is read another way
    """Raised for markup that cannot be read from the lines alone."""


class RstLines:
    """One text. `pieces` and `metadata` are there after `read`, which raises Unusual."""

    def __init__(self, source: str) -> None:
        self.pieces: list[RstPiece] = []
        self.metadata: dict[str, str] = {}
        self._has_mail_header = bool(MAIL_HEADER.match(source))
        self._lines = text_lines(source)
        self._visible = VisibleLines(source, self._lines)
        self._styles: list[tuple[str, ...]] = []
        self._level = 0
        self._header = _BEFORE_TITLE

    def read(self) -> None:
        """Go through all lines."""
        if any("\0" in line for line in self._lines):  # docutils' own mark
            raise Unusual
        part = LinesOfPart(self._lines, 1, is_nested=False)
        start = 0
        if self._has_mail_header:
            start = next(place for place, line in enumerate(self._lines) if line)
            while start < len(self._lines) and self._lines[start]:
                start += 1
            self._take_mail_header(part, start)
        self._take_all(part, start)

    def _take_all(self, part: LinesOfPart, start: int = 0) -> None:
        while start < len(part.lines):
            start = self._take(part, start) if part.lines[start] else start + 1

    def _take(self, part: LinesOfPart, start: int) -> int:
        """The element that begins on a line that is not blank; the line after it."""
        line = part.lines[start]
        if line[0] == " ":
            return self._quote(part, start)
        if found := _BULLET.match(line):
            return self._item(part, start, found.end())
        if found := _ENUMERATOR.match(line):
            return self._numbered(part, start, found.end())
        if line[0].isalnum():
            return self._text(part, start)
        if _FIELD.match(line):
            return self._fields(part, start)
        kind = next((name for name, pattern in _OTHERS if pattern.match(line)), "text")
        if kind == "text":
            return self._text(part, start)
        if kind == "explicit_markup":
            return self._explicit(part, start)
        if kind == "line":
            return self._between_lines(part, start)
        return self._by_docutils(part, start, self._table_end(part, start) if kind == "simple_table_top" else None)

    def _add(
        self, part: LinesOfPart, start: int, end: int, *, length: int | None = None, is_code: bool = False
    ) -> None:
        """The text of some lines, or so many characters of it."""
        self._pass_header(part)
        self._add_piece(part, start, self._visible.text(part, start, end, length, is_code=is_code))

    def _add_piece(self, part: LinesOfPart, start: int, text: PlacedText | str, level: int = 0) -> None:
        if isinstance(text, str):
            self.pieces += piece(text, part.first + start, level)
            return
        body = text.text.rstrip()
        text = text.cut(len(body) - len(body.lstrip("\n")), len(body))
        if text.text:
            self.pieces.append(RstPiece(text.text, part.first + start, level, text))

    def _pass_header(self, part: LinesOfPart) -> None:
        if not part.is_nested:
            self._header = _PASSED

    # -- text -----------------------------------------------------------------------------------------------------

    def _text(self, part: LinesOfPart, start: int) -> int:
        """A paragraph, a title or a term."""
        lines, end = part.lines, start + 1
        if end < len(lines) and lines[end]:
            if lines[end][0] == " ":
                return self._definition(part, start)
            if _LINE.match(lines[end]) and self._is_title(lines[start], lines[end]):
                self._title(part, start, lines[end][:1])
                return end + 1
            while end < len(lines) and lines[end] and lines[end][0] != " ":
                end += 1
        text = "\n".join(lines[start:end])
        if text.endswith("::") and _LITERAL_NEXT.search(text):
            return self._before_literal(part, start, end, text)
        self._add(part, start, end)
        return end

    def _is_title(self, title: str, line: str) -> bool:
        return len(line) >= _LEAST_LINE or column_width(title) <= len(line)

    def _title(self, part: LinesOfPart, start: int, *style: str) -> None:
        if part.is_nested:
            raise Unusual
        if style not in self._styles:
            self._styles.append(style)
        level = self._styles.index(style) + 1
        if level > self._level + 1:
            raise Unusual
        self._level = level
        self._header = _AFTER_TITLE if self._header == _BEFORE_TITLE else _PASSED
        title = LinesOfPart([part.lines[start].strip()], part.first + start)
        visible = self._visible.text(title, 0, 1, None, is_code=False)
        visible = " ".join(visible.split()) if isinstance(visible, str) else visible.on_one_line()
        self._add_piece(title, 0, visible, min(level, 6))

    def _between_lines(self, part: LinesOfPart, start: int) -> int:
        """A title between two lines, or a line by itself."""
        lines = part.lines
        line, title, under = (*lines[start : start + 3], "", "")[:3]
        if not title and len(line) >= _LEAST_LINE and not part.is_nested:
            self._pass_header(part)
            return start + 1
        if title and line == under and not _LINE.match(title) and self._is_title(title, line):
            self._title(part, start + 1, line[0], line[0])
            return start + 3
        if len(line) < _LEAST_LINE:
            return self._text(part, start)
        raise Unusual

    def _before_literal(self, part: LinesOfPart, start: int, end: int, text: str) -> int:
        """A paragraph that ends with two colons, and the block that it announces."""
        following = end
        while following < len(part.lines) and not part.lines[following]:
            following += 1
        is_last = following == len(part.lines)
        if following == end and not is_last:
            return self._by_docutils(part, start)
        if not is_last and not (part.lines[following][0] == " " or part.lines[following][0].isalnum()):
            return self._by_docutils(part, start, part.after_block(following))  # perhaps a quoted block
        shown = "" if text == "::" else text[:-3].rstrip() if text[-3] in " \n" else text[:-1]
        if shown:
            self._add(part, start, end, length=len(shown))
        if is_last or part.lines[following][0] != " ":
            return following
        end = part.after_indented(following)
        code = part.within(following, end)
        self._add(code, 0, len(code.lines), is_code=True)
        return end

    def _definition(self, part: LinesOfPart, start: int) -> int:
        end = part.after_indented(start + 1)
        term = part.lines[start]
        if " : " in term or term.endswith("::"):
            return self._by_docutils(part, start, end)
        self._add(part, start, start + 1)
        self._take_all(part.within(start + 1, end))
        return end

    # -- lists and quotes -----------------------------------------------------------------------------------------

    def _item(self, part: LinesOfPart, start: int, indent: int) -> int:
        """An item whose text begins so many characters after its mark's."""
        lines, end = part.lines, start + 1
        if not lines[start][indent:]:
            return self._by_docutils(part, start)
        while end < len(lines) and not lines[end][:indent].strip(" "):
            end += 1
        self._pass_header(part)
        self._take_all(LinesOfPart([line[indent:] for line in lines[start:end]], part.first + start))
        return end

    def _numbered(self, part: LinesOfPart, start: int, indent: int) -> int:
        """An item of a numbered list, if the next line does not say otherwise."""
        following = part.lines[start + 1] if start + 1 < len(part.lines) else ""
        number = _NUMBER.match(part.lines[start])
        if not number:  # letters, Roman numerals
            return self._by_docutils(part, start)
        if following[:1].strip():
            before, ordinal, after = number.groups()
            counted = ordinal if ordinal == "#" else str(int(ordinal) + 1)
            if not following.startswith((f"{before}{counted}{after} ", f"{before}#{after} ")):
                return self._text(part, start)
        return self._item(part, start, indent)

    def _quote(self, part: LinesOfPart, start: int) -> int:
        end = part.after_indented(start)
        quote = part.within(start, end)
        if any(map(_ATTRIBUTION.match, quote.lines)):
            return self._by_docutils(part, start, end)
        self._pass_header(part)
        self._take_all(quote)
        return end

    # -- explicit markup ------------------------------------------------------------------------------------------

    def _explicit(self, part: LinesOfPart, start: int) -> int:
        """A comment, a target, a footnote or a directive."""
        line, end = part.lines[start], part.after_indented(start + 1)
        rest = line[2:].lstrip(" ")
        if not rest and (start + 1 >= len(part.lines) or not part.lines[start + 1]):
            return start + 1  # an empty comment has no more lines
        if rest[:1] == "|" and rest[1:2].strip():
            raise Unusual
        if rest[:1] == "_" and len(rest) > 1 and any(part.lines[start:end]) and _has_paragraphs(part.lines[start:end]):
            return self._by_docutils(part, start, end)
        if label := _LABEL.match(rest):
            self._pass_header(part)
            self._take_all(part.within(start + 1, end, before=rest[label.end() :]))
        elif (directive := _DIRECTIVE.match(line)) and not (
            self._code(part, start, end, directive)
            or self._admonition(part, start, end, directive)
            or self._list_table(part, start, end, directive)
        ):
            return self._by_docutils(part, start, end)
        return end

    def _admonition(self, part: LinesOfPart, start: int, end: int, directive: re.Match[str]) -> bool:
        """A note, a warning or the like; whether it is that, and has text and no options."""
        if directive[1].lower() not in _ADMONITIONS:
            return False
        argument, body = part.lines[start][directive.end() :], part.lines[start + 1 : end]
        first = body[: body.index("")] if "" in body else body
        if not (argument or any(body)) or any(line.lstrip().startswith(":") for line in (argument, *first)):
            return False
        self._pass_header(part)
        self._take_all(part.within(start + 1, end, before=argument))
        return True

    def _code(self, part: LinesOfPart, start: int, end: int, directive: re.Match[str]) -> bool:
        """Code after a language and options; whether it is that, and written as nearly everyone does."""
        code, argument = part.within(start + 1, end), part.lines[start][directive.end() :]
        blank = next((place for place, line in enumerate(code.lines) if not line), None)
        is_code = directive[1].lower() in _CODE and " " not in argument
        if blank is None or not is_code or not all(line.startswith(":") for line in code.lines[:blank]):
            return False
        while blank < len(code.lines) and not code.lines[blank]:
            blank += 1
        self._add(code, blank, len(code.lines), is_code=True)
        self._pass_header(part)
        return True

    def _list_table(self, part: LinesOfPart, start: int, end: int, directive: re.Match[str]) -> bool:
        """A table that is a list of lists; whether it is that, of cells that are paragraphs."""
        if directive[1].lower() != "list-table":
            return False
        inside, argument = part.within(start + 1, end), part.lines[start][directive.end() :]
        blank = next((place for place, line in enumerate(inside.lines) if not line), len(inside.lines))
        rows = list_table(inside.lines[:blank], LinesOfPart(inside.lines[blank:], inside.first + blank))
        texts = None if rows is None else [[self._cell(cell) for cell in row if any(cell.lines)] for row in rows]
        if rows is None or texts is None or any(text is None for row in texts for text in row):
            return False
        if argument:
            self._add(LinesOfPart([argument], part.first + start), 0, 1)
        self._pass_header(part)
        for row, said in zip(rows, texts, strict=True):
            self._add_piece(row[0], 0, _in_row(list(filter(None, said))))
        return True

    def _cell(self, cell: LinesOfPart) -> PlacedText | str | None:
        """The text of a table's cell; None if docutils reads it otherwise where it stands."""
        lines = cell.lines
        end = len(lines) - next(place for place, line in enumerate(reversed(lines)) if line)
        if _is_paragraph(lines[:end]):
            return self._visible.text(cell, 0, end, None, is_code=False)
        tree = parse("\n".join([*lines, ""]))
        if any(isinstance(child, (nodes.section, nodes.transition)) for child in tree.children):
            return None
        return "\n".join(filter(None, (seen_text(child, tree) for child in tree.children)))

    # -- what docutils reads --------------------------------------------------------------------------------------

    def _fields(self, part: LinesOfPart, start: int) -> int:
        """A list of fields, which may be the header."""
        end = part.after_block(start)
        if part.is_nested or self._header == _PASSED:
            return self._by_docutils(part, start, end)
        while end < len(part.lines) and _FIELD.match(part.lines[end]):
            end = part.after_block(end)
        self._take_header(part, start, end)
        return end

    def _take_header(self, part: LinesOfPart, start: int, end: int) -> None:
        tree = parse("\n".join([*part.lines[start:end], ""]))
        self.metadata = take_header(tree)
        self._take_tree(tree, part, start)
        self._header = _PASSED

    def _take_mail_header(self, part: LinesOfPart, end: int) -> None:
        """The fields of the first lines; what each says is read as anything else."""
        start = next(number for number, line in enumerate(part.lines) if line)
        while start < end:
            field, following = _MAIL_FIELD.match(part.lines[start]), start + 1
            if not field:
                raise Unusual
            while following < end and part.lines[following][0] == " ":
                following += 1
            self._take_all(part.within(start + 1, following, before=part.lines[start][field.end() :]))
            self.metadata[field[1]] = " ".join(" ".join(each.text for each in self.pieces).split())
            self.pieces.clear()
            start = following
        self._header = _PASSED

    def _by_docutils(self, part: LinesOfPart, start: int, end: int | None = None) -> int:
        """An element that stands by itself, up to a line or else to where the next can begin."""
        end = part.after_block(start) if end is None else end
        last = next((line for line in reversed(part.lines[start:end]) if line), "")
        if last.endswith("::") and end < len(part.lines) and not part.lines[end][0].isalnum():
            raise Unusual  # the block that it announces may be quoted
        tree = parse("\n".join([*part.lines[start:end], ""]))
        if not all(isinstance(child, (nodes.Invisible, nodes.system_message)) for child in tree.children):
            self._pass_header(part)
        self._take_tree(tree, part, start)
        return end

    def _take_tree(self, tree: nodes.document, part: LinesOfPart, start: int) -> None:
        if any(isinstance(child, (nodes.section, nodes.transition)) for child in tree.children):
            raise Unusual  # by itself it may be one, but not where it stands
        shift = part.first + start - 1
        self.pieces += (replace(each, line=each.line + shift if each.line else 0) for each in tree_pieces(tree))

    def _table_end(self, part: LinesOfPart, start: int) -> int:
        """Where a simple table ends, which may have blank lines in it: at the third border, or one before a blank."""
        width, borders = len(part.lines[start]), 0
        for place in range(start + 1, len(part.lines)):
            line = part.lines[place]
            if _BORDER.match(line):
                borders += 1
                if len(line.strip()) != width:
                    raise Unusual
                if borders == 2 or place + 1 == len(part.lines) or not part.lines[place + 1]:
                    return place + 1
        raise Unusual


def _in_row(cells: Sequence[PlacedText | str]) -> PlacedText | str:
    """The cells of a row, with its offsets unless docutils has read one."""
    placed = [cell.on_one_line() for cell in cells if isinstance(cell, PlacedText)]
    if len(placed) < len(cells):
        return joined_cells(cell if isinstance(cell, str) else cell.text for cell in cells)
    row, last = PlacedText(), ""
    for cell in placed:
        if row and cell:
            row.add_unplaced(gap(last))
        row.add_all(cell)
        last = cell.text or last
    return row


def _is_paragraph(lines: Sequence[str]) -> bool:
    """Tell whether the lines of a table's cell are one paragraph."""
    marks = (_BULLET, _ENUMERATOR, _FIELD, *(pattern for _, pattern in _OTHERS))
    return not (
        any(pattern.match(lines[0]) for pattern in marks)
        or any(not line or line[0] == " " or _LINE.match(line) for line in lines)
        or lines[-1].endswith("::")
    )


def _has_paragraphs(lines: Sequence[str]) -> bool:
    """Tell whether a line with text follows a blank line."""
    return any(line and not before for before, line in pairwise(lines))


# -- Reader ------------------------------------------------------------------------------------------------------------

_LOG = logging.getLogger(__name__)
_BLANK = re.compile(r"\n[ \t]*\n")
_MARK = re.compile(r"(?<!\S)[|*`]+(?=\S)|[:_]`(?=\S)")  # that may begin inline markup
_MOST_STEPS = 200_000_000  # some seconds
_SHORT = 10_000  # characters: a paragraph of fewer takes no long time


def read(source: str, name: str) -> Document:
    """Read a reStructuredText. Its title is the field "title", else the first section's, else its name."""
    try:
        pieces, metadata = _read(source)
    except Exception as error:  # a fault in docutils, or its depth of recursion, must not cost the file
        _LOG.warning("%s: read as plain text, since docutils failed: %r", name, error)
        plain = text.read(source, name)
        return Document(source, plain.blocks, "rst", plain.title)
    titles = [value for key, value in metadata.items() if key.lower() == "title" and value]
    titles += [piece.text for piece in pieces if piece.level == 1]
    return Document(source, _placed(pieces, source), "rst", [*titles, PurePath(name).stem][0], metadata)


def _read(source: str) -> tuple[list[RstPiece], dict[str, str]]:
    """By the lines, or else all of it by docutils."""
    if _is_endless(source):
        raise ValueError("a paragraph has more marks than can be paired")
    lines = RstLines(source)
    try:
        lines.read()
    except Unusual:
        tree = parse(source)
        metadata = take_header(tree)
        return list(tree_pieces(tree)), metadata
    return lines.pieces, lines.metadata


def _is_endless(source: str) -> bool:
    """Return whether looking for the end of each mark in the rest of its paragraph would take longer than one waits."""
    return any(
        len(paragraph) * len(_MARK.findall(paragraph)) > _MOST_STEPS
        for paragraph in _BLANK.split(source)
        if len(paragraph) > _SHORT
    )


def _placed(pieces: list[RstPiece], source: str) -> list[Block]:
    """Locate each piece, between its own line and that of the next piece on a later line."""
    starts = [*line_starts(source), len(source)]
    ends: list[int] = []
    line = next_line = len(starts)
    for each in reversed(pieces):
        if 0 < each.line < line:
            line, next_line = each.line, line
        ends.append(starts[next_line - 1] if each.line == line else len(source))
    aligner = Aligner(source)
    blocks: list[Block] = []
    reached = 0
    for each, end in zip(pieces, reversed(ends), strict=True):
        if each.placed is not None:
            blocks.append(each.placed.block(source, each.level))
            reached = blocks[-1].source_offset(len(each.text))
            continue
        low = starts[each.line - 1] if 0 < each.line < len(starts) else reached
        verbatim = source.find(each.text, low, end)
        anchors = _by_line(each.text, source, low, end) or aligner.locate(each.text, low, end) if verbatim < 0 else ()
        block = Block(each.text, anchors[0][1] if anchors else verbatim, each.level, anchors=anchors)
        blocks.append(block)
        reached = block.source_offset(len(block.text))
    return blocks


def _by_line(text: str, source: str, low: int, high: int) -> Anchors:
    """Anchors of a text that is in the source but for the indentation of its lines; else none."""
    anchors: list[tuple[int, int]] = []
    offset, at = 0, low
    for line in text.split("\n"):
        found = source.find(line, at, high)
        if found < 0 or (anchors and not source[at:found].isspace()):
            return ()
        if line and (not anchors or found - anchors[-1][1] != offset - anchors[-1][0]):
            anchors.append((offset, found))
        offset, at = offset + len(line) + 1, found + len(line)
    return tuple(anchors)
