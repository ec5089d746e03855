"""Turn comments into blocks: their words without comment signs, those on consecutive lines together."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from semsearch.readers.document import Block

_LINE_END = re.compile(r"\r\n?|\n")
_OPENING = re.compile(
    r"\s*(?:/\*+!?|///*!?|\(\*+|\{-\|?|--\[=*\[|--+\|?|#!.*|#+:?|;+|%+|<!--|\"\"\"|'''|=begin\b|REM\b|!+)?[ \t]*"
)
_GOING_ON = re.compile(r"\s*(?:\*(?!/)(?=[\s*]|\Z)|#+|//+!?|;+|--+)?[ \t]*")
_CLOSING = re.compile(r"\s*(?:\*+/|\*+\)|-\}|\]=*\]|-->|\"\"\"|'''|=end)?\s*\Z")
_WORD = re.compile(r"[^\W\d_]{2}")
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
            if _WORD.search(text):
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
