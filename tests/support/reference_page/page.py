"""A whole reference as one Markdown page."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from reference_page.commands import (
    PROGRAM,
    Command,
    command_lines,
    commands,
    commands_of_research,
    option_table,
    shared_options,
)
from reference_page.environment import OF_RESEARCH as VARIABLES_OF_RESEARCH, VARIABLES, Variable
from reference_page.keys import Key, keys_of
from reference_page.markdown import code, prose, unwrapped
from reference_page.printed import OF_RESEARCH as PRINTED_BY_RESEARCH, PRINTED, Printed
from reference_page.sources import ClassSource, path_of
from semsearch.cli.main import app
from semsearch.cli.messages import STATUSES

_OPENING = """\
<!-- Made by: python tests/support/reference_page > docs/reference.md -->
# Reference

Every command and option, every environment variable, the exit status, and every key of the JSON that commands print.
It is made from the code, and a test compares the two. The commands of semsearch-research have
[their own](../research/docs/reference.md).
"""
_OPENING_OF_RESEARCH = """\
<!-- Made by: python tests/support/reference_page research > research/docs/reference.md -->
# Reference of semsearch-research

The commands that semsearch-research adds to `semsearch`, the environment variables that they use, and every key of the
JSON that they print. [semsearch's own reference](../../docs/reference.md) has the exit status and the errors.
"""
_COMMANDS = """\
## Commands

Each command has `-h` and `--help`. An option that may be repeated says so.
"""
_SHARED_OPTIONS = """\
### Shared options

Described once for all commands that name them.
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
may add some. A key marked with ? may be missing. Text is Unicode, in UTF-8. The objects that values name are
[below](#objects-in-json).
"""
_OBJECTS = """\
## Objects in JSON

In Python these are frozen dataclasses with the same names; `to_dict()` gives what stands here.
"""
_OBJECTS_OF_RESEARCH = """\
## Objects in JSON

In Python these are frozen dataclasses with the same names; `to_dict()` gives what stands here. A key in angle brackets
stands for several. [The experiments](experiments.md) say what the figures mean.
"""
_PRODUCT = "../../docs/reference.md"  # from the page of research


@dataclass(frozen=True, slots=True)
class _Page:
    """What a page is about. Classes that are described `elsewhere` are linked to there."""

    commands: Sequence[Command]
    variables: Sequence[Variable]
    printed: Sequence[Printed]
    elsewhere: Mapping[str, str] = field(default_factory=dict)  # the page, by the name of a class


def page() -> str:
    """Write semsearch's whole reference. The same code gives the same bytes."""
    found = commands(app)
    about = _Page(found, VARIABLES, PRINTED)
    sections = (
        _commands(about, found[1:]),
        _environment(about),
        _statuses(),
        _errors(),
        _printed(about),
        _objects(about),
    )
    return _text(_OPENING, sections)


def page_of_research() -> str:
    """Write the reference of semsearch-research, which must be installed."""
    found = commands_of_research(app)
    elsewhere = {one.name: _PRODUCT for one in _reached(PRINTED)}
    about = _Page(found, VARIABLES_OF_RESEARCH, PRINTED_BY_RESEARCH, elsewhere)
    own = [one for one in _reached(PRINTED_BY_RESEARCH) if one.name not in elsewhere]
    objects = (line for lines in ((_OBJECTS_OF_RESEARCH,), _described(own, about)) for line in lines)
    return _text(_OPENING_OF_RESEARCH, (_commands(about, found), _environment(about), _printed(about), objects))


def _text(opening: str, sections: Iterable[Iterable[str]]) -> str:
    lines = [opening, *(line for section in sections for line in section)]
    return "\n".join(lines).rstrip("\n") + "\n"


def _commands(about: _Page, listed: Iterable[Command]) -> Iterator[str]:
    yield _COMMANDS
    yield from ("| command | |", "|---|---|")
    for one in listed:
        yield f"| [`{one.name}`](#{_anchor(one.name)}) | {prose(one.summary)} |"
    yield ""
    shared = shared_options(about.commands)
    yield _SHARED_OPTIONS
    yield from option_table("option", shared.items())
    for one in about.commands:
        yield from command_lines(one, shared)


def _environment(about: _Page) -> Iterator[str]:
    yield _ENVIRONMENT
    for variable in about.variables:
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


def _printed(about: _Page) -> Iterator[str]:
    yield _JSON
    yield from ("| command | prints |", "|---|---|")
    for one in about.printed:
        yield f"| `{PROGRAM} {one.command} --json` | {_shape(one, about)} |"
    yield ""
    for one in about.printed:
        if one.own:
            yield f"### `{PROGRAM} {one.command} --json`"
            yield ""
            if says := " ".join(filter(None, (_more(one, about), _linked(one.says, one.named, about)))):
                yield from (says, "")
            yield from _table(one.own, about)


def _shape(one: Printed, about: _Page) -> str:
    """`A list of Hit.`, or a link to the section of the command's own keys."""
    kind = "a list of objects" if one.is_list else "an object"
    if one.own:
        return f"[{kind}](#{_anchor(f'`{PROGRAM} {one.command} --json`')})"
    assert one.result is not None
    name = _linked(one.result.name, [one.result], about)
    said = _linked(one.says, one.named, about)
    return (f"a list of {name}" if one.is_list else name) + (f". {said}" if said else "")


def _more(one: Printed, about: _Page) -> str:
    return f"These keys and those of {_linked(one.result.name, [one.result], about)}." if one.result else ""


def _objects(about: _Page) -> Iterator[str]:
    yield _OBJECTS
    yield from _described(_reached(about.printed), about)


def _described(classes: Iterable[ClassSource], about: _Page) -> Iterator[str]:
    """A section for each class."""
    for one in classes:
        yield f"### {one.name}"
        yield ""
        yield prose(unwrapped(one.docstring))
        yield ""
        yield from _table(keys_of(one), about)


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


def _table(keys: Iterable[Key], about: _Page) -> Iterator[str]:
    yield from ("| key | is | meaning |", "|---|---|---|")
    for key in keys:
        there = " ?" if key.is_optional else ""
        meaning = re.sub(r"\bNone\b", "null", prose(key.meaning))
        yield f"| {code(key.name)}{there} | {_linked(prose(key.kind.words), key.kind.classes, about)} | {meaning} |"
    yield ""


def _linked(text: str, classes: Iterable[ClassSource], about: _Page | None = None) -> str:
    """A text in which the names of these classes are links to them."""
    for name in {one.name for one in classes}:
        place = about.elsewhere.get(name, "") if about else ""
        text = re.sub(rf"\b{name}\b", f"[{name}]({place}#{_anchor(name)})", text)
    return text


def _anchor(heading: str) -> str:
    """The anchor that GitHub gives a heading."""
    return re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-")
