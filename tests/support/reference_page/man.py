"""Manual pages of the program and of each command, from the same texts as `--help`.

    python tests/support/reference_page man    # writes the folder man

They are installed by the wheel into share/man/man1 (pyproject.toml). They have no date and no version: they change only
with the commands.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from inspect import cleandoc
from pathlib import Path
from textwrap import fill

from reference_page.commands import PROGRAM, Command, commands
from reference_page.environment import VARIABLES
from semsearch.cli.main import app
from semsearch.cli.messages import STATUSES

_LINK = re.compile(r"\[([^\]]*)\]\([^)]*\)")
_LEADING = re.compile(r"(?m)^(?=[.'])")


def man_pages() -> dict[str, str]:
    """The manual pages by file name: semsearch.1, semsearch-query.1. The same code gives the same bytes."""
    found = commands(app)
    return {f"{_title(one)}.1": "\n".join(_page(one, found)) + "\n" for one in found}


def write_man_pages(folder: Path) -> None:
    """Write the manual pages, and delete those of commands that are no more."""
    made = man_pages()
    folder.mkdir(exist_ok=True)
    for path in folder.iterdir():
        if path.name not in made:
            path.unlink()
    for name, text in made.items():
        (folder / name).write_bytes(text.encode())


def _title(command: Command) -> str:
    return command.name.replace(" ", "-")


def _page(command: Command, all_commands: list[Command]) -> Iterator[str]:
    title = _title(command)
    yield '.\\" Made by: python tests/support/reference_page man'
    yield f'.TH {title.upper()} 1 "" {PROGRAM} "{PROGRAM} manual"'
    yield from (".SH NAME", f"{_roff(title)} \\- {_roff(_plain(command.summary).rstrip('.'))}")
    yield from (".SH SYNOPSIS", f".B {_roff(command.name)}", _roff(command.usage[len(command.name) :].strip()))
    if command.command.help:
        yield ".SH DESCRIPTION"
        yield from _paragraphs(command.command.help)
    arguments = [(names, text) for names, text in command.options if not names.startswith("-")]
    options = [one for one in command.options if one not in arguments]
    for heading, records in (("ARGUMENTS", arguments), ("OPTIONS", options)):
        if records:
            yield f".SH {heading}"
            for names, text in records:
                yield from _item(names, text)
    below = [one for one in all_commands if one.depth == command.depth + 1 and one.name.startswith(f"{command.name} ")]
    if below:
        yield ".SH COMMANDS"
        for one in below:
            yield from _item(f"{_title(one)}(1)", one.summary)
    if command.depth == 0:
        yield ".SH ENVIRONMENT"
        for variable in VARIABLES:
            yield from _item(variable.name, variable.meaning)
        yield ".SH EXIT STATUS"
        for status, meaning in STATUSES.items():
            yield from _item(str(status), meaning)
    else:
        parents = [one for one in all_commands if command.name.startswith(f"{one.name} ")]
        yield ".SH SEE ALSO"
        yield ",\n".join(f".BR {_roff(_title(one))} (1)" for one in parents).replace(" (1),", " (1),")


def _item(term: str, text: str) -> Iterator[str]:
    """A name with its meaning, hanging."""
    yield from (".TP", f".B {_roff(term)}", _wrapped(text))


def _paragraphs(text: str) -> Iterator[str]:
    for number, paragraph in enumerate(re.split(r"\n\s*\n", cleandoc(text))):
        if paragraph.startswith("    "):
            yield from (".PP", ".EX", _roff(cleandoc(paragraph)), ".EE")
        else:
            yield from ([".PP"] if number else [])
            yield _wrapped(paragraph)


def _wrapped(text: str) -> str:
    lines = fill(" ".join(_plain(text).split()), 76, break_long_words=False, break_on_hyphens=False)
    return _roff(lines)


def _plain(text: str) -> str:
    return _LINK.sub(r"\1", text).replace("`", "")


def _roff(text: str) -> str:
    """A text for groff: hyphens that can be copied, and nothing that is read as a request."""
    plain = text.replace("\\", "\\e").replace("-", "\\-")
    return _LEADING.sub(r"\\&", plain.replace("'", "\\(aq").replace("^", "\\(ha").replace("~", "\\(ti"))
