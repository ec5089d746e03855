"""Find in the source code what it reads and raises: environment variables, exit statuses, dataclasses."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from typing import Any

from guide import ROOT

SOURCES = sorted((ROOT / "semsearch").rglob("*.py"))
SOURCES_OF_RESEARCH = sorted((ROOT / "research" / "semsearch_research").rglob("*.py"))
_LOOPS = ast.For | ast.ListComp | ast.SetComp | ast.DictComp | ast.GeneratorExp
_EXITS = ("typer.Exit", "Exit", "sys.exit", "SystemExit", "os._exit", "exit")


def module_of(path: Path) -> str:
    """A file's name for Python."""
    parts = path.relative_to(ROOT).with_suffix("").parts
    return ".".join(part for part in parts if part != "research").removesuffix(".__init__")


def variables(source: str, module: str) -> Iterator[str]:
    """The environment variables that a module reads or sets. Constants that names mean are taken from the module."""
    if not any(word in source for word in ("environ", "getenv", "envvar")):
        return
    tree = ast.parse(source)
    for node in ast.walk(tree):
        match node:
            case ast.Subscript(value=base, slice=key) if _is_environ(base):
                yield from _names(key, tree, module)
            case ast.Call(func=ast.Attribute(value=base, attr="update"), args=[values]) if _is_environ(base):
                yield from _constant(values, module)
            case ast.Call(func=ast.Attribute(value=base, attr=method), args=[key, *_]) if _is_environ(
                base
            ) and method in ("get", "setdefault", "pop"):
                yield from _names(key, tree, module)
            case ast.Call(func=function, args=[key, *_]) if ast.unparse(function) in ("os.getenv", "getenv"):
                yield from _names(key, tree, module)
            case ast.Dict(keys=keys, values=values) if any(map(_is_environ, values)):
                for key, value in zip(keys, values, strict=True):
                    if key is not None:
                        yield from _names(key, tree, module)
                    elif isinstance(value, ast.Name):
                        yield from _constant(value, module)
            case ast.keyword(arg="envvar", value=value):
                names = _constant(value, module)
                yield from [names] if isinstance(names, str) else names


def _is_environ(node: ast.expr) -> bool:
    return ast.unparse(node) in ("os.environ", "environ")


def _names(key: ast.expr, tree: ast.Module, module: str) -> list[str]:
    """The variables that a key means: itself, or those of the constant that a loop takes it from."""
    if isinstance(key, ast.Constant):
        return [key.value]
    found: list[str] = []
    for loop in ast.walk(tree):
        if isinstance(loop, _LOOPS) and any(node is key for node in ast.walk(loop)):
            for part in [loop] if isinstance(loop, ast.For) else loop.generators:
                if ast.unparse(part.target) == ast.unparse(key):
                    found += _constant(part.iter, module)
    assert found, f"{module}, line {key.lineno}: which environment variable is meant? Name it, or loop over a constant"
    return found


def _constant(node: ast.expr, module: str) -> Any:
    """The value of a literal, or of a module's constant."""
    return getattr(import_module(module), node.id) if isinstance(node, ast.Name) else ast.literal_eval(node)


def statuses(source: str, module: str) -> Iterator[int]:
    """The exit statuses that a module names."""
    if not any(name in source for name in _EXITS):
        return
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Call) and ast.unparse(node.func) in _EXITS:
            for value in node.args[:1] + [keyword.value for keyword in node.keywords if keyword.arg == "code"]:
                yield _constant(value, module)


def dataclasses_in(path: Path) -> list[str]:
    """The names of the dataclasses of a module."""
    return [
        node.name
        for node in ast.parse(path.read_text(encoding="utf-8")).body
        if isinstance(node, ast.ClassDef) and any("dataclass" in ast.unparse(one) for one in node.decorator_list)
    ]
