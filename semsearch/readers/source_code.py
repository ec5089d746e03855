"""Source code in any language that Pygments knows: its comments as blocks, functions and classes as headings."""

from __future__ import annotations

import re
import time
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from pathlib import PurePath
from typing import Any

from pygments.lexers import get_lexer_for_filename
from pygments.token import Comment as CommentToken, Name, String
from pygments.util import ClassNotFound

from semsearch.errors import SourceError
from semsearch.readers import text
from semsearch.readers.document import Block, Document, line_starts

_LINE_END = re.compile(r"\r\n?|\n")
_OPENING = re.compile(
    r"\s*(?:/\*+!?|///*!?|\(\*+|\{-\|?|--\[=*\[|--+\|?|#!.*|#+:?|;+|%+|<!--|\"\"\"|'''|=begin\b|REM\b|!+)?[ \t]*"
)
_GOING_ON = re.compile(r"\s*(?:\*(?!/)(?=[\s*]|\Z)|#+|//+!?|;+|--+)?[ \t]*")
_CLOSING = re.compile(r"\s*(?:\*+/|\*+\)|-\}|\]=*\]|-->|\"\"\"|'''|=end)?\s*\Z")
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


def blocks_of(comments: Iterable[Comment]) -> Iterator[tuple[int, Block]]:
    """Yield the line and block of each comment or run of comments, but not of those without words, or for tools."""
    run: list[Comment] = []
    for comment in comments:
        if run and not (comment.alone and run[-1].alone and comment.line == _last_line(run[-1]) + 1):
            yield from _blocks(run)
            run = []
        run.append(comment)
    if run:
        yield from _blocks(run)


def _last_line(comment: Comment) -> int:
    return comment.line + len(_LINE_END.findall(comment.text.rstrip("\r\n")))


def _blocks(run: list[Comment]) -> Iterator[tuple[int, Block]]:
    """Yield a block for each paragraph of a run of comments; empty lines separate them."""
    lines: list[tuple[str, int, int]] = []
    for comment in run:
        lines += _lines(comment)
    paragraph: list[tuple[str, int, int]] = []
    for line in [*lines, ("", 0, 0)]:
        if line[0]:
            paragraph.append(line)
        elif paragraph:
            text = "\n".join(text for text, _, _ in paragraph)
            if _TWO_LETTERS.search(text):
                yield paragraph[0][2], _block(text, paragraph)
            paragraph = []


def _block(text: str, lines: list[tuple[str, int, int]]) -> Block:
    anchors = []
    offset = 0
    for line, start, _ in lines:
        anchors.append((offset, start))
        offset += len(line) + 1
    return Block(text, anchors[0][1], anchors=tuple(anchors) if len(anchors) > 1 else ())


def _lines(comment: Comment) -> Iterator[tuple[str, int, int]]:
    """The words of each line of a comment, their offset in the source, and the number of the line."""
    start, number = 0, comment.line
    ends = [*(found.span() for found in _LINE_END.finditer(comment.text)), (len(comment.text), len(comment.text))]
    for index, (end, following) in enumerate(ends):
        line = comment.text[start:end]
        found = (_OPENING if index == 0 else _GOING_ON).match(line)
        first = found.end() if found else 0
        closing = _CLOSING.search(line, first)
        text = line[first : closing.start() if closing else end].rstrip()
        yield ("" if _DIRECTIVE.match(text) else text), comment.start + start + first, number
        start, number = following, number + 1


# -- Tokens ------------------------------------------------------------------------------------------------------------

_LARGEST = 2_000_000  # characters of a file that a person wrote
_LONG_LINES = 300  # characters of its lines, on average
_WHITE = re.compile(r"(?<!\s)\s{2000}")  # for which many lexers take time that grows with its square
_MOST_SECONDS = 20.0  # of processor time for a file; source code takes five
_LOOKED_AT = 1000  # tokens between two readings of the clock
_LONGEST = 200  # characters of a line that names something
_INDENT = 2  # columns that show that something is within: one more is the star of a comment's line
_WORD_CHARACTER = re.compile(r"\w")
_NAMES = (Name.Function, Name.Class)
_DEFINE = frozenset("function func fn def class interface struct enum trait".split())  # for lexers that only say Name
_NOT_COMMENTS = (CommentToken.Preproc, CommentToken.PreprocFile, CommentToken.Hashbang)


def read(source: str, name: str) -> Document:
    """Read comments and definitions, in order; of an unknown language, all text. The title is the file's name.

    Raises SourceError for generated source: Pygments takes seconds for a megabyte, and nobody reads it.
    """
    starts = line_starts(source)
    if len(source) > _LARGEST or len(source) > _LONG_LINES * len(starts) + _LARGEST // 100 or _WHITE.search(source):
        raise SourceError(f"{name} looks generated: {len(source):,} characters in {len(starts):,} lines; exclude it")
    try:
        lexer: Any = get_lexer_for_filename(name, stripnl=False, ensurenl=False)
    except ClassNotFound:
        plain = text.read(source, name)
        return Document(source, plain.blocks, "code", PurePath(name).name)
    comments: list[Comment] = []
    definitions: dict[int, Block] = {}
    line, word = 1, ""
    for start, kind, value in _in_time(lexer.get_tokens_unprocessed(source), name):
        while line < len(starts) and starts[line] <= start:
            line += 1
        if (kind in CommentToken and kind not in _NOT_COMMENTS) or kind in String.Doc:
            _add(comments, Comment(value, start, line, not source[starts[line - 1] : start].strip()))
        elif (kind in _NAMES or (kind in Name and word in _DEFINE)) and line not in definitions:
            definitions[line] = _definition(source, starts, line, value)
        word = value.strip() or word
    definitions = _qualified(definitions, source, starts)
    blocks = [*definitions.values(), *_placed(comments, definitions, source, starts)]
    return Document(source, sorted(blocks, key=lambda block: block.start), "code", PurePath(name).name)


def _in_time(tokens: Iterator[Any], name: str) -> Iterator[Any]:
    """The tokens, as long as they do not take too long: text that is not source code can take hours."""
    end = time.thread_time() + _MOST_SECONDS
    for number, token in enumerate(tokens):
        if number % _LOOKED_AT == 0 and time.thread_time() > end:
            raise SourceError(f"{name} cannot be read as source code in {_MOST_SECONDS:.0f} seconds; exclude it")
        yield token


def _add(comments: list[Comment], comment: Comment) -> None:
    """Append a comment, or extend the last one: lexers give some comments in pieces."""
    last = comments[-1] if comments else None
    if last is not None and last.start + len(last.text) == comment.start and not last.text.endswith(("\n", "\r")):
        comments[-1] = replace(last, text=last.text + comment.text)
    else:
        comments.append(comment)


def _definition(source: str, starts: list[int], line: int, name: str) -> Block:
    """The block of a definition: its line as it is written, without the brace at its end."""
    first = starts[line - 1]
    last = starts[line] if line < len(starts) else len(source)
    text = source[first:last].rstrip().rstrip("{").rstrip()
    start = first + len(text) - len(text.lstrip())
    return Block(text.lstrip()[:_LONGEST].rstrip(), start, place=name)


def _qualified(definitions: dict[int, Block], source: str, starts: list[int]) -> dict[int, Block]:
    """Qualify the names of definitions, as in `Tide.rise`: a definition with a larger indent is nested."""
    found: dict[int, Block] = {}
    around: list[tuple[int, str]] = []  # indents and names of the definitions around a line
    for line, block in sorted(definitions.items()):
        indent = _indent(source, starts[line - 1])
        while around and around[-1][0] >= indent:
            around.pop()
        around.append((indent, block.place or ""))
        found[line] = replace(block, place=".".join(name for _, name in around))
    return found


def _placed(comments: list[Comment], definitions: dict[int, Block], source: str, starts: list[int]) -> Iterator[Block]:
    """Yield comments with their place: the definition right below them, if there is one, else the one before."""
    lines = sorted(definitions)
    for line, block in blocks_of(comments):
        after = line + block.text.count("\n") + 1
        at = bisect_left(lines, after)
        if at == len(lines) or lines[at] > after + 2 or not _is_above(block, line, lines[at], source, starts):
            at = bisect_right(lines, line) - 1
        yield replace(block, place=definitions[lines[at]].place if at >= 0 else None)


def _is_above(block: Block, line: int, following: int, source: str, starts: list[int]) -> bool:
    """Tell whether a comment has its lines to itself and is indented no further than the definition below."""
    alone = not _WORD_CHARACTER.search(source, starts[line - 1], block.start)
    return alone and _indent(source, starts[line - 1]) < _indent(source, starts[following - 1]) + _INDENT


def _indent(source: str, start: int) -> int:
    """The columns of white space that a line begins with."""
    line = source[start : start + _LONGEST].expandtabs(4)
    return len(line) - len(line.lstrip())
