"""The keys of the JSON objects that results become, from the source of their classes.

A class whose `to_dict` writes the keys out has those; any other has its fields, as semsearch.results.codec gives
them.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass

from reference_page.sources import ClassField, ClassSource, find_alias, find_class

_SIMPLE = {
    "str": "text",
    "int": "whole number",
    "float": "number",
    "bool": "true or false",
    "Path": "text",
    "Any": "any value",
}
_LISTS = ("tuple", "list", "Sequence", "Iterable")
_OBJECTS = ("dict", "Mapping")


@dataclass(frozen=True, slots=True)
class Kind:
    """The kind of a JSON value, in words, and the classes that these words name."""

    words: str
    classes: tuple[ClassSource, ...] = ()


@dataclass(frozen=True, slots=True)
class Key:
    """A key of an object. A name in angle brackets stands for any number of keys; an optional one may be missing."""

    name: str
    kind: Kind
    meaning: str = ""
    is_optional: bool = False


def keys_of(found: ClassSource) -> list[Key]:
    """The keys of the object that an instance becomes, in order."""
    method = found.method("to_dict")
    written = None if method is None else _returned(method)
    if written is not None:
        return list(_written(written, found))
    removed = set() if method is None else _removed(method)
    return [
        Key(
            _called(one) or one.name,
            kind_of(one.annotation, found.module),
            one.comment,
            is_optional=one.name in removed or "ONLY_IF_SET" in ast.unparse(one.default or ast.Constant(None)),
        )
        for one in found.stored
    ]


def kind_of(annotation: ast.expr, module: str) -> Kind:
    """The kind of a JSON value that an annotation in a module says."""
    match annotation:
        case ast.Constant(value=None):
            return Kind("null")
        case ast.Constant(value=str(text)):
            return kind_of(ast.parse(text, mode="eval").body, module)
        case ast.BinOp(left=left, right=right, op=ast.BitOr()):
            return _joined("{} or {}", kind_of(left, module), kind_of(right, module))
        case ast.Name(id=name):
            return _named(name, module)
        case ast.Subscript(value=ast.Name(id="Literal"), slice=options):
            values = options.elts if isinstance(options, ast.Tuple) else [options]
            return Kind(" or ".join(f'"{ast.literal_eval(value)}"' for value in values))
        case ast.Subscript(value=ast.Name(id=name), slice=inside) if name in _LISTS:
            return _list(inside, module)
        case ast.Subscript(value=ast.Name(id=name), slice=ast.Tuple(elts=[_, value])) if name in _OBJECTS:
            return _joined("object of {}", kind_of(value, module))
    return Kind("any value")


def _named(name: str, module: str) -> Kind:
    if name in _SIMPLE:
        return Kind(_SIMPLE[name])
    if found := find_class(name, module):
        return Kind(name, (found,))
    alias = find_alias(name, module)
    return kind_of(*alias) if alias else Kind("any value")


def _list(inside: ast.expr, module: str) -> Kind:
    """`tuple[X, ...]` and `list[X]` are lists of X; `tuple[X, X]` is a list of two."""
    if not isinstance(inside, ast.Tuple):
        return _joined("list of {}", kind_of(inside, module))
    entries = [one for one in inside.elts if not (isinstance(one, ast.Constant) and one.value is ...)]
    kinds = [kind_of(one, module) for one in entries]
    if len(kinds) == len(inside.elts) and len({kind.words for kind in kinds}) == 1:
        return Kind(f"list of {len(kinds)}: {kinds[0].words}", kinds[0].classes)
    return _joined("list of " + ", ".join("{}" for _ in kinds), *kinds)


def _joined(pattern: str, *kinds: Kind) -> Kind:
    return Kind(pattern.format(*(kind.words for kind in kinds)), tuple(one for kind in kinds for one in kind.classes))


def _returned(method: ast.FunctionDef) -> ast.Dict | None:
    """The dict that a method returns, where it is written out."""
    values = [node.value for node in ast.walk(method) if isinstance(node, ast.Return)]
    return next((value for value in values if isinstance(value, ast.Dict)), None)


def _called(one: ClassField) -> str | None:
    """The key of a field whose metadata say that JSON calls it otherwise (semsearch.results.codec)."""
    for node in ast.walk(one.default or ast.Constant(None)):
        if isinstance(node, ast.Call) and ast.unparse(node.func) == "called":
            return str(ast.literal_eval(node.args[0]))
    return None


def _removed(method: ast.FunctionDef) -> set[str]:
    """The keys that a method takes out of what it returns, or leaves out (`without`), under some condition."""
    nodes = [*ast.walk(method)]
    gone = [target for node in nodes if isinstance(node, ast.Delete) for target in node.targets]
    omitted = [
        text for node in nodes if isinstance(node, ast.keyword) and node.arg == "without" for text in ast.walk(node)
    ]
    return {
        *(ast.literal_eval(target.slice) for target in gone if isinstance(target, ast.Subscript)),
        *(text.value for text in omitted if isinstance(text, ast.Constant) and isinstance(text.value, str)),
    }


def _written(written: ast.Dict, found: ClassSource) -> Iterator[Key]:
    """The keys of a dict that `to_dict` writes out."""
    for key, value in zip(written.keys, written.values, strict=True):
        about = _field(value, found)
        if key is None:
            yield from _spread(value, about, found)
        else:
            names = " or ".join(ast.literal_eval(name) for name in _either(key))
            yield Key(names, _kind_of_value(value, found), about.comment if about else "")


def _either(key: ast.expr) -> list[ast.expr]:
    """A key, or both of `"bytes" if ... else "seconds"`."""
    return [key.body, key.orelse] if isinstance(key, ast.IfExp) else [key]


def _spread(value: ast.expr, about: ClassField | None, found: ClassSource) -> Iterator[Key]:
    """The keys that `**value` adds: those of another result, those of a list of names, or one for each entry."""
    inner = kind_of(about.annotation, found.module).classes if about else ()
    if isinstance(value, ast.Call) and inner:
        yield from keys_of(inner[0])
    elif names := list(_names(value, found)):
        yield from (Key(name, _kind_of_attribute(name, about, found)) for name in names)
    elif about:
        yield Key(f"<{about.name}>", Kind("number"), about.comment)


def _names(value: ast.expr, found: ClassSource) -> Iterator[str]:
    """The names that a dict is made of: its keys, or those of the local dict or tuple that it goes through."""
    match value:
        case ast.Dict(keys=keys):
            yield from (ast.literal_eval(key) for key in keys if key)
        case ast.Tuple(elts=names):
            yield from (ast.literal_eval(name) for name in names)
        case ast.DictComp(generators=[ast.comprehension(iter=through)]):
            yield from _names(through, found)
        case ast.Call(func=ast.Attribute(value=through, attr="items")):
            yield from _names(through, found)
        case ast.Name(id=local):
            for node in ast.walk(found.node):
                if isinstance(node, ast.Assign | ast.AnnAssign) and node.value is not None:
                    targets = node.targets if isinstance(node, ast.Assign) else [node.target]
                    if any(isinstance(target, ast.Name) and target.id == local for target in targets):
                        yield from _names(node.value, found)


def _kind_of_attribute(name: str, about: ClassField | None, found: ClassSource) -> Kind:
    """The kind of the field of that name, of the class itself or of the one that `about` holds."""
    inner = kind_of(about.annotation, found.module).classes if about else ()
    for one in (found, *inner):
        if name in one.fields:
            return kind_of(one.fields[name].annotation, one.module)
    return Kind("any value")


def _field(value: ast.expr, found: ClassSource) -> ClassField | None:
    """The field or property that a value is made of."""
    fields = found.fields
    for node in ast.walk(value):
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == "self":
            return fields.get(node.attr)
    return None


def _kind_of_value(value: ast.expr, found: ClassSource) -> Kind:
    """The kind of an expression in `to_dict`: that of its field, unless the expression converts it."""
    about = _field(value, found)
    kind = kind_of(about.annotation, found.module) if about else Kind("object")
    match value:
        case ast.Call(func=ast.Name(id="len")):
            return Kind("whole number")
        case ast.Call(func=ast.Name(id="dict")) if not kind.words.startswith("object"):
            return Kind("object")
        case ast.List(elts=entries):
            return Kind(f"list of {len(entries)}: {kind.words}", kind.classes)
        case ast.Dict():
            return Kind("object")
        case ast.DictComp(value=ast.Dict()):
            return Kind("object of objects")
        case ast.DictComp(value=ast.Call(func=ast.Name(id=name))) if name not in ("round", "float", "int", "dict"):
            return Kind("object")
    return kind
