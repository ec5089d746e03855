"""A class name says which class is meant, wherever it is read."""

from __future__ import annotations

import ast
from collections import Counter
from pathlib import Path

import semsearch


def test_no_two_classes_have_one_name() -> None:
    names = Counter(
        node.name
        for path in Path(semsearch.__file__).parent.rglob("*.py")
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.ClassDef)
    )
    assert {name: count for name, count in names.items() if count > 1} == {}
