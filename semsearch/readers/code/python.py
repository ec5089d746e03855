"""Python: docstrings and comments as prose, and all else as code, by functions and classes as the parser sees them.

Source that is not valid Python of this version is read like other source code.
"""

from __future__ import annotations

import ast
import inspect
import warnings
from collections.abc import Iterator
from dataclasses import replace

from semsearch.readers.align import Aligner
from semsearch.readers.code import source_code
from semsearch.readers.code.code_languages import PYTHON
from semsearch.readers.code.source_code import Definition, document_of, scanned, with_comments_above
from semsearch.readers.document import Block, Document, line_starts

_Scope = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef


def read(source: str, name: str) -> Document:
    """Read Python source: docstrings, comments and code, in order. The title is the file's name.

    Of a file that a program wrote, code is left out but for signatures, and an omission says so.
    """
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # about invalid escapes: not ours to mend
            tree = ast.parse(source)
    except (SyntaxError, ValueError, MemoryError):
        return source_code.read(source, name)
    reading = _PythonReading(source)
    reading.visit(tree)
    shape = replace(scanned(source, line_starts(source), PYTHON), prose=reading.prose)
    shape = replace(shape, definitions=with_comments_above(reading.definitions, shape))
    return document_of(shape, "python", name)


class _PythonReading:
    def __init__(self, source: str) -> None:
        self._source = source
        self._starts = [*line_starts(source), len(source)]
        self._aligner = Aligner(source)
        self._last = (0, 0, 0)  # line, column and offset of the last call: a line may be the whole file
        self.definitions: list[Definition] = []
        self.prose: list[tuple[int, int, Block]] = []

    def visit(self, node: ast.AST) -> None:
        """Collect the docstrings and definitions in a node."""
        for child in ast.iter_child_nodes(node):
            if isinstance(child, _Scope):
                first = min([child.lineno, *(decorator.lineno for decorator in child.decorator_list)])
                last = child.end_lineno or child.lineno
                self.definitions.append(Definition(first, child.lineno, last, child.name))
                self.visit(child)
            elif isinstance(child, ast.Expr) and isinstance(child.value, ast.Constant):
                if isinstance(child.value.value, str):
                    self._docstring(child.value, child.value.value)
            elif not isinstance(child, ast.expr):
                self.visit(child)

    def _docstring(self, node: ast.Constant, value: str) -> None:
        low = self._offset(node.lineno, node.col_offset)
        high = self._offset(node.end_lineno or node.lineno, node.end_col_offset or 0)
        first, last = node.lineno, node.end_lineno or node.lineno
        line_end = self._starts[last] if last < len(self._starts) else len(self._source)
        if self._source[self._starts[first - 1] : low].strip() or self._source[high:line_end].strip():
            last = first - 1  # its lines are code too
        for paragraph in _paragraphs(inspect.cleandoc(value)):
            start = self._source.find(paragraph, low, high)
            anchors = self._aligner.locate(paragraph, low, high) if start < 0 else ()
            block = Block(paragraph, anchors[0][1] if anchors else start, anchors=anchors)
            low = max(low, block.source_offset(len(paragraph) - 1))
            self.prose.append((first, last, block))

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


def _paragraphs(text: str) -> Iterator[str]:
    lines: list[str] = []
    for line in [*text.splitlines(), ""]:
        if line.strip():
            lines.append(line.strip())
        elif lines:
            yield "\n".join(lines)
            lines = []
