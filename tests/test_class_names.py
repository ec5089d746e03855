"""A class name says which class is meant, wherever it is read."""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import semsearch


def _statements(within: ast.AST) -> Iterator[ast.stmt]:
    """All statements, and none of the expressions, which are most of a program."""
    for node in ast.iter_child_nodes(within):
        if isinstance(node, ast.stmt):
            yield node
            yield from _statements(node)
        elif isinstance(node, ast.ExceptHandler | ast.match_case):
            yield from _statements(node)


def test_no_two_classes_have_one_name() -> None:
    names = Counter(
        node.name
        for path in Path(semsearch.__file__).parent.rglob("*.py")
        for node in _statements(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.ClassDef)
    )
    assert {name: count for name, count in names.items() if count > 1} == {}
