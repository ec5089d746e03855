"""Source code: comments and docstrings as prose, all else as code, under headings that name functions and classes.

The common languages are scanned by the patterns of semsearch.readers.code_languages, others by Pygments. What a
definition extends over follows from its indentation: it ends before the next line that is indented no further and does
not close it. So broken and unfinished code has a structure too, and branches of a preprocessor do no harm.

Some lines of code together are a sentence: as many as a bracket is open for, and short statements with the next. The
first of a function is its signature.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import accumulate, chain
from operator import itemgetter
from pathlib import PurePath
from time import process_time
from typing import Any, NamedTuple

from pygments.lexers import get_lexer_for_filename
from pygments.token import Comment as CommentToken, Name, String
from pygments.util import ClassNotFound

from semsearch.errors import SourceError
from semsearch.readers import text
from semsearch.readers.code_languages import Language, language_named
from semsearch.readers.document import Block, Document, line_starts

_LINE_END = re.compile(r"\r\n?|\n")
_OPENING = re.compile(
    r"\s*(?:/\*+!?|///*!?|\(\*+|\{-\|?|--\[=*\[|--+\|?|#!.*|#+:?|;+|%+|<!--|\"\"\"|'''|=begin\b|REM\b|!+)?[ \t]*"
)
_GOING_ON = re.compile(r"\s*(?:\*(?!/)(?=[\s*]|\Z)|#+|//+!?|;+|--+)?[ \t]*")
_INDENTATION = re.compile(r"[ \t]*")
_QUOTE = re.compile(r"(?:\"{3}|'{3}|\"|')[ \t]*")
_END_QUOTE = re.compile(r"\s*(?:\"{3}|'{3}|\"|')\Z")
_CLOSING = re.compile(r"\s*(?:\*+/|\*+\)|-\}|\]=*\]|-->|\"\"\"|'''|=end)?\s*\Z")
_CLOSERS = ("*/", "*)", "-}", "]", "-->", '"""', "'''", "=end")
_WORD = re.compile(r"\w")
_TWO_LETTERS = re.compile(r"[^\W\d_]{2}")
_DIRECTIVE = re.compile(
    r"(?:noqa|type:\s*ignore|pylint:|eslint|pragma:|fmt:|-\*-|vim:|mypy:|ruff:|nolint|NOLINT|@ts-|SPDX-)"
)


@dataclass(frozen=True, slots=True)
class Comment:
    """A comment as it is written in the source. `line` is counted from 1; `alone`: nothing precedes it on its line."""

    text: str
    start: int
    line: int
    alone: bool
    is_docstring: bool = False


def blocks_of(comments: Iterable[Comment]) -> Iterator[tuple[int, Block]]:
    """Yield the line and block of each paragraph of comments, but not of those without words, or for tools.

    Comments that stand alone on lines that follow each other are one text; empty lines separate its paragraphs.
    """
    paragraph: list[tuple[str, int, int]] = []
    for words, start, number in chain(_lines_of_all(comments), [_BREAK]):
        if words:
            paragraph.append((words, start, number))
        elif paragraph:
            words = "\n".join(line for line, _, _ in paragraph)
            offsets = accumulate((len(line) + 1 for line, _, _ in paragraph), initial=0)
            anchors = tuple(zip(offsets, (source for _, source, _ in paragraph), strict=False))
            if _TWO_LETTERS.search(words):
                yield paragraph[0][2], Block(words, anchors[0][1], anchors=anchors if len(anchors) > 1 else ())
            paragraph = []


_BREAK = ("", 0, 0)


def _lines_of_all(comments: Iterable[Comment]) -> Iterator[tuple[str, int, int]]:
    """The lines of all comments, with a break wherever one does not go on in the next."""
    last: Comment | None = None
    for comment in comments:
        are_plain = last is not None and last.alone and comment.alone and not last.is_docstring | comment.is_docstring
        if last is None or not are_plain or comment.line != _last_line(last) + 1:
            yield _BREAK
        yield from _lines(comment)
        last = comment


def _last_line(comment: Comment) -> int:
    return comment.line + len(_LINE_END.findall(comment.text.rstrip("\r\n")))


def _lines(comment: Comment) -> Iterator[tuple[str, int, int]]:
    """The words of each line of a comment, their offset in the source, and the number of the line."""
    start, number = 0, comment.line
    ends = [*(match.span() for match in _LINE_END.finditer(comment.text)), (len(comment.text), len(comment.text))]
    for index, (end, following) in enumerate(ends):
        line = comment.text[start:end]
        if comment.is_docstring:
            match = (_INDENTATION if index else _QUOTE).match(line)
            first = match.end() if match else 0
            closing = _END_QUOTE.search(line, first) if index == len(ends) - 1 else None
        else:
            match = (_GOING_ON if index else _OPENING).match(line)
            first = match.end() if match else 0
            closing = _CLOSING.search(line, first) if line.rstrip().endswith(_CLOSERS) else None
        text = line[first : closing.start() if closing else end].rstrip()
        is_prose = comment.is_docstring or (_WORD.search(text) and not _DIRECTIVE.match(text))
        yield text if is_prose else "", comment.start + start + first, number
        start, number = following, number + 1


# -- Tokens ------------------------------------------------------------------------------------------------------------

_LARGEST = 2_000_000  # characters of a file that a person wrote
_LONG_LINES = 300  # characters of its lines, on average
_SHORT_FILE = 5_000  # characters of a file whose lines may be long: a test with one table, say
_WHITE = re.compile(r"(?<!\s)\s{2000}")  # for which many lexers take time that grows with its square
_MOST_SECONDS = 10
_LONGEST = 200  # characters of a name
_NOT_LINE_END = re.compile(r"[^\r\n]")
_NAMES = (Name.Function, Name.Class)
_DEFINE = frozenset("function func fn def class interface struct enum trait".split())  # for lexers that only say Name
_PREFIXES = ("", "r", "R")  # of a docstring
_QUOTES, _TRIPLE = ('"', "'"), ('"""', "'''")
_WITHIN = tuple("([{,=+%\\")  # what stands before a text that is a part of an expression
_NOT_COMMENTS = (CommentToken.Preproc, CommentToken.PreprocFile, CommentToken.Hashbang)


def read(source: str, name: str) -> Document:
    """Read comments as prose and all else as code, by function and class; of an unknown language, all text.

    The title is the file's name. Raises SourceError for minified source, and for files that are too large to be
    written by hand.
    """
    starts = line_starts(source)
    if len(source) > _LARGEST or len(source) > _LONG_LINES * len(starts) + _SHORT_FILE or _WHITE.search(source):
        kind = "generated" if len(source) <= _LONG_LINES * len(starts) else "minified"
        raise SourceError(f"{name} looks {kind}: {len(source):,} characters in {len(starts):,} lines; exclude it")
    language = language_named(name)
    if language is None:
        try:
            lexer: Any = get_lexer_for_filename(name, stripnl=False, ensurenl=False)
        except ClassNotFound:
            plain = text.read(source, name)
            return Document(source, plain.blocks, "code", PurePath(name).name)
        shape = _lexed(source, starts, _in_time(lexer.get_tokens_unprocessed(source), name))
    else:
        shape = scanned(source, starts, language)
        definitions = [
            _DefinitionStart(
                match.start() + len(match[0]) - len(match[0].lstrip()),
                match.end(),
                name_of(match),
                is_light="light" in match.re.groupindex,
            )
            for match in language.defined(shape.mask)
        ]
        shape = replace(shape, definitions=with_extents(definitions, shape, language))
    return _document_of(shape, name)


@dataclass(frozen=True, slots=True)
class Definition:
    """A function, class or the like: its lines, counted from 1, with the comments above it, and its name.

    `line` is where the definition begins, behind comments and decorators.
    """

    first: int
    line: int
    last: int
    name: str


@dataclass(frozen=True, slots=True)
class Shape:
    """What the structure of source code follows from. `mask` has spaces for comments and strings."""

    source: str
    starts: list[int]  # offsets of the lines
    mask: str
    comments: Sequence[Comment]
    definitions: Sequence[Definition] = ()

    def line_of(self, offset: int) -> int:
        """The number of the line, from 1, that an offset is in."""
        return bisect_right(self.starts, offset)

    def line(self, number: int) -> str:
        """The text of a line of the mask, without its end."""
        end = self.starts[number] if number < len(self.starts) else len(self.mask)
        return self.mask[self.starts[number - 1] : end].rstrip()

    def source_line(self, number: int) -> str:
        """The text of a line, without its end."""
        end = self.starts[number] if number < len(self.starts) else len(self.source)
        return self.source[self.starts[number - 1] : end].rstrip()


def scanned(source: str, starts: list[int], language: Language) -> Shape:
    """Find comments and strings by the patterns of a language."""
    comments: list[Comment] = []
    mask: list[str] = []
    done, before = 0, ""  # the last character of code
    for match in language.token_pattern.finditer(source):
        start, end = match.span()
        code, line = source[done:start], bisect_right(starts, start)
        beginning = source[starts[line - 1] : start].strip()
        is_docstring = language.has_docstrings and match[0].startswith(_QUOTES) and beginning in _PREFIXES
        if is_docstring and beginning:
            code = f"{code[:-1]} "
        mask += code, _blank(match[0])
        done, before = end, code.rstrip()[-1:] or before
        if match["comment"] is not None:
            comments.append(Comment(match[0], start, line, not beginning))
        elif is_docstring and (before == ":" or (match[0].startswith(_TRIPLE) and before not in _WITHIN)):
            comments.append(Comment(match[0], start, line, alone=True, is_docstring=True))
    mask.append(source[done:])
    return Shape(source, starts, "".join(mask), comments)


def _blank(text: str) -> str:
    return _NOT_LINE_END.sub(" ", text) if "\n" in text or "\r" in text else " " * len(text)


def _lexed(source: str, starts: list[int], tokens: Iterator[Any]) -> Shape:
    """Find comments, strings and definitions by the tokens of Pygments."""
    comments: list[Comment] = []
    definitions: dict[int, _DefinitionStart] = {}
    mask: list[str] = []
    line, word = 1, ""
    for start, kind, value in tokens:
        while line < len(starts) and starts[line] <= start:
            line += 1
        is_comment = (kind in CommentToken and kind not in _NOT_COMMENTS) or kind in String.Doc
        mask.append(_blank(value) if is_comment or kind in String else value)
        if is_comment:
            _add(comments, Comment(value, start, line, not source[starts[line - 1] : start].strip()))
        elif (kind in _NAMES or (kind in Name and word in _DEFINE)) and line not in definitions:
            before = source[starts[line - 1] : start]
            first = starts[line - 1] + len(before) - len(before.lstrip())
            definitions[line] = _DefinitionStart(first, start + len(value), value)
        word = value.strip() or word
    shape = Shape(source, starts, "".join(mask), comments)
    return replace(shape, definitions=with_extents([*definitions.values()], shape, None))


def _in_time(tokens: Iterator[Any], name: str) -> Iterator[Any]:
    """The tokens of a lexer, some of which take time that grows with the square of odd texts. Raises SourceError."""
    end = process_time() + _MOST_SECONDS
    for token in tokens:
        if process_time() > end:
            raise SourceError(f"{name} takes more than {_MOST_SECONDS} seconds to read; exclude it")
        yield token


def _add(comments: list[Comment], comment: Comment) -> None:
    """Append a comment, or extend the last one: lexers give some comments in pieces."""
    last = comments[-1] if comments else None
    if last is not None and last.start + len(last.text) == comment.start and not last.text.endswith(("\n", "\r")):
        comments[-1] = replace(last, text=last.text + comment.text)
    else:
        comments.append(comment)


# -- Definitions -------------------------------------------------------------------------------------------------------

_LIGHT = 2  # lines after the first
_CLOSING_LINE = re.compile(r"[)\]}]|end\b|\$\$")
_GOES_ON = ("{", "(", "[", ",", ":", "=>", "->")
_DECORATION = re.compile(r"@|#!?\[|\[[A-Z]|template\s*<")
_STATEMENT_END = re.compile(r";[ \t]*$", re.MULTILINE)
_BODY = re.compile(r"(?<!\w)(?P<quote>\$\w*\$)|\bBEGIN\b(?!\s+(?:TRANSACTION|WORK|;))", re.IGNORECASE)
_BODY_END = re.compile(r"^[ \t]*END\b(?!\s+(?:IF|LOOP|CASE|WHILE|REPEAT|FOR)\b)[^\n]*", re.IGNORECASE | re.M)


class _DefinitionStart(NamedTuple):
    """A definition by the offsets of its beginning and of the end of what shows that it is one, and its name."""

    start: int
    end: int
    name: str
    is_light: bool = False  # no definition of its own if it is within another and short


def name_of(match: re.Match[str]) -> str:
    """The name that a match defines, with the type that it belongs to, and without quotation marks."""
    of = match.groupdict().get("of")
    return (f"{of}." if of else "") + match["name"].strip('"`[]')


def with_extents(starts: Iterable[_DefinitionStart], shape: Shape, language: Language | None) -> list[Definition]:
    """The definitions with their lines: what is indented more belongs to them, and so does what closes them."""
    by_line: dict[int, _DefinitionStart] = {}
    for start in sorted(starts):
        by_line.setdefault(shape.line_of(start.start), start)
    indents = [_indent(shape.line(number)) for number in range(1, len(shape.starts) + 1)]
    for item in shape.comments:
        if item.is_docstring:  # which the body of a function may be
            lines = _last_line(item) + 1 - item.line
            indents[item.line - 1 : item.line - 1 + lines] = [_indent(shape.source_line(item.line))] * lines
    transparent = re.compile(language.transparent) if language is not None and language.transparent else None
    definitions: list[Definition] = []
    for line, start in by_line.items():
        if language is not None and language.by_statement:
            last = _end_of_statement(shape, start)
        else:
            last = _last_of(shape, indents, line, shape.line_of(max(start.start, start.end - 1)), transparent)
        if not (start.is_light and last < line + _LIGHT and indents[line - 1] > 0):
            definitions.append(Definition(line, line, last, start.name[:_LONGEST]))
    return with_comments_above(definitions, shape)


def with_comments_above(definitions: Iterable[Definition], shape: Shape) -> list[Definition]:
    """The definitions with the comments and decorators on the lines right above them."""
    comments = (item for item in shape.comments if item.alone and not item.is_docstring)
    comment_lines = {number for item in comments for number in range(item.line, _last_line(item) + 1)}

    def first_of(first: int) -> int:
        margin = _indent(shape.line(first))
        while first > 1:
            above = _beginning_of(shape, first - 1, margin)
            if above not in comment_lines and not _DECORATION.match(shape.line(above).lstrip()):
                break
            first = above
        return first

    return [replace(item, first=first_of(item.first)) for item in definitions]


def _beginning_of(shape: Shape, number: int, margin: int) -> int:
    """The line where what ends right above a definition begins, such as a decorator of several lines."""
    while number > 1 and (line := shape.source_line(number)) and (_indent(line) > margin or line.lstrip()[0] in ")]}"):
        number -= 1
    return number


def _last_of(shape: Shape, indents: list[int], line: int, last: int, transparent: re.Pattern[str] | None) -> int:
    """The last line of the definition that begins in a line, and whose head ends in line `last`."""
    margin = indents[line - 1]
    for number in range(last + 1, len(indents) + 1):
        indent = indents[number - 1]
        if indent == _EMPTY:
            continue
        if indent > margin:
            last = number
            continue
        text = shape.line(number).lstrip()
        if transparent is not None and transparent.match(text):
            continue
        if indent < margin:
            break
        if text.startswith("{"):
            last = number
        elif _CLOSING_LINE.match(text):
            last = number
            if not text.endswith(_GOES_ON):
                break
        else:
            break
    return last


def _end_of_statement(shape: Shape, start: _DefinitionStart) -> int:
    """The line in which a statement of SQL ends: at its semicolon, or where the body of a function ends."""
    end = _STATEMENT_END.search(shape.mask, start.end)
    body = _BODY.search(shape.mask, start.end, end.end() if end else len(shape.mask))
    if body and body["quote"]:
        closed = shape.mask.find(body["quote"], body.end())
        end = _STATEMENT_END.search(shape.mask, closed if closed > 0 else body.end())
    elif body:
        end = _BODY_END.search(shape.mask, body.end()) or end
    return shape.line_of(max(start.end, end.end() - 1) if end else len(shape.mask))


_EMPTY = -1  # the indentation of a line with nothing but comments


def _indent(line: str) -> int:
    """The columns of white space that a line begins with; `_EMPTY` if it has nothing else."""
    bare = line.lstrip()
    if not bare:
        return _EMPTY
    space = line[: len(line) - len(bare)]
    return len(space[:_LONGEST].expandtabs(4)) if "\t" in space else len(space)


# -- Blocks ------------------------------------------------------------------------------------------------------------

_ENOUGH = 60  # characters of lines that are one sentence: a short statement says little alone
_MOST = 400  # characters of lines with a bracket open
_DEEPEST = 6  # level of headings


def _document_of(shape: Shape, name: str) -> Document:
    """The document of source code: headings for definitions, comments as prose, and the lines between them as code."""
    return Document(shape.source, list(_blocks_in_order(shape)), "code", PurePath(name).name)


def _blocks_in_order(shape: Shape) -> Iterator[Block]:
    definitions = sorted(shape.definitions, key=lambda item: (item.first, -item.last, item.line))
    n = len(shape.starts)
    owner = [-1] * (n + 2)  # the innermost definition that a line is in
    around: list[int] = []
    names, depths = list[str](), list[int]()
    items: list[tuple[int, int, Block]] = []  # line, rank within it, block
    for index, item in enumerate(definitions):
        while around and definitions[around[-1]].last < item.last:
            around.pop()
        names.append(f"{names[around[-1]]}.{item.name}"[:_LONGEST] if around else item.name[:_LONGEST])
        depths.append(min(len(around) + 1, _DEEPEST))
        around.append(index)
        owner[item.first : item.last + 1] = [index] * (item.last + 1 - item.first)
        line = shape.starts[item.line - 1]
        start = max(line, shape.source.find(item.name.rsplit(".", 1)[-1], line))
        heading = Block(item.name[:_LONGEST], start, depths[index], place=names[index])
        items.append((item.first, index - len(definitions), heading))
    places, levels = [*names, None], [*depths, 0]  # of the lines that are in no definition, the last
    is_code = bytearray(b"\1") * (n + 2)
    alone = [item for item in shape.comments if item.alone and not shape.line(_last_line(item))]
    for comment in alone:
        first, last = comment.line, _last_line(comment)
        is_code[first : last + 1] = bytes(last + 1 - first)
    items += ((first, 2, replace(block, place=places[owner[first]])) for first, block in blocks_of(alone))
    number = 1
    while number <= n:
        first, inside = number, owner[number]
        while number <= n and is_code[number] and owner[number] == inside:
            number += 1
        definition = definitions[inside] if inside >= 0 else None
        if (code := _code(shape, first, number - 1, definition)) is not None:
            items.append((first, 1, replace(code, place=places[inside])))
        number = max(number, first + 1)
    items.sort(key=itemgetter(0, 1))
    deepest = 0
    for line, _, block in items:
        depth = block.level or levels[owner[line]]
        if depth < deepest and not block.level:
            yield Block("", block.start, depth + 1)
        deepest = depth
        yield block


def _code(shape: Shape, first: int, last: int, definition: Definition | None) -> Block | None:
    """The block of the lines `first` to `last`, without the indentation that the whole definition has."""
    while first <= last and not shape.source_line(first):
        first += 1
    if first > last:
        return None
    head = definition.line if definition is not None and first <= definition.line <= last else 0
    margin = _margin(shape.source_line(definition.line)) if definition is not None else 0
    lines, anchors, spans = list[str](), list[tuple[int, int]](), list[tuple[int, int]]()
    at = depth = 0
    begin = -1  # of the sentence that these lines are in
    for number in range(first, last + 1):
        raw = shape.source_line(number)
        cut = min(margin, _margin(raw))
        text = raw[cut:]
        anchors.append((at, shape.starts[number - 1] + cut))
        lines.append(text)
        end = at + len(text)
        if not text:
            if begin >= 0:
                spans.append((begin, at - 1))
                begin, depth = -1, 0
        elif begin < 0 and spans and not _WORD.search(text) and spans[-1][1] + 1 >= at:
            spans[-1] = (spans[-1][0], end)
        else:
            begin = at + len(text) - len(text.lstrip()) if begin < 0 else begin
            mask = shape.line(number)
            depth += mask.count("(") + mask.count("[") - mask.count(")") - mask.count("]")
            is_whole = depth <= 0 and number >= head and (head or end - begin >= _ENOUGH)
            if end - begin >= _MOST or is_whole:
                spans.append((begin, end))
                begin, depth, head = -1, 0, 0
        at = end + 1
    text = "\n".join(lines).rstrip()
    if begin >= 0:
        spans.append((begin, len(text)))
    return Block(text, anchors[0][1], anchors=tuple(anchors), sentences=tuple(spans))


def _margin(line: str) -> int:
    return len(line) - len(line.lstrip(" \t"))
