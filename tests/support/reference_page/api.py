"""The public names of the packages with their signatures and docstrings, as one Markdown page.

PUBLIC in semsearch/__init__.py says which names these are. Fields of dataclasses have the comments of the source.
"""

from __future__ import annotations

import ast
import dataclasses
import inspect
import re
from collections.abc import Callable, Iterator
from functools import cache
from typing import Any

from reference_page.markdown import code, prose, unwrapped
from reference_page.sources import find_class
from semsearch import PUBLIC, load_public, public_names

_OPENING = """\
# Python reference

The whole public API: what programs may import, with its signatures and docstrings. Everything else is private.
[Python](docs/developers/python.md) shows how the names are used together.
"""
_LONGEST = 100  # characters of a value or of a line of code
_SPACES = re.compile(r"\s+")


def api_page() -> str:
    """Write the reference of the Python API. The same code gives the same bytes."""
    return "\n".join([_OPENING, *(line for namespace in PUBLIC for line in _namespace(namespace))]).rstrip("\n") + "\n"


def _namespace(namespace: str) -> Iterator[str]:
    yield from (f"## {namespace}", "")
    if namespace != "semsearch":
        yield from (f"`from {namespace} import …`", "")
    names = public_names(namespace)
    for name in sorted(names, key=str.lower):
        yield from _named(name, load_public(namespace, name), names[name])


def _named(name: str, value: Any, module: str) -> Iterator[str]:
    yield from (f"### {name}", "")
    if inspect.isclass(value):
        yield from _class(name, value, module)
    elif inspect.isfunction(inspect.unwrap(value)):
        yield from (*_signature(name, value), *_text(value.__doc__))
    else:
        text = _SPACES.sub(" ", re.sub(r" at 0x\w+", "", repr(value)))
        yield from (code(text if len(text) <= _LONGEST else text[: _LONGEST - 1] + "…"), "")


def _class(name: str, value: type[Any], module: str) -> Iterator[str]:
    is_plain = dataclasses.is_dataclass(value)
    if not is_plain and "__init__" in vars(value):
        yield from _signature(name, value)
    yield from _text(vars(value).get("__doc__"))
    source = find_class(name, module)
    if is_plain and source and source.stored:
        yield from ("| field | type | meaning |", "|---|---|---|")
        for one in source.stored:
            yield f"| {code(one.name)} | {code(ast.unparse(one.annotation))} | {prose(one.comment)} |"
        yield ""
    if bases := [base.__name__ for base in value.__mro__[1:] if base in _public_classes()]:
        yield from (f"Has all that {' and '.join(f'[{base}](#{base.lower()})' for base in bases)} has.", "")
    for each, member in _members(value):
        function = member.fget if isinstance(member, property) else getattr(member, "__func__", member)
        yield from (f"#### {name}.{each}", "")
        yield from ("A property.", "") if isinstance(member, property) else _signature(f"{name}.{each}", function)
        yield from _text(inspect.getdoc(function))


@cache
def _public_classes() -> set[type[Any]]:
    found = (load_public(namespace, name) for namespace in PUBLIC for name in public_names(namespace))
    return {one for one in found if inspect.isclass(one)}


def _members(value: type[Any]) -> Iterator[tuple[str, Any]]:
    """The public methods and properties that have a docstring, of the class and of its private bases."""
    seen: set[str] = set()
    for base in value.__mro__:
        if not base.__module__.startswith("semsearch") or (base is not value and base in _public_classes()):
            continue
        for name, member in vars(base).items():
            function = member.fget if isinstance(member, property) else getattr(member, "__func__", member)
            if not name.startswith("_") and name not in seen and inspect.isfunction(function):
                seen.add(name)
                if inspect.getdoc(function):
                    yield name, member


def _signature(name: str, function: Callable[..., Any]) -> Iterator[str]:
    """The call as Python writes it, one parameter on each line where it is long."""
    try:
        found = inspect.signature(function)
    except ValueError:
        return
    parameters = [one for one in found.parameters.values() if one.name not in ("self", "cls")]
    bare = found.replace(parameters=parameters)
    line = f"{name}{_shown(str(bare))}"
    if len(line) > _LONGEST:
        kinds = [str(one) for one in parameters]
        keyword = next((n for n, one in enumerate(parameters) if one.kind is one.KEYWORD_ONLY), None)
        if keyword is not None and not any(one.kind is one.VAR_POSITIONAL for one in parameters):
            kinds.insert(keyword, "*")
        inner = "".join(f"    {_shown(each)},\n" for each in kinds)
        result = "" if bare.return_annotation is bare.empty else f" -> {_annotation(bare.return_annotation)}"
        line = f"{name}(\n{inner}){_shown(result)}"
    yield from ("```python", line, "```", "")


def _annotation(annotation: Any) -> str:
    return annotation if isinstance(annotation, str) else inspect.formatannotation(annotation)


def _shown(text: str) -> str:
    """A signature without quotes around annotations, and with objects by their names."""
    text = re.sub(r"(: |-> )'([^']*)'", r"\1\2", text)
    return re.sub(r"<(?:function|class|object) ?'?([\w.]+)'?[^>]*>", r"\1", text)


def _text(docstring: str | None) -> Iterator[str]:
    """A docstring as Markdown: indented paragraphs are code."""
    for paragraph in re.split(r"\n\s*\n", unwrapped(docstring or "")):
        if paragraph.startswith("    "):
            yield from (paragraph, "")
        elif paragraph.strip():
            yield from (prose(_SPACES.sub(" ", paragraph)), "")
