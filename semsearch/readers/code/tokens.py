"""Source code in any language that Pygments knows: its comments, and the lines that name functions and classes."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterator
from dataclasses import replace
from pathlib import PurePath
from typing import Any

from pygments.lexers import get_lexer_for_filename
from pygments.token import Comment as CommentToken
from pygments.token import Name, String
from pygments.util import ClassNotFound

from semsearch.errors import SourceError
from semsearch.readers import text
from semsearch.readers.code.comments import Comment, blocks_of
from semsearch.readers.document import Block, Document, line_starts

_LARGEST = 2_000_000  # characters of a file that a person wrote
_LONG_LINES = 300  # characters of its lines, on average
_LONGEST = 200  # characters of a line that names something
_NAMES = (Name.Function, Name.Class)
_DEFINE = frozenset("function func fn def class interface struct enum trait".split())  # for lexers that only say Name
_NOT_COMMENTS = (CommentToken.Preproc, CommentToken.PreprocFile, CommentToken.Hashbang)


def read(source: str, name: str) -> Document:
    """Comments and definitions in order; all of a file whose language is not known. The title is the file's name.

    Raises SourceError for what a program has written: Pygments takes seconds for a megabyte, and nobody reads it.
    """
    starts = line_starts(source)
    if len(source) > _LARGEST or len(source) > _LONG_LINES * len(starts) + _LARGEST // 100:
        raise SourceError(f"{name} looks generated: {len(source):,} characters in {len(starts):,} lines; exclude it")
    try:
        lexer: Any = get_lexer_for_filename(name, stripnl=False, ensurenl=False)
    except ClassNotFound:
        plain = text.read(source, name)
        return Document(source, plain.blocks, "code", PurePath(name).name)
    comments: list[Comment] = []
    definitions: dict[int, Block] = {}
    line, word = 1, ""
    for start, kind, value in lexer.get_tokens_unprocessed(source):
        while line < len(starts) and starts[line] <= start:
            line += 1
        if (kind in CommentToken and kind not in _NOT_COMMENTS) or kind in String.Doc:
            _add(comments, Comment(value, start, line, not source[starts[line - 1] : start].strip()))
        elif (kind in _NAMES or (kind in Name and word in _DEFINE)) and line not in definitions:
            definitions[line] = _definition(source, starts, line, value)
        word = value.strip() or word
    blocks = [*definitions.values(), *_placed(comments, definitions)]
    return Document(source, sorted(blocks, key=lambda block: block.start), "code", PurePath(name).name)


def _add(comments: list[Comment], comment: Comment) -> None:
    """One more; lexers give some comments in pieces."""
    last = comments[-1] if comments else None
    if last is not None and last.start + len(last.text) == comment.start and not last.text.endswith(("\n", "\r")):
        comments[-1] = replace(last, text=last.text + comment.text)
    else:
        comments.append(comment)


def _definition(source: str, starts: list[int], line: int, name: str) -> Block:
    """The line of a definition as it stands, without the brace at its end."""
    first = starts[line - 1]
    last = starts[line] if line < len(starts) else len(source)
    text = source[first:last].rstrip().rstrip("{").rstrip()
    start = first + len(text) - len(text.lstrip())
    return Block(text.lstrip()[:_LONGEST].rstrip(), start, place=name)


def _placed(comments: list[Comment], definitions: dict[int, Block]) -> Iterator[Block]:
    """Comments with the name that follows right after them, else the one that they follow."""
    lines = sorted(definitions)
    for line, block in blocks_of(comments):
        after = line + block.text.count("\n") + 1
        following = bisect_left(lines, after)
        if following == len(lines) or lines[following] > after + 2:
            following = bisect_right(lines, line) - 1
        yield replace(block, place=definitions[lines[following]].place if following >= 0 else None)
