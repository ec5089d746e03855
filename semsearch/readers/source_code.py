"""Source code: functions and classes as sections, comments and docstrings as prose, all else as code.

tree-sitter finds definitions and comments, in broken code too: for each language a line of `_LANGUAGES` names its
grammar and the nodes that define something. Of languages without a grammar here, and of those whose grammar is not
installed, line comments are prose and there are no sections.

Some lines of code together are a sentence: as many as a bracket is open for, and short statements with the next. The
first of a function is its signature.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import cache
from importlib import import_module
from itertools import dropwhile, groupby
from pathlib import PurePath
from typing import NamedTuple

import numpy as np
from tree_sitter import Language, Node, Parser, Query, QueryCursor

from semsearch.errors import SourceError
from semsearch.readers.document import Block, Document, each_line_span
from semsearch.readers.placed_text import PlacedText

_LARGEST = 2_000_000  # characters of a file that a person wrote
_LONG_LINES = 300  # characters of its lines, on average
_SHORT_FILE = 5_000  # characters of a file whose lines may be long: a test with one table, say


def read(source: str, name: str) -> Document:
    """Read comments as prose and all else as code, by function and class. The title is the file's name.

    Raises SourceError for minified source, and for files that are too large to be written by hand.
    """
    spans = list(each_line_span(source))
    if len(source) > _LARGEST or len(source) > _LONG_LINES * len(spans) + _SHORT_FILE:
        kind = "generated" if len(source) <= _LONG_LINES * len(spans) else "minified"
        raise SourceError(f"{name} looks {kind}: {len(source):,} characters in {len(spans):,} lines; exclude it")
    lines = [_Line(start, source[start:end].rstrip()) for start, end in spans]
    definitions, comments = _parsed(source, lines, PurePath(name).suffix.lower())
    return Document(source, list(_blocks(source, lines, definitions, comments)), "code", PurePath(name).name)


class _Line(NamedTuple):
    start: int  # in the source
    text: str  # without its end

    @property
    def margin(self) -> int:
        return len(self.text) - len(self.text.lstrip(" \t"))


class _Definition(NamedTuple):
    """A function, class or the like, by its lines, counted from 0."""

    first: int  # first line, of the comments above it
    last: int
    head: int  # line that has its name
    name: str
    start: int  # first character of its name in the source


_COMMENTS = ("comment", "line_comment", "block_comment", "multiline_comment")

# -- Languages ---------------------------------------------------------------------------------------------------------

_FUNCTION = "[(arrow_function) (function_expression) (class)]"
_SCRIPT_NODES = "function_declaration generator_function_declaration class_declaration method_definition"
_SCRIPT = f"""
    (variable_declarator name: (_) @name value: {_FUNCTION}) @light
    (pair key: (_) @name value: {_FUNCTION}) @light
    (assignment_expression left: (_) @name right: {_FUNCTION}) @light"""
_TYPED_NODES = f"{_SCRIPT_NODES} abstract_class_declaration interface_declaration enum_declaration internal_module "
_TYPED_NODES += "type_alias_declaration"
_C = """
    (function_definition declarator: (_) @name) @definition
    (struct_specifier name: (_) @name body: (_)) @definition
    (union_specifier name: (_) @name body: (_)) @definition
    (enum_specifier name: (_) @name body: (_)) @definition
    (type_definition type: (_ body: (_)) declarator: (_) @name) @definition"""
_METHOD = "(method_declaration name: (_) @name body: (_)) @definition"  # not one of an interface
_LANGUAGES = (  # suffixes, module and function of the grammar, nodes that define their `name`, and other patterns
    (".py .pyi", "python:language", "function_definition class_definition", """
        (decorated_definition definition: (_ name: (_) @name)) @definition
        (expression_statement . (string) @docstring .)"""),
    (".js .mjs .cjs .jsx", "javascript:language", _SCRIPT_NODES, _SCRIPT),
    (".ts", "typescript:language_typescript", _TYPED_NODES, _SCRIPT),
    (".tsx", "typescript:language_tsx", _TYPED_NODES, _SCRIPT),
    (".go", "go:language", "function_declaration type_spec", """
        (method_declaration receiver: (_) @of name: (_) @name) @definition"""),
    (".rs", "rust:language",
        "function_item struct_item enum_item trait_item union_item mod_item type_item macro_definition", """
        (impl_item type: (_) @name) @definition
        (attribute_item) @decoration"""),
    (".c", "c:language", "", _C),
    (".h .cc .cpp .cxx .hh .hpp .hxx", "cpp:language", "", _C + """
        (class_specifier name: (_) @name body: (_)) @definition
        (template_declaration (_ name: (_) @name body: (_))) @definition
        (template_declaration (function_definition declarator: (_) @name)) @definition"""),
    (".java", "java:language", "class_declaration interface_declaration enum_declaration record_declaration "
        "annotation_type_declaration constructor_declaration", _METHOD),
    (".cs", "c_sharp:language", "namespace_declaration class_declaration interface_declaration struct_declaration "
        "record_declaration enum_declaration constructor_declaration", _METHOD),
    (".rb", "ruby:language", "method singleton_method class module", ""),
    (".php", "php:language_php", "function_definition method_declaration class_declaration interface_declaration "
        "trait_declaration enum_declaration", ""),
    (".sh .bash .zsh", "bash:language", "function_definition", ""),
    (".kt .kts", "kotlin:language", "class_declaration object_declaration function_declaration", ""),
    (".swift", "swift:language", "class_declaration protocol_declaration", """
        (function_declaration name: (simple_identifier) @name) @definition"""),
    (".scala", "scala:language", "class_definition object_definition trait_definition function_definition", ""),
    (".lua", "lua:language", "function_declaration", ""),
)  # fmt: skip


@cache
def _grammar(suffix: str) -> tuple[Parser, Query] | None:
    """The parser of files with this suffix, and its queries for definitions and comments; None without a grammar."""
    grammar, nodes, patterns = next((rest for suffixes, *rest in _LANGUAGES if suffix in suffixes.split()), [""] * 3)
    module, _, function = grammar.partition(":")
    try:  # one of seventeen, some of which are optional
        language = Language(getattr(import_module(f"tree_sitter_{module}"), function)())
    except ImportError:
        return None
    kinds = {language.node_kind_for_id(number) for number in range(language.node_kind_count)}
    comments = [f"({kind}) @comment" for kind in _COMMENTS if kind in kinds]
    named = [f"({kind} name: (_) @name) @definition" for kind in nodes.split()]
    return Parser(language), Query(language, "\n".join([patterns, *named, *comments]))


# -- Definitions and comments ------------------------------------------------------------------------------------------

_AFTER_NAME = re.compile(r"[(<\[{]")  # in a declarator of C, or a type with parameters
_WORD = re.compile(r"\w+")
_LONGEST = 200  # characters of a name
_LIGHT = 2  # lines after its first that an expression within a function needs to be a section
_LINE_COMMENT = re.compile(r"\s*(?:--+|#+|;+|%+|//+)(?:\s|\Z)")
_PLAIN = 1


def _parsed(source: str, lines: Sequence[_Line], suffix: str) -> tuple[list[_Definition], list[int]]:
    """The definitions, and for each line what comment is alone on it: 0 for none, a number of its own for a docstring.

    Adjacent lines of the same number are one text.
    """
    comments, is_decoration = [0] * len(lines), [False] * len(lines)
    if (grammar := _grammar(suffix)) is None:
        return [], [_PLAIN if _LINE_COMMENT.match(line.text) else 0 for line in lines]
    parser, query = grammar
    data = source.encode("utf-8", "replace")
    offsets = _character_offsets(data) if len(data) > len(source) else range(len(data) + 1)
    starts = [line.start for line in lines]
    definitions: dict[int, _Definition] = {}  # by the place of the name
    for _, captures in QueryCursor(query).matches(parser.parse(data).root_node):
        kind = next(kind for kind in captures if kind not in ("name", "of"))
        node = captures[kind][0]
        start, end = offsets[node.start_byte], offsets[node.end_byte]
        end = start + len(source[start:end].rstrip())
        first, last = bisect_right(starts, start) - 1, bisect_right(starts, max(start, end - 1)) - 1
        rows = slice(first, last + 1)
        if "name" in captures:
            of, name = (_text_of(captures.get(key)) for key in ("of", "name"))
            name_start = offsets[captures["name"][0].start_byte]
            name_start += len(name) - len(name.lstrip("*& \n"))
            item = _Definition(first, last, bisect_right(starts, name_start) - 1, _name(of, name), name_start)
            is_light = kind == "light" and last < first + _LIGHT and lines[first].margin > 0
            if not is_light and (name_start not in definitions or definitions[name_start].first > first):
                definitions[name_start] = item
        elif kind == "decoration":
            is_decoration[rows] = [True] * (last + 1 - first)
        elif not source[starts[first] : start].strip() and end >= starts[last] + len(lines[last].text):
            comments[rows] = [start + 2 if kind == "docstring" else _PLAIN] * (last + 1 - first)

    def first_of(first: int) -> int:
        while first and (comments[first - 1] == _PLAIN or is_decoration[first - 1]):
            first -= 1
        return first

    outer_first = sorted(definitions.values(), key=lambda item: (item.first, -item.last, item.start))
    return [item._replace(first=first_of(item.first)) for item in outer_first if item.name], comments


def _character_offsets(data: bytes) -> list[int]:
    """For each byte of a text in UTF-8, and its end, the number of the character that it is in."""
    begins = (np.frombuffer(data, np.uint8) & 0xC0) != 0x80
    offsets: list[int] = (np.cumsum(begins) - 1).tolist()
    return [*offsets, offsets[-1] + 1]


def _text_of(nodes: Sequence[Node] | None) -> str:
    return (nodes[0].text or b"").decode("utf-8", "replace") if nodes else ""


def _name(of: str, name: str) -> str:
    """The name that is defined, of a type: "Tide.Rise" of "(t *Tide[T])" and "Rise", "rise" of "*rise(int)"."""
    owner = _WORD.findall(of.partition("[")[0])[-1:]
    return ".".join([*owner, _AFTER_NAME.split(name.lstrip("*& \n"), maxsplit=1)[0].strip()])[:_LONGEST]


# -- Blocks ------------------------------------------------------------------------------------------------------------

_DEEPEST = 6  # level of headings


def _blocks(
    source: str, lines: Sequence[_Line], definitions: Sequence[_Definition], comments: Sequence[int]
) -> Iterator[Block]:
    """Headings for definitions, comments as prose, and the lines between them as code."""
    owners = [-1] * len(lines)  # the innermost definition that a line is in
    places, levels = list[str](), list[int]()
    for number, item in enumerate(definitions):
        outer = owners[item.first]
        places.append(f"{places[outer]}.{item.name}"[:_LONGEST] if outer >= 0 else item.name)
        levels.append(min(levels[outer] + 1, _DEEPEST) if outer >= 0 else 1)
        owners[item.first : item.last + 1] = [number] * (item.last + 1 - item.first)
    named, level = 0, 0  # definitions with their heading, and the level of the section that is open
    for (owner, comment), group in groupby(range(len(lines)), key=lambda row: (owners[row], comments[row])):
        rows = [*group]
        while named < len(definitions) and definitions[named].first <= rows[0]:
            item, level = definitions[named], levels[named]
            anchors = (
                () if source.startswith(item.name, item.start) else ((0, item.start), (len(item.name), item.start))
            )
            yield Block(item.name, item.start, level, place=places[named], anchors=anchors)
            named += 1
        place = places[owner] if owner >= 0 else None
        blocks = _comment_blocks(source, [lines[row] for row in rows], is_docstring=comment > _PLAIN)
        if not comment:
            blocks = _code_blocks(source, lines, rows, definitions[owner] if owner >= 0 else None)
        for block in blocks:
            depth = levels[owner] if owner >= 0 else 0
            if depth < level:
                yield Block("", block.start, depth + 1)
                level = depth
            yield replace(block, place=place)


_MARK = re.compile(
    r"\s*(?:/\*+!?|//+!?|\*(?!/)(?=[\s*]|\Z)|\(\*+|\{-\|?|--\[=*\[|--+\|?|#!.*|#+:?|;+|%+|<!--|=begin\b)?[ \t]*"
)
_CLOSING = re.compile(r"\s*(?:\*+/|\*+\)|-\}|\]=*\]|-->|^=end)\s*\Z")
_QUOTE = re.compile(r"\s*(?:[a-zA-Z]{0,2}(?:\"{3}|'{3}|\"|')[ \t]*)?")
_SPACE = re.compile(r"\s*")
_END_QUOTE = re.compile(r"\s*(?:\"{3}|'{3}|\"|')\Z")
_TWO_LETTERS = re.compile(r"[^\W\d_]{2}")
_DIRECTIVE = re.compile(
    r"(?:noqa|type:\s*ignore|pylint:|eslint|pragma:|fmt:|-\*-|vim:|mypy:|ruff:|nolint|NOLINT|@ts-|SPDX-)"
)


def _comment_blocks(source: str, lines: Sequence[_Line], *, is_docstring: bool) -> Iterator[Block]:
    """The paragraphs of a comment or docstring, without its signs; none of what has no words, or is for tools."""
    paragraph = PlacedText()
    for number, line in enumerate([*lines, _Line(0, "")]):
        closing = (_END_QUOTE if is_docstring else _CLOSING).search(line.text)
        is_last = number == len(lines) - 1
        text = line.text[: closing.start()] if closing and (is_last or not is_docstring) else line.text
        mark = (_QUOTE if is_docstring and not number else _SPACE if is_docstring else _MARK).match(text)
        first = mark.end() if mark else 0
        text = text[first:].rstrip()
        if text and (is_docstring or (_WORD.search(text) and not _DIRECTIVE.match(text))):
            if paragraph:
                paragraph.add_unplaced("\n")
            paragraph.add(text, line.start + first)
        elif paragraph:
            if _TWO_LETTERS.search(paragraph.text):
                yield paragraph.block(source)
            paragraph = PlacedText()


_ENOUGH = 60  # characters of lines that are one sentence: a short statement says little alone
_MOST = 400  # characters of lines with a bracket open
_STRING = re.compile(r"\"(?:[^\"\\]|\\.)*+\"|'(?:[^'\\]|\\.)*+'")


def _code_blocks(
    source: str, lines: Sequence[_Line], rows: Sequence[int], definition: _Definition | None
) -> Iterator[Block]:
    """The block of some lines, without the indentation that the whole definition has."""
    rows = [*dropwhile(lambda row: not lines[row].text, rows)]
    if not rows:
        return
    head = definition.head if definition is not None and definition.head in rows else -1
    margin = lines[definition.head].margin if definition is not None else 0
    code, spans = PlacedText(), list[tuple[int, int]]()
    at = depth = 0
    begin = -1  # of the sentence that these lines are in
    for row in rows:
        line = lines[row]
        cut = min(margin, line.margin)
        text = line.text[cut:]
        code.add(f"{text}\n", line.start + cut)
        end = at + len(text)
        if not text:
            if begin >= 0:
                spans.append((begin, at - 1))
                begin, depth = -1, 0
        elif begin < 0 and spans and not _WORD.search(text) and spans[-1][1] + 1 >= at:
            spans[-1] = (spans[-1][0], end)
        else:
            begin = at + len(text) - len(text.lstrip()) if begin < 0 else begin
            bare = _STRING.sub("", text)
            depth += bare.count("(") + bare.count("[") - bare.count(")") - bare.count("]")
            is_whole = depth <= 0 and row >= head and (head >= 0 or end - begin >= _ENOUGH)
            if end - begin >= _MOST or is_whole:
                spans.append((begin, end))
                begin, depth, head = -1, 0, -1
        at = end + 1
    code = code.cut(0, len(code.text.rstrip()))
    if begin >= 0:
        spans.append((begin, len(code.text)))
    yield replace(code.block(source), sentences=tuple(spans))
