"""Python: docstrings, comments, and the signatures of functions and classes as headings.

Source that is not valid Python of this version is read like other source code.
"""

from __future__ import annotations

import ast
import inspect
import io
import tokenize
import warnings
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import PurePath

from semsearch.readers import source_code
from semsearch.readers.align import Aligner
from semsearch.readers.document import Block, Document, line_starts
from semsearch.readers.source_code import Comment, blocks_of

_LONGEST = 200  # characters of a signature
_Scope = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef


def read(source: str, name: str) -> Document:
    """Read Python source: docstrings, comments and signatures, in order. The title is the file's name."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # about invalid escapes: not ours to mend
            tree = ast.parse(source)
    except (SyntaxError, ValueError, MemoryError):
        return source_code.read(source, name)
    reading = _PythonReading(source)
    reading.visit(tree, (), 0)
    blocks = sorted([*reading.blocks, *reading.comments()], key=lambda block: block.start)
    return Document(source, list(_with_ends(blocks)), "python", PurePath(name).name)


def _with_ends(blocks: list[Block]) -> Iterator[Block]:
    """The blocks with ends of sections between them: what follows a function is not under its heading."""
    deepest = 0
    for block in blocks:
        depth = block.level or min(block.place.count(".") + 1 if block.place else 0, 6)
        if depth < deepest and not block.level:
            yield Block("", block.start, depth + 1)
        deepest = depth
        yield block


@dataclass(frozen=True, slots=True)
class _Range:
    """The lines of a function or class, counted from 1, and its name."""

    first: int
    last: int
    name: str


class _PythonReading:
    def __init__(self, source: str) -> None:
        self._source = source
        self._starts = [*line_starts(source), len(source)]
        self._aligner = Aligner(source)
        self._ranges: list[_Range] = []
        self._last = (0, 0, 0)  # line, column and offset of the last call: a line may be the whole file
        self.blocks: list[Block] = []

    def visit(self, node: ast.AST, names: tuple[str, ...], depth: int) -> None:
        """Collect the docstrings and signatures in a node."""
        for child in ast.iter_child_nodes(node):
            if isinstance(child, _Scope):
                inner = (*names, child.name)
                name = _place_of(inner)
                first = min([child.lineno, *(decorator.lineno for decorator in child.decorator_list)])
                self._ranges.append(_Range(first, child.end_lineno or child.lineno, name))
                self._signature(child, name, min(depth + 1, 6))
                self.visit(child, inner, depth + 1)
            elif isinstance(child, ast.Expr) and isinstance(child.value, ast.Constant):
                if isinstance(child.value.value, str):
                    self._docstring(child.value, child.value.value, _place_of(names) or None)
            else:
                self.visit(child, names, depth)

    def _signature(self, node: _Scope, name: str, level: int) -> None:
        """Add the first line of a definition, as it is written, up to its colon."""
        start = self._offset(node.lineno, node.col_offset)
        end = self._starts[node.lineno] if node.lineno < len(self._starts) else len(self._source)
        text = self._source[start:end].rstrip().removesuffix(":")
        self.blocks.append(Block(text[:_LONGEST].rstrip(), start, level, place=name))

    def _docstring(self, node: ast.Constant, value: str, place: str | None) -> None:
        low = self._offset(node.lineno, node.col_offset)
        high = self._offset(node.end_lineno or node.lineno, node.end_col_offset or 0)
        for paragraph in _paragraphs(inspect.cleandoc(value)):
            found = self._source.find(paragraph, low, high)
            anchors = self._aligner.locate(paragraph, low, high) if found < 0 else ()
            block = Block(paragraph, anchors[0][1] if anchors else found, anchors=anchors, place=place)
            low = max(low, block.source_offset(len(paragraph) - 1))
            self.blocks.append(block)

    def comments(self) -> Iterator[Block]:
        """Yield the comments, those on consecutive lines together."""
        found: list[Comment] = []
        try:
            for token in tokenize.generate_tokens(io.StringIO(self._source, newline="").readline):
                if token.type == tokenize.COMMENT:
                    alone = not token.line[: token.start[1]].strip()
                    start = self._starts[token.start[0] - 1] + token.start[1]
                    found.append(Comment(token.string, start, token.start[0], alone))
        except (tokenize.TokenError, SyntaxError, IndexError):  # what ast takes and tokenize does not
            pass
        names = self._names()
        for line, block in blocks_of(found):
            yield replace(block, place=names[line] if line < len(names) else None)

    def _names(self) -> list[str | None]:
        """The innermost function or class that each line is in, by the line's number."""
        names: list[str | None] = [None] * (len(self._starts) + 1)
        for found in self._ranges:  # those within another come after it
            names[found.first : found.last + 1] = [found.name] * (found.last + 1 - found.first)
        return names

    def _offset(self, line: int, column: int) -> int:
        """The offset of a line and column as ast gives them: the column in bytes of UTF-8."""
        known, before, start = self._last if self._last[0] == line else (line, 0, self._starts[line - 1])
        if column < before:
            before, start = 0, self._starts[line - 1]
        rest = column - before
        text = self._source[start : start + rest]
        offset = start + (rest if text.isascii() else len(text.encode()[:rest].decode(errors="ignore")))
        self._last = known, column, offset
        return offset


def _place_of(names: tuple[str, ...]) -> str:
    return ".".join(name[:_LONGEST] for name in names)[:_LONGEST]


def _paragraphs(text: str) -> Iterator[str]:
    lines: list[str] = []
    for line in [*text.splitlines(), ""]:
        if line.strip():
            lines.append(line.strip())
        elif lines:
            yield "\n".join(lines)
            lines = []
