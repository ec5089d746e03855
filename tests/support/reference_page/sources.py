"""The packages' own source, as syntax trees: classes with their fields, and the comments beside these.

Read and not imported, because a comment is not there at run time, and because an annotation may name a class that is
imported for type checking only.
"""

from __future__ import annotations

import ast
import io
import tokenize
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

ROOT = Path(__file__).parents[3]
_FOLDERS = {"semsearch": ROOT, "semsearch_research": ROOT / "research"}  # of packages


@dataclass(frozen=True, slots=True)
class ClassField:
    """A field of a class, or a property of it."""

    name: str
    annotation: ast.expr
    comment: str  # behind it, in the line where it ends
    default: ast.expr | None = None


@dataclass(frozen=True, slots=True)
class ClassSource:
    """A class as it is written."""

    name: str
    module: str
    node: ast.ClassDef

    @property
    def docstring(self) -> str:
        """Empty where it has none."""
        return ast.get_docstring(self.node) or ""

    @property
    def fields(self) -> dict[str, ClassField]:
        """The fields, in order, and then the properties."""
        comments = _comments(self.module)
        found = {
            node.target.id: ClassField(
                node.target.id, node.annotation, comments.get(node.end_lineno or 0, ""), node.value
            )
            for node in self.node.body
            if isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name)
        }
        for method in self._methods():
            if method.returns is not None and any(ast.unparse(one) == "property" for one in method.decorator_list):
                found[method.name] = ClassField(method.name, method.returns, "")
        return found

    @property
    def stored(self) -> list[ClassField]:
        """The fields that a dataclass has."""
        properties = {method.name for method in self._methods()}
        return [field for field in self.fields.values() if field.name not in properties]

    def method(self, name: str) -> ast.FunctionDef | None:
        """A method of its own."""
        return next((method for method in self._methods() if method.name == name), None)

    def _methods(self) -> Iterator[ast.FunctionDef]:
        return (node for node in self.node.body if isinstance(node, ast.FunctionDef))


def find_class(name: str, module: str) -> ClassSource | None:
    """The class that a name means in a module of ours; None where it is none of ours."""
    found = _meaning(name, module)
    return found if isinstance(found, ClassSource) else None


def find_alias(name: str, module: str) -> tuple[ast.expr, str] | None:
    """The value that a name such as Mode is given in its module, and that module; None for other names."""
    found = _meaning(name, module)
    return found if isinstance(found, tuple) else None


def _meaning(name: str, module: str) -> ClassSource | tuple[ast.expr, str] | None:
    if module.partition(".")[0] not in _FOLDERS:
        return None
    for node in ast.walk(_tree(module)):
        match node:
            case ast.ClassDef() if node.name == name:
                return ClassSource(name, module, node)
            case ast.Assign(targets=[ast.Name(id=target)], value=value) if target == name:
                return value, module
            case ast.ImportFrom(module=str(source)) if any((one.asname or one.name) == name for one in node.names):
                return _meaning(next(one.name for one in node.names if (one.asname or one.name) == name), source)
    return None


def path_of(module: str) -> Path:
    """The file of a module."""
    package, *_ = parts = module.split(".")
    path = _FOLDERS[package].joinpath(*parts)
    return path / "__init__.py" if path.is_dir() else path.with_suffix(".py")


@cache
def _tree(module: str) -> ast.Module:
    return ast.parse(path_of(module).read_text(encoding="utf-8"))


@cache
def _comments(module: str) -> dict[int, str]:
    """The comments by their lines, without what is for the linter."""
    source = io.StringIO(path_of(module).read_text(encoding="utf-8"))
    tokens = tokenize.generate_tokens(source.readline)
    return {token.start[0]: token.string.lstrip("# ") for token in tokens if token.type == tokenize.COMMENT}
