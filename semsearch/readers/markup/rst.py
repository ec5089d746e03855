"""reStructuredText, Sphinx's too, as its reader sees it: headings, paragraphs, list items, rows of tables, code.

The field list that a text begins with, or that follows its first title, is metadata, as are the headers of Python's
PEPs. Comments, targets, labels of footnotes and definitions of substitutions are left out; where one is used, its name
is read. An unknown directive gives its argument and its content, every role the text that is seen. No file is included,
and no raw output kept.

The elements are told from their first lines, as docutils does; a line is known by its indentation, its text, and where
that stands in the source, so all places are exact. What is not marked up properly is text.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import NamedTuple

from semsearch.readers import text as plain_text
from semsearch.readers.document import Block, Document, each_line_span, title_of
from semsearch.readers.placed_text import PlacedText, joined_row

_LABELS = {
    "versionadded": "Added in version ",
    "versionchanged": "Changed in version ",
    "deprecated": "Deprecated since version ",
    "versionremoved": "Removed in version ",
}
_LITERAL = frozenset(  # directives of which the content is kept as it stands
    "code code-block sourcecode math productionlist doctest testcode testoutput prompt console ipython "
    "graphviz digraph graph mermaid uml plantuml json jsonschema".split()
)
_CONTENT_ONLY = frozenset(  # without arguments: of a tab, its name stood between "like so:" and the code
    "class rst-class cssclass only ifconfig container compound figure image tab group-tab tab-item".split()
)
_DESCRIPTIONS = frozenset("option envvar confval describe".split())  # directives that define what they name
_LONGEST_TERM = 100  # characters of a term that its definition follows in the same block
_DROPPED = frozenset(
    "contents sectnum section-numbering raw include literalinclude role default-role highlight meta title header "
    "footer target-notes toctree index tabularcolumns currentmodule py:currentmodule".split()
)


class _Line(NamedTuple):
    """A line: the columns before its text, more than those of the element that it is in, and the text's offset."""

    indent: int
    text: str
    offset: int


_Lines = list[_Line]


def read(source: str, name: str) -> Document:
    """Read a reStructuredText. Its title is the field "title", else the first section's, else its name."""
    lines = list(_lines(source))
    reader = _RstReader(source)
    if header := _MAIL_HEADER.match(source):
        reader.metadata = {key: " ".join(value.split()) for key, value in _MAIL_FIELD.findall(header[0])}
        lines = [line for line in lines if line.offset >= header.end()]
    try:
        reader.take(lines, is_top=True)
    except RecursionError:  # nested too deeply
        plain = plain_text.read(source, name)
        return Document(source, plain.blocks, "rst", plain.title)
    titles = [value for key, value in reader.metadata.items() if key.lower() == "title" and value]
    return Document(source, reader.blocks, "rst", title_of(name, *titles, blocks=reader.blocks), reader.metadata)


def _lines(source: str) -> Iterator[_Line]:
    for start, end in each_line_span(source):
        body = source[start:end].rstrip()
        text = body.lstrip()
        space = body[: len(body) - len(text)]
        yield _Line(len(space.expandtabs()) if "\t" in space[:1000] else len(space), text, start + len(space))


def _is_name(arguments: _Lines, content: _Lines) -> bool:
    """Whether a directive is nothing but a name, which stands for what is made from elsewhere: ".. automodule:: os"."""
    has_content = any(line.text for line in content)
    return not has_content and len(arguments) == 1 and re.fullmatch(r"[\w.-]+", arguments[0].text) is not None


def _part(lines: Sequence[_Line]) -> _Lines:
    """Indented lines as a part of its own."""
    margin = min((line.indent for line in lines if line.text), default=0)
    return [_Line(max(line.indent - margin, 0), line.text, line.offset) for line in lines]


def _after(line: _Line, characters: int) -> _Line:
    """The text after a mark on a line."""
    return _Line(0, line.text[characters:], line.offset + characters)


_END = _Line(0, "", 0)  # of a part: it ends with a blank line


def _is_line(line: _Line) -> bool:
    """Whether a line is one of a single sign, as under titles."""
    return not line.indent and bool(_ADORNMENT.match(line.text))


def _indented_end(lines: Sequence[_Line], start: int) -> int:
    """The number of the first line from `start` on that is neither blank nor indented."""
    while start < len(lines) and (lines[start].indent or not lines[start].text):
        start += 1
    return start


def _stretch_end(lines: Sequence[_Line], start: int) -> int:
    """The number of the first line after `start` that is blank or indented."""
    start += 1
    while start < len(lines) and lines[start].text and not lines[start].indent:
        start += 1
    return start


# -- Elements ----------------------------------------------------------------------------------------------------------

_NAME = r"(?:(?!_)\w){1,200}(?:[-._+:](?:(?!_)\w){1,200}){0,20}"
_NUMBER = r"(?:\d{1,9}|#|[a-zA-Z]|[ivxlcdm]{1,9}|[IVXLCDM]{1,9})"
_BULLET = re.compile(r"[-+*•‣⁃](?:\s+|\Z)")
_ENUMERATOR = re.compile(rf"(?:\(?{_NUMBER}\)|{_NUMBER}\.)(?:\s+|\Z)")
_FIELD = re.compile(r":(?![: ])((?:[^:\\]|\\.|:(?![ `]|\Z))*+)(?<! ):(?:\s+|\Z)")
_ADORNMENT = re.compile(r"([!-/:-@\[-`{-~])\1*\Z")
_EXPLICIT = re.compile(r"\.\.(?:\s+|\Z)")
_TARGET = re.compile(r"_(?:_:|`[^`]+`:|[^\s:].*?(?<!\\):)(?:\s|\Z)")
_FOOTNOTE = re.compile(rf"\[(?:\d+|#(?:{_NAME})?|\*|{_NAME})\](?:\s+|\Z)")
_SUBSTITUTION = re.compile(r"\|(?=\S)[^|]{1,200}\|\s+")
_DIRECTIVE = re.compile(rf"({_NAME}) ?::(?:\s+|\Z)")
_GRID = re.compile(r"\+-[-+]+-\+\Z")
_SIMPLE_TABLE = re.compile(r"=+(?: +=+)+\Z")
_MAIL_HEADER = re.compile(r"\s*(?:[A-Za-z][\w-]*:(?: .*)?(?:\r\n?|\n)(?:[ \t]+\S.*(?:\r\n?|\n))*){2,}(?:\s|\Z)")
_MAIL_FIELD = re.compile(r"^([A-Za-z][\w-]*):(.*(?:\n[ \t]+\S.*)*)", re.MULTILINE)
_LEAST = 4  # characters of a title's line that may be shorter than the title, and of a line across the page


class _RstReader:
    """Takes the elements of one source to its blocks."""

    def __init__(self, source: str) -> None:
        self.blocks: list[Block] = []
        self.metadata: dict[str, str] = {}
        self._source = source
        self._styles: list[str] = []  # of titles, by level
        self._may_begin = True  # with a field list: nothing but a title has been read
        self._term: PlacedText | None = None  # that the next paragraph defines

    def take(self, lines: _Lines, *, is_top: bool = False) -> None:
        """Take all elements of a part."""
        start, lines = 0, [*lines, _END]
        while start < len(lines):
            start = self._element(lines, start, is_top=is_top) if lines[start].text else start + 1

    def _element(self, lines: _Lines, start: int, *, is_top: bool) -> int:
        """Take the element that begins on a line that is not blank; the number of the line after it."""
        line, text, following = lines[start], lines[start].text, lines[start + 1]
        if line.indent:
            end = _indented_end(lines, start)
            self.take(_part(lines[start:end]))
            return end
        if is_top and _is_line(following) and len(following.text) >= min(_LEAST, len(text)) and not _is_line(line):
            self._title(line, following.text[0])
            return start + 2
        if text[0].isalnum() and not _ENUMERATOR.match(text):
            return self._text(lines, start)
        if mark := _EXPLICIT.match(text):
            return self._explicit(lines, start, mark.end())
        if text == "__" or text.startswith("__ "):
            return _indented_end(lines, start + 1)
        mark = _BULLET.match(text) or _ENUMERATOR.match(text)
        if mark and (
            text[0] in "-+*•‣⁃" or following.indent or not following.text or _ENUMERATOR.match(following.text)
        ):
            self._end_term()
            end = _indented_end(lines, start + 1)
            margin = min((item.indent for item in lines[start + 1 : end] if item.text), default=0)
            first = _after(line, mark.end())._replace(indent=min(mark.end(), margin))
            self.take(_part([first, *lines[start + 1 : end]]))
            return end
        if mark := _FIELD.match(text):
            return self._field(lines, start, mark)
        if text.startswith(">>>"):
            end = next(number for number in range(start, len(lines)) if not lines[number].text)
            self._literal(lines[start:end])
            return end
        if text.startswith("| ") or text == "|":
            return self._line_block(lines, start)
        if _GRID.match(text):
            end = _stretch_end(lines, start)
            self._grid(lines[start:end])
            return end
        if _SIMPLE_TABLE.match(text):
            return self._simple_table(lines, start)
        if is_top and _is_line(line) and following.text and _is_line(lines[start + 2]):
            self._title(following, text[0] * 2)
            return start + 3
        if _is_line(line) and len(text) >= _LEAST and not following.text:
            return start + 1
        return self._text(lines, start)

    def _field(self, lines: _Lines, start: int, mark: re.Match[str]) -> int:
        end = _indented_end(lines, start + 1)
        value = self._seen([_after(lines[start], mark.end()), *lines[start + 1 : end]]).on_one_line()
        row = self._seen([_Line(0, mark[1], lines[start].offset + 1)])
        if self._may_begin:
            self.metadata[mark[1]] = value.text
            return end
        if value.text:
            if row.text:
                row.add_unplaced(": ")
            row.add_all(value)
        self._add(row)
        return end

    def _explicit(self, lines: _Lines, start: int, mark: int) -> int:
        """Take what begins with "..": a directive or footnote; others are not seen."""
        line, end = _after(lines[start], mark), _indented_end(lines, start + 1)
        if not line.text and not lines[start + 1].text:
            return start + 1
        body = _part(lines[start + 1 : end])
        if _TARGET.match(line.text) or _SUBSTITUTION.match(line.text):
            return end
        if label := _FOOTNOTE.match(line.text):
            self.take([_after(line, label.end()), *body])
        elif directive := _DIRECTIVE.match(line.text):
            self._directive(directive[1].lower(), _after(line, directive.end()), body)
        return end

    def _directive(self, name: str, first: _Line, lines: _Lines) -> None:
        is_literal = name in _LITERAL
        arguments, at = ([first] if first.text else []), 0
        while at < len(lines) and lines[at].text and not _FIELD.match(lines[at].text) and (arguments or not is_literal):
            arguments.append(lines[at])
            at += 1
        options, option = dict[str, _Lines](), list[_Line]()
        while at < len(lines) and lines[at].text and (lines[at].indent or (mark := _FIELD.match(lines[at].text))):
            if not lines[at].indent and mark:
                option = options[mark[1]] = [_after(lines[at], mark.end())]
            else:
                option.append(lines[at])
            at += 1
        content = _part(lines[at:])
        if name in _DROPPED:
            return
        if is_literal:
            self._literal([*(arguments if name == "math" else ()), *content])
            return
        if name in ("figure", "image") and (alternative := options.get("alt")):
            self._add(self._seen(alternative))
        if arguments and arguments[-1].text.endswith("::"):
            content = [*arguments, *lines[at:]]
        elif name in _DESCRIPTIONS and arguments:
            self._define(self._seen(arguments), content)
            return
        elif name in _LABELS or (arguments and name not in _CONTENT_ONLY and not _is_name(arguments, content)):
            self._add(self._seen(arguments, _LABELS.get(name, "")))
        if name == "list-table":
            for row in _items(content):
                self._row(_items(row))
        elif name == "csv-table":
            self._literal([*options.get("header", ()), *content])
        else:
            self.take(content)

    def _line_block(self, lines: _Lines, start: int) -> int:
        end = start
        body = list[_Line]()
        while end < len(lines) and lines[end].text and (lines[end].indent or lines[end].text.startswith("|")):
            line = lines[end]
            body.append(line if line.indent else _after(line, len(line.text) - len(line.text[1:].lstrip())))
            end += 1
        self._add(self._seen(body))
        return end

    def _title(self, line: _Line, style: str) -> None:
        if style not in self._styles:
            self._styles.append(style)
        self._add(self._seen([line]).on_one_line(), level=min(self._styles.index(style) + 1, 6))

    def _text(self, lines: _Lines, start: int) -> int:
        """Take a term with its definition, or a paragraph, and the code that it announces."""
        line, following = lines[start], lines[start + 1]
        if following.indent and following.text and not line.text.endswith("::"):
            end = _indented_end(lines, start + 1)
            self._define(self._seen([line]), _part(lines[start + 1 : end]))
            return end
        end = _stretch_end(lines, start)
        last = lines[end - 1]
        if not last.text.endswith("::"):
            self._add(self._seen(lines[start:end]), is_paragraph=True)
            return end
        kept = last.text[:-1] if last.text[-3:-2].strip() else last.text[:-2].rstrip()
        self._add(self._seen([*lines[start : end - 1], last._replace(text=kept)]))
        first = next((number for number in range(end, len(lines)) if lines[number].text), len(lines) - 1)
        end = _indented_end(lines, first)
        self._literal(lines[first:end])
        return end

    def _define(self, term: PlacedText, definition: _Lines) -> None:
        """Take a term and its definition: one block, "term: definition", up to the end of its first paragraph."""
        self._end_term()
        self._term = term
        self.take(definition)
        self._end_term()

    def _end_term(self) -> None:
        """Take a term by itself, if what follows it is no paragraph."""
        term, self._term = self._term, None
        if term is not None:
            self._add(term)

    # -- Tables --------------------------------------------------------------------------------------------------------

    def _grid(self, lines: _Lines) -> None:
        """Rows between lines of "+---+"; their cells end where all their lines have a bar."""
        row: list[_Line] = []
        for line in lines[1:]:
            row.append(line)
            if line.text[0] == "+" and not line.text.strip("+-= |"):
                self._row(_cells(row))
                row = []

    def _simple_table(self, lines: _Lines, start: int) -> int:
        """Columns below "=== ===": a line without a first cell goes on with the row before."""
        border = lines[start].text
        starts = [match.start() for match in re.finditer("=+", border)]
        bounds = list(zip(starts, [*starts[1:], 10_000], strict=True))
        rows: list[list[list[_Line]]] = []
        number = start + 1
        while number < len(lines):
            line = lines[number]
            number += 1
            if not line.text.strip("= ") and line.text:
                if number == len(lines) or not lines[number].text:
                    break
            elif line.text and (line.text.strip("- ") or len(line.text) < len(border) // 2):
                cells = [_cut(line, first - line.indent, last - line.indent) for first, last in bounds]
                if not rows or cells[0].text:
                    rows.append([[] for _ in bounds])
                for cell, text in zip(rows[-1], cells, strict=True):
                    cell.append(text)
        for row in rows:
            self._row(row)
        return number

    def _row(self, cells: Sequence[_Lines]) -> None:
        self._add(joined_row(self._seen(cell) for cell in cells))

    # -- Text ----------------------------------------------------------------------------------------------------------

    def _seen(self, lines: Sequence[_Line], before: str = "") -> PlacedText:
        """The text of lines, without their inline markup."""
        text, written = PlacedText(), [line for line in lines if line.text]
        if before:
            text.add(before, written[0].offset if written else 0)
        for number, line in enumerate(written, start=1):
            text.add(f"{line.text}\n" if number < len(written) else line.text, line.offset)
        return self._visible(text)

    def _literal(self, lines: Sequence[_Line]) -> None:
        text = PlacedText()
        for line in _part(lines):
            space = line.indent if self._source.endswith(" " * line.indent, 0, line.offset) else 0
            if line.indent:
                text.add(" " * line.indent, line.offset - space)
            text.add(f"{line.text}\n", line.offset)
        body = text.text.rstrip()
        self._add(text.cut(len(body) - len(body.lstrip("\n")), len(body)))

    def _add(self, text: PlacedText, level: int = 0, *, is_paragraph: bool = False) -> None:
        term = self._term
        if is_paragraph and term is not None and len(term.text) <= _LONGEST_TERM and term.text[-1:] not in ".:;?!":
            self._term = None
            term.add_unplaced(": ")
            term.add_all(text)
            text = term
        self._end_term()
        self._may_begin = self._may_begin and bool(level) and not self.blocks
        if text.text.strip():
            self.blocks.append(text.block(self._source, level))

    def _visible(self, raw: PlacedText) -> PlacedText:
        """The text of a paragraph without its inline markup."""
        text = raw.text
        if not _MARK.search(text):
            return raw
        shown, last = PlacedText(), 0
        for match in _INLINE.finditer(text):
            shown.add_all(raw.cut(last, match.start()))
            last = match.end()
            kind = next((kind for kind in ("quoted", "substitution", "note", *_PLAIN) if match[kind] is not None), None)
            if kind == "quoted":
                _add_quoted(match, raw, shown)
            elif kind and not (kind == "note" and match[kind][1] in "#*"):  # notes that are numbered by themselves
                part = raw.cut(*match.span(kind))
                shown.add_all(part if kind == "literal" else part.replaced(_ESCAPE))
        shown.add_all(raw.cut(last, len(text)))
        return shown


def _items(lines: Sequence[_Line]) -> list[_Lines]:
    """The items of a list, each as a part of its own."""
    items: list[_Lines] = []
    for line in lines:
        if not line.indent and (mark := _BULLET.match(line.text)):
            items.append([_after(line, mark.end())._replace(indent=mark.end())])
        elif items:
            items[-1].append(line)
    return [_part(item) for item in items]


def _cells(lines: Sequence[_Line]) -> list[_Lines]:
    """The cells of a row of a table, with the line below it: they end where all lines have a bar."""
    bars = [at for at in range(len(lines[-1].text)) if all(line.text[at : at + 1] in ("|", "+") for line in lines)]
    return [[_cut(line, bar + 1, after) for line in lines[:-1]] for bar, after in pairwise(bars)]


def _cut(line: _Line, start: int, end: int) -> _Line:
    """The columns of a line from `start` to before `end`."""
    start = max(start, 0)
    text = line.text[start : max(end, 0)]
    space = len(text) - len(text.lstrip())
    return _Line(space, text.strip(), line.offset + start + space)


# -- Inline markup -----------------------------------------------------------------------------------------------------

_MARK = re.compile(r"[*`|\\]|_(?!\w)")  # without these there is no markup in a paragraph
_ESCAPE = re.compile(r"(?<!\\)\\(?:\s|(?=\S))")
_PLAIN = ("literal", "strong", "emphasis", "name", "escaped")
_INLINE = re.compile(
    r"\\(?:(?P<escaped>\S)|\s?)"
    r"|(?<![^\s'\"(\[{<\-/:“‘«„‚–—¿¡])(?:"
    r"``(?=\S)(?P<literal>(?:[^`]|`(?!`))++)(?<=\S)``"
    r"|\*\*(?=\S)(?P<strong>(?:[^*\\]|\\.|\*(?!\*))++)(?<=\S)\*\*"
    r"|\*(?=[^\s*])(?P<emphasis>(?:[^*\\]|\\.)++)(?<=\S)\*"
    rf"|(?::(?P<role>{_NAME}):)?_?`(?=\S)(?P<quoted>(?:[^`\\]|\\.)++)(?<=\S)`(?:(?P<reference>__?)|:(?P<after>{_NAME}):)?"
    r"|\|(?=\S)(?P<substitution>[^|]++)(?<=\S)\|_{0,2}"
    rf"|(?P<note>\[(?:\d+|#(?:{_NAME})?|\*|{_NAME})\])_"
    rf"|(?P<name>{_NAME})__?"
    r")(?![^\s'\")\]}>\-/:.,;!?\\”’»–—…])",
    re.DOTALL,
)
_TITLED = re.compile(r"(.+?)\s*<[^<>]*>", re.DOTALL)


def _add_quoted(match: re.Match[str], raw: PlacedText, shown: PlacedText) -> None:
    """Add what is seen of a role such as :ref:`Title <label>`, or of `a reference <address>`_."""
    text, start = match["quoted"], match.start("quoted")
    role = (match["role"] or match["after"] or "").lower()
    titled = _TITLED.fullmatch(text)
    if role.startswith("raw"):
        return
    if titled:
        text = titled[1]
    elif match["reference"]:
        text = text.strip("<>").removesuffix("_") if text[0] == "<" else text
        start += match["quoted"].index(text)
    elif role in ("pep", "rfc"):
        text = text.partition("#")[0]
        shown.add(f"{role.upper()} ", raw.source_offset(match.start()))
    elif text.startswith("~"):
        start += len(text)
        text = text.rpartition(".")[2].lstrip("~")
        start -= len(text)
    elif text.startswith("!"):
        text, start = text[1:], start + 1
    shown.add_all(raw.cut(start, start + len(text)))
