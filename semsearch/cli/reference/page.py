"""The whole reference as one Markdown page."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator

from semsearch.cli.exit_status import STATUSES
from semsearch.cli.main import app
from semsearch.cli.reference.commands import PROGRAM, command_lines, commands
from semsearch.cli.reference.environment import VARIABLES
from semsearch.cli.reference.keys import Key, keys_of
from semsearch.cli.reference.markdown import code, prose, unwrapped
from semsearch.cli.reference.printed import PRINTED, Printed
from semsearch.cli.reference.sources import ClassSource, path_of

_OPENING = """\
<!-- Made by: python -m semsearch.cli.reference > docs/reference.md -->
# Reference

Every command and option, every environment variable, the exit status, and every key of the JSON that commands print.
It is made from the code, and a test compares the two.
"""
_COMMANDS = """\
## Commands

Each command has `-h` and `--help`. An option that may be repeated says so.
"""
_ENVIRONMENT = """\
## Environment variables

| variable | used by | meaning |
|---|---|---|"""
_STATUSES = """\
## Exit status

| status | meaning |
|---|---|"""
_ERRORS = """\
## Errors

The command line prints an error that you can mend on one line, and exits with status 2. In Python it is raised as one
of these classes, which are in `semsearch.errors`. [Troubleshooting](troubleshooting.md) has the cures.

| class | meaning |
|---|---|"""
_JSON = """\
## JSON

With `--json`, data go to the standard output and nothing else does. Keys stand in the order given here; a later version
may add some. Text is Unicode, in UTF-8. The objects that values name are [below](#objects-in-json).
"""
_EXPERIMENTS = """\
## Objects of experiments and of bench

What `semsearch evaluate`, `semsearch vectors evaluate` and `semsearch bench` print. A key in angle brackets stands for
several. [Measuring](research/measuring.md) says what the figures mean.
"""
_OBJECTS = """\
## Objects in JSON

In Python these are frozen dataclasses with the same names; `to_dict()` gives what stands here.
"""


def page() -> str:
    """Write the whole reference. The same code gives the same bytes."""
    sections = (_commands(), _environment(), _statuses(), _errors(), _printed(), _objects())
    lines = [_OPENING, *(line for section in sections for line in section)]
    return "\n".join(lines).rstrip("\n") + "\n"


def _commands() -> Iterator[str]:
    found = commands(app)
    yield _COMMANDS
    yield from ("| command | |", "|---|---|")
    for one in found[1:]:
        yield f"| [`{one.name}`](#{_anchor(one.name)}) | {prose(one.summary)} |"
    yield ""
    for one in found:
        yield from command_lines(one)


def _environment() -> Iterator[str]:
    yield _ENVIRONMENT
    for variable in VARIABLES:
        yield f"| `{variable.name}` | {variable.user} | {prose(variable.meaning)} |"
    yield ""


def _statuses() -> Iterator[str]:
    yield _STATUSES
    for status, meaning in STATUSES.items():
        yield f"| {status} | {prose(meaning)} |"
    yield ""


def _errors() -> Iterator[str]:
    yield _ERRORS
    for node in ast.parse(path_of("semsearch.errors").read_text(encoding="utf-8")).body:
        if isinstance(node, ast.ClassDef):
            yield f"| `{node.name}` | {prose(unwrapped(ast.get_docstring(node) or ''))} |"
    yield ""


def _printed() -> Iterator[str]:
    yield _JSON
    yield from ("| command | prints |", "|---|---|")
    for one in PRINTED:
        yield f"| `{PROGRAM} {one.command} --json` | {_shape(one)} |"
    yield ""
    for one in PRINTED:
        if one.own:
            yield f"### `{PROGRAM} {one.command} --json`"
            yield ""
            yield f"{_shape(one)} {_linked(one.says, one.named)}".rstrip()
            yield ""
            yield from _table(one.own)


def _shape(one: Printed) -> str:
    """`A list of objects with the keys of Hit.`"""
    names = ", ".join(code(key.name) for key in one.own)
    own = f"the key{'s' if len(one.own) > 1 else ''} {names}" if one.own else ""
    result = f"the keys of [{one.result.name}](#{_anchor(one.result.name)})" if one.result else ""
    keys = " and ".join(filter(None, (own, result)))
    says = "" if one.own else _linked(one.says, one.named)
    return f"{'A list of objects' if one.is_list else 'An object'} with {keys}. {says}".rstrip()


def _objects() -> Iterator[str]:
    answers = _reached(one for one in PRINTED if not one.is_experiment)
    yield _OBJECTS
    yield from _described(answers)
    yield _EXPERIMENTS
    yield from _described(one for one in _reached(PRINTED) if one not in answers)


def _described(classes: Iterable[ClassSource]) -> Iterator[str]:
    """A section for each class."""
    for one in classes:
        yield f"### {one.name}"
        yield ""
        yield prose(unwrapped(one.docstring))
        yield ""
        yield from _table(keys_of(one))


def _reached(printed: Iterable[Printed]) -> list[ClassSource]:
    """The classes that printed objects name, and those that these name in turn, in the order of their mention."""
    found: list[ClassSource] = []

    def visit(classes: Iterable[ClassSource]) -> None:
        for one in classes:
            if one not in found:
                found.append(one)
                visit(inner for key in keys_of(one) for inner in key.kind.classes)

    for one in printed:
        visit(one.classes)
    return found


def _table(keys: Iterable[Key]) -> Iterator[str]:
    yield from ("| key | is | meaning |", "|---|---|---|")
    for key in keys:
        there = "not always there; " if key.is_optional else ""
        meaning = re.sub(r"\bNone\b", "null", prose(there + key.meaning)).removesuffix("; ")
        yield f"| {code(key.name)} | {_linked(prose(key.kind.words), key.kind.classes)} | {meaning} |"
    yield ""


def _linked(text: str, classes: Iterable[ClassSource]) -> str:
    """A text in which the names of these classes are links to them."""
    for name in {one.name for one in classes}:
        text = re.sub(rf"\b{name}\b", f"[{name}](#{_anchor(name)})", text)
    return text


def _anchor(heading: str) -> str:
    """The anchor that GitHub gives a heading."""
    return re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-")
