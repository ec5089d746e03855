"""All commands with their arguments, options and texts, as `--help` gives them, as Markdown."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import typer
from typer.main import get_group

from reference_page.markdown import code, prose, unwrapped
from semsearch.cli.plugged_in import IN_REPOSITORY

PROGRAM = "semsearch"
_SHARED = 3  # commands: an option that so many have is described once


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
    for group, brought in IN_REPOSITORY.items():
        parent = own[" ".join(filter(None, (PROGRAM, group)))]
        for name in (name for name, folder in brought.items() if folder == "research"):
            command = parent.command.get_command(parent.context, name)
            found += _below(command, parent.context, f"{parent.name} {name}", depth=1)
    return found


def _below(command: Any, parent: Any, name: str, *, depth: int) -> Iterator[Command]:
    context = command.context_class(
        command, parent=parent, info_name=name.rpartition(" ")[2], **command.context_settings
    )
    yield Command(name, depth, command, context)
    for child in command.own_commands(context) if hasattr(command, "own_commands") else ():
        if not (below := command.get_command(context, child)).hidden:
            yield from _below(below, context, f"{name} {child}", depth=depth + 1)


def shared_options(commands: Iterable[Command]) -> dict[str, str]:
    """The options that at least `_SHARED` commands have with one meaning, by name in order: described once."""
    counts: dict[str, Counter[str]] = {}
    for command in commands:
        for names, meaning in command.options:
            if names.startswith("-"):
                counts.setdefault(names, Counter())[meaning] += 1
    usual = {names: of_each.most_common(1)[0] for names, of_each in counts.items()}
    shared = {names: meaning for names, (meaning, count) in usual.items() if count >= _SHARED}
    return {names: shared[names] for names in sorted(shared, key=lambda names: names.split("--")[-1])}


def option_table(head: str, options: Iterable[tuple[str, str]]) -> Iterator[str]:
    """A table of options with their meaning."""
    yield f"| {head} | meaning |"
    yield "|---|---|"
    for names, meaning in options:
        yield f"| {code(names)} | {prose(' '.join(meaning.split()))} |"
    yield ""


def command_lines(command: Command, shared: Mapping[str, str]) -> Iterator[str]:
    """The section of a command: heading, usage, help text, a table of its own options, the names of `shared` ones."""
    yield f"{'#' * (2 + max(command.depth, 1))} {command.name}"
    yield ""
    yield from ("```text", command.usage, "```", "")
    if command.command.help:
        yield from (prose(unwrapped(command.command.help)), "")
    own = [(names, meaning) for names, meaning in command.options if shared.get(names) != meaning]
    if own:
        yield from option_table("argument or option", own)
    if len(own) < len(command.options):
        named = {_long(names): names for names, meaning in command.options if shared.get(names) == meaning}
        yield f"[Shared](#shared-options): {', '.join(f'`{name}`' for name in named)}."
        yield ""


def _long(names: str) -> str:
    """The long names of an option, without its value: `--name, --index`."""
    return ", ".join(re.findall(r"--[\w-]+", names))
