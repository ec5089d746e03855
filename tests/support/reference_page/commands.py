"""All commands with their arguments, options and texts, as `--help` gives them, as Markdown."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import typer
from typer.main import get_group

from reference_page.markdown import code, prose, unwrapped
from semsearch.cli.plugged_in import OF_RESEARCH

PROGRAM = "semsearch"


@dataclass(frozen=True, slots=True)
class Command:
    """A command or a group of commands, under its whole name: `semsearch evaluate sts`."""

    name: str
    depth: int
    command: Any  # typer's
    context: Any

    @property
    def options(self) -> list[tuple[str, str]]:
        """The arguments and options with their meaning, as `--help` prints them; without `--help` itself."""
        records = [parameter.get_help_record(self.context) for parameter in self.command.params]
        return [record for record in records if record]

    @property
    def has_json(self) -> bool:
        """Return whether the command has the option --json."""
        return any("--json" in getattr(parameter, "opts", ()) for parameter in self.command.params)

    @property
    def usage(self) -> str:
        """The line of usage, as `--help` prints it."""
        return " ".join([self.name, *self.command.collect_usage_pieces(self.context)])

    @property
    def summary(self) -> str:
        """The command's help in one line."""
        return str(self.command.get_short_help_str(limit=200))


def commands(app: typer.Typer) -> list[Command]:
    """List the program itself, then semsearch's own commands in their order, those of a group after it."""
    return list(_below(get_group(app), None, PROGRAM, depth=0))


def commands_of_research(app: typer.Typer) -> list[Command]:
    """List the commands that semsearch-research adds, which must be installed."""
    own = {each.name: each for each in commands(app)}
    found = []
    for group, names in OF_RESEARCH.items():
        parent = own[" ".join(filter(None, (PROGRAM, group)))]
        for name in names:
            command = parent.command.get_command(parent.context, name)
            found += _below(command, parent.context, f"{parent.name} {name}", depth=1)
    return found


def _below(command: Any, parent: Any, name: str, *, depth: int) -> Iterator[Command]:
    context = command.context_class(
        command, parent=parent, info_name=name.rpartition(" ")[2], **command.context_settings
    )
    yield Command(name, depth, command, context)
    for child in command.own_commands(context) if hasattr(command, "own_commands") else ():
        yield from _below(command.get_command(context, child), context, f"{name} {child}", depth=depth + 1)


def command_lines(command: Command) -> Iterator[str]:
    """The section of a command: a heading, the usage, the help text, and a table of arguments and options."""
    yield f"{'#' * (2 + max(command.depth, 1))} {command.name}"
    yield ""
    yield from ("```text", command.usage, "```", "")
    if command.command.help:
        yield from (prose(unwrapped(command.command.help)), "")
    yield "| argument or option | meaning |"
    yield "|---|---|"
    for names, meaning in command.options:
        yield f"| {code(names)} | {prose(' '.join(meaning.split()))} |"
    yield ""
