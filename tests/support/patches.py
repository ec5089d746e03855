"""Which statements of a test replace an attribute of something that is not this project's.

A function of `time`, `os` or `threading` belongs to the whole process: other threads call it while a test has replaced
it. This reads tests by `ast`, follows their imports into the modules of the project, and finds calls of `setattr`,
`delattr`, `monkeypatch.setattr`, `monkeypatch.setitem`, `mock.patch` and their like, assignments and `del`, whose
target is not the project's, and those that replace what a module of the project has imported from elsewhere.

It follows import aliases (`import os.path as p`), attributes of modules of the project (`model_reranker.time`), dotted
names in strings (`"semsearch.search.make_hits.os.stat"`), names that are assigned or looped over, `__import__("os")`
and `importlib.import_module("os")`. It cannot know what a parameter is; `fixture.time` is taken for the module.
"""

from __future__ import annotations

import ast
import builtins
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cache, cached_property
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PARTS = ("integrations", "research")
SEARCHED = (
    ROOT,
    *(ROOT / part for part in PARTS),
    ROOT / "tests" / "support",
    ROOT / "tests" / "supply",
    ROOT / "tests",
)
OURS = ("semsearch", "semsearch_integrations", "semsearch_research", "tests")
_ATTRIBUTES = ("setattr", "delattr")  # of a module, a class, an object
_ITEMS = ("setitem", "delitem")  # of a mapping
_PATCHES = ("patch", "patch.object", "patch.dict", "patch.multiple")  # of unittest.mock
_REPLACING = {name.rpartition(".")[2] for name in (*_ATTRIBUTES, *_ITEMS, *_PATCHES)}
_IMPORTERS = ("__import__", "import_module")
_ALLOWED_ITEMS = ("sys.modules",)  # that a package is missing, or a stand-in for it, can be said in no other way


@dataclass(frozen=True)
class Patch:
    """A statement that replaces what is not ours."""

    line: int
    target: str  # such as time.monotonic, or os.* where the attribute is not a literal

    def __str__(self) -> str:
        return f"{self.line}: {self.target}"


def foreign_patches(source: str) -> list[Patch]:
    """The statements of a program that replace what is not the project's, in their order."""
    tree = ast.parse(source)
    names = _Names(tree)
    found = {patch for node in ast.walk(tree) for patch in _patches(node, names)}
    return sorted(found, key=lambda patch: (patch.line, patch.target))


def _patches(node: ast.AST, names: _Names) -> Iterator[Patch]:
    if isinstance(node, ast.Call):
        yield from _patches_of_call(node, names)
    elif isinstance(node, ast.Assign | ast.Delete):
        for target in node.targets:
            yield from _assigned(target, names)
    elif isinstance(node, ast.AnnAssign | ast.AugAssign):
        yield from _assigned(node.target, names)


def _assigned(target: ast.expr, names: _Names) -> Iterator[Patch]:
    if isinstance(target, ast.Tuple | ast.List):
        for one in target.elts:
            yield from _assigned(one, names)
    elif isinstance(target, ast.Attribute):
        yield from _foreign(target, names.meanings(target.value), target.attr)


def _patches_of_call(call: ast.Call, names: _Names) -> Iterator[Patch]:
    last = _last_name(call.func)
    if not call.args or last not in _REPLACING:
        return
    function = ast.unparse(call.func)
    first = call.args[0]
    text = _literal(first)
    if last in _ITEMS:
        yield from _foreign(call, names.meanings(first), "[]")
    elif function.endswith(_PATCHES) and last != "object" and text is not None and last != "dict":
        yield from _foreign_text(call, text)
    elif last in _ATTRIBUTES or function.endswith(("patch.object", "patch.multiple", "patch.dict")):
        if text is not None:
            yield from _foreign_text(call, text)
        else:
            attribute = _literal(call.args[1]) if len(call.args) > 1 else None
            yield from _foreign(call, names.meanings(first), "[]" if last == "dict" else attribute or "*")


def _foreign_text(call: ast.Call, dotted: str) -> Iterator[Patch]:
    owner, _, attribute = dotted.rpartition(".")
    yield from _foreign(call, {_followed(owner)}, attribute)


def _foreign(node: ast.expr, owners: set[str], attribute: str) -> Iterator[Patch]:
    for owner in owners:
        if attribute == "[]":
            if not _is_ours(owner) and owner not in _ALLOWED_ITEMS:
                yield Patch(node.lineno, f"{owner}[...]")
        elif not _is_ours(owner) or not _is_ours(_followed(f"{owner}.{attribute}")):
            yield Patch(node.lineno, f"{owner}.{attribute}")


def _is_ours(dotted: str) -> bool:
    return dotted.partition(".")[0] in OURS


def _last_name(function: ast.expr) -> str:
    """The last name of a dotted one; "" of another expression."""
    return function.attr if isinstance(function, ast.Attribute) else getattr(function, "id", "")


def _literal(node: ast.expr) -> str | None:
    return node.value if isinstance(node, ast.Constant) and isinstance(node.value, str) else None


@dataclass
class _Names:
    """What the names of a program are bound to by imports, single assignments and loops: dotted names."""

    tree: ast.Module
    _resolving: set[str] = field(default_factory=set)

    @cached_property
    def _imported(self) -> dict[str, set[str]]:
        return _imports(self.tree, package="")

    @cached_property
    def _given(self) -> dict[str, list[ast.expr]]:
        """The expressions that names are assigned, or that they go through in a loop."""
        found: dict[str, list[ast.expr]] = {}
        for node in ast.walk(self.tree):
            if isinstance(node, ast.Assign) and len(node.targets) == 1:
                for name, value in _pairs(node.targets[0], node.value):
                    found.setdefault(name, []).append(value)
            elif isinstance(node, ast.For | ast.comprehension) and isinstance(node.iter, ast.Tuple | ast.List):
                for one in node.iter.elts:
                    for name, value in _pairs(node.target, one):
                        found.setdefault(name, []).append(value)
        return found

    def meanings(self, node: ast.expr) -> set[str]:
        """The dotted names of all that an expression may be; none where that is an object, or not known."""
        if isinstance(node, ast.Attribute):
            owners = self.meanings(node.value)
            if not owners and node.attr in sys.stdlib_module_names:
                return {node.attr}  # of a module that a fixture gave
            return {_followed(f"{owner}.{node.attr}") for owner in owners}
        if isinstance(node, ast.Call) and _last_name(node.func) in _IMPORTERS:
            return {text} if node.args and (text := _literal(node.args[0])) else set()
        if isinstance(node, ast.IfExp):
            return self.meanings(node.body) | self.meanings(node.orelse)
        if isinstance(node, ast.BoolOp):
            return set().union(*map(self.meanings, node.values))
        if not isinstance(node, ast.Name) or node.id in self._resolving:
            return set()
        if node.id in self._imported:
            return {_followed(one) for one in self._imported[node.id]}
        if node.id in self._given:
            self._resolving.add(node.id)
            try:
                return set().union(*map(self.meanings, self._given[node.id]))
            finally:
                self._resolving.discard(node.id)
        return {f"builtins.{node.id}"} if node.id in vars(builtins) and not _is_bound(self.tree, node.id) else set()


def _pairs(target: ast.expr, value: ast.expr) -> Iterator[tuple[str, ast.expr]]:
    if isinstance(target, ast.Name):
        yield target.id, value
    elif isinstance(target, ast.Tuple):
        values: Sequence[Sequence[ast.expr]] = []
        if isinstance(value, ast.Tuple):
            values = [value.elts]
        elif isinstance(value, ast.IfExp) and isinstance(value.body, ast.Tuple) and isinstance(value.orelse, ast.Tuple):
            values = [value.body.elts, value.orelse.elts]
        for elements in values:
            if len(elements) == len(target.elts):
                for one, its in zip(target.elts, elements, strict=True):
                    yield from _pairs(one, its)


def _is_bound(tree: ast.Module, name: str) -> bool:
    """Whether a program makes a name of its own of one of Python's."""
    return any(
        (isinstance(node, ast.Name) and node.id == name and not isinstance(node.ctx, ast.Load))
        or (isinstance(node, ast.arg) and node.arg == name)
        or (isinstance(node, ast.FunctionDef | ast.ClassDef | ast.AsyncFunctionDef) and node.name == name)
        for node in ast.walk(tree)
    )


def _imports(tree: ast.Module, package: str) -> dict[str, set[str]]:
    found: dict[str, set[str]] = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            for one in node.names:
                bound = one.asname or one.name.partition(".")[0]
                found.setdefault(bound, set()).add(one.name if one.asname else bound)
        elif isinstance(node, ast.ImportFrom):
            above = package.split(".")[: len(package.split(".")) - node.level + 1] if node.level else []
            home = ".".join([*above, *([node.module] if node.module else [])])
            for one in node.names:
                found.setdefault(one.asname or one.name, set()).add(f"{home}.{one.name}")
    return found


def _followed(dotted: str, depth: int = 0) -> str:
    """Follow a dotted name through the project's modules to where it comes from: semsearch.a.time to time."""
    parts = dotted.split(".")
    for count in range(len(parts) - 1, 0, -1):
        if (path := _module_file(".".join(parts[:count]))) is None:
            continue  # a folder without __init__.py, or an object in a module
        if _module_file(".".join(parts[: count + 1])) is not None:
            break
        package = ".".join(parts[: count if path.name == "__init__.py" else count - 1])
        bound = _imports_of(path, package).get(parts[count])
        if bound and depth < 10:
            return _followed(".".join([min(bound), *parts[count + 1 :]]), depth + 1)
        break
    return f"tests.{dotted}" if parts[0] not in OURS and _module_file(parts[0]) is not None else dotted


@cache
def _imports_of(path: Path, package: str) -> dict[str, set[str]]:
    return _imports(ast.parse(path.read_text(encoding="utf-8")), package)


@cache
def _module_file(dotted: str) -> Path | None:
    if dotted.partition(".")[0] in sys.stdlib_module_names:
        return None
    for folder in SEARCHED:
        home = folder.joinpath(*dotted.split("."))
        for path in (home.with_name(home.name + ".py"), home / "__init__.py"):
            if path.is_file():
                return path
    return None
