"""The commands: parse by typer, call the Python API, print the answer by `answer_formats` or `terminal`.

Start-up time is a feature: the module of a command is imported when that command is called, and imports the library
only when it is needed. What `start` can read without typer does not come here.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from importlib import import_module
from typing import Annotated, Any, NamedTuple

import typer
from typer.core import TyperCommand, TyperGroup

from semsearch import __version__
from semsearch.cli.declared import function_of, in_order
from semsearch.cli.extensible_group import ExtensibleGroup
from semsearch.cli.help_panels import command_from
from semsearch.cli.messages import carried_out
from semsearch.system.memory import LINEAR_ALGEBRA, require_memory


class _NamedCommand(NamedTuple):
    """Where a command is defined, and the first sentence of its help, which the list of commands shows."""

    module: str
    summary: str


COMMANDS = {  # in the order in which a new user meets them
    "index": _NamedCommand("commands.index_command", "Index files and folders, or bring an index up to date."),
    "watch": _NamedCommand("commands.upkeep_commands", "Keep an index up to date as its files change."),
    "query": _NamedCommand("commands.query_command", "Search an index."),
    "interactive": _NamedCommand("commands.interactive_command", "Search as you type, on a terminal."),
    "similar": _NamedCommand("commands.passage_commands", "Find passages similar to an indexed passage or document."),
    "context": _NamedCommand(
        "commands.passage_commands", "Print the passages that a language model needs to answer a query."
    ),
    "ask": _NamedCommand(
        "commands.ask_command",
        "Answer a question from your documents by a language model, with a citation for every sentence.",
    ),
    "history": _NamedCommand(
        "commands.history_command",
        "List the questions that you have asked at a terminal, newest first, and the saved ones; or ask one again.",
    ),
    "serve": _NamedCommand(
        "commands.server_commands",
        "Serve indexes over HTTP: a web interface for people, JSON for programs, MCP at /mcp for agents.",
    ),
    "mcp": _NamedCommand(
        "commands.server_commands", "Let an agent search: an MCP server on standard input and output."
    ),
    "map": _NamedCommand(
        "commands.upkeep_commands", "Compute the map of an index: its passages as points, similar ones near each other."
    ),
    "status": _NamedCommand("commands.status_commands", "Show the contents and settings of an index."),
    "list": _NamedCommand("commands.list_commands", "List all indexes, or the documents of one."),
    "describe": _NamedCommand("commands.manage_commands", "Say in a sentence what an index holds."),
    "rename": _NamedCommand("commands.manage_commands", "Rename an index."),
    "delete": _NamedCommand("commands.manage_commands", "Delete an index."),
    "remove": _NamedCommand("commands.upkeep_commands", "Remove documents from an index."),
    "export": _NamedCommand(
        "commands.exchange_commands", "Export documents, passages or sentences, optionally with vectors."
    ),
    "import": _NamedCommand(
        "commands.exchange_commands",
        "Add documents from files with one document per row; creates the index if it does not exist.",
    ),
    "merge": _NamedCommand("commands.exchange_commands", "Merge several indexes into a new one, with one fit."),
    "refit": _NamedCommand("commands.upkeep_commands", "Fit the embedding of an index to its current text."),
    "compact": _NamedCommand("commands.upkeep_commands", "Merge the segments of an index and drop removed vectors."),
    "verify": _NamedCommand("commands.status_commands", "Check the integrity of an index."),
    "trust": _NamedCommand(
        "commands.status_commands", "Show what an index names outside its folder, and allow it on this machine."
    ),
    "config": _NamedCommand(
        "commands.config_command", "Defaults of options, from semsearch.toml and environment variables."
    ),
    "vectors": _NamedCommand("commands.vectors_command", "Word vectors: list, inspect, import."),
    "evaluate": _NamedCommand("commands.evaluate_command", "Measure how well your own questions are answered."),
    "doctor": _NamedCommand(
        "commands.doctor_command",
        "Check the installation: packages, word vectors, folders, and that a search finds its answer.",
    ),
}
GROUPS = ("history", "config", "vectors", "evaluate")  # commands that have sub-commands


class Commands(ExtensibleGroup):
    """The commands, each imported when it is called; errors become messages and exit statuses."""

    _words: Sequence[str] = ()  # that were given, for messages

    def own_commands(self, _: Any) -> list[str]:
        """The names of semsearch's commands, in the order of the help text."""
        return list(COMMANDS)

    def own_command(self, _: Any, cmd_name: str) -> Any:
        """The command with a name: the function of that name in its file, or the group of its sub-commands."""
        module = import_module(f"semsearch.cli.{COMMANDS[cmd_name].module}")
        return command_from(module.app if cmd_name in GROUPS else getattr(module, function_of(cmd_name)), cmd_name)

    def format_commands(self, ctx: Any, formatter: Any) -> None:
        """List the commands, of semsearch's own without importing them."""
        from semsearch.cli.plugged_in import listed  # start-up time: only a help text asks

        own = {name: TyperCommand(name, help=named.summary) for name, named in COMMANDS.items()}
        TyperGroup(commands=own | listed("", own)).format_commands(ctx, formatter)

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Start the interactive search if no command is given, on a terminal with an index.

        `semsearch -i NAME query` is `semsearch query -i NAME`, `semsearch help query` is `semsearch query --help`, and
        a synonym is the command that it means.
        """
        args = in_order(args)
        self._words = args
        if not args and not ctx.resilient_parsing:
            from semsearch.cli.commands.interactive_command import is_offered  # start-up time: most name a command

            args = ["interactive"] if is_offered() else args
        return super().parse_args(ctx, args)

    def invoke(self, ctx: Any) -> Any:
        """Run a command."""
        return carried_out(partial(super().invoke, ctx), self._words)


app = typer.Typer(
    cls=Commands,
    rich_markup_mode=None,  # rich's help takes 50 ms longer
    pretty_exceptions_enable=False,
    no_args_is_help=True,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
)


def _show_version(asked: bool) -> None:
    if asked:
        print(f"semsearch {__version__}")
        raise typer.Exit


@app.callback()
def semsearch(
    context: typer.Context,
    _version: Annotated[
        bool, typer.Option("--version", callback=_show_version, is_eager=True, help="Show the version and exit.")
    ] = False,
) -> None:
    """Instant semantic search over your own documents, offline.

    semsearch index docs/ creates an index, and brings it up to date when run again; semsearch query "..." searches it.
    On a terminal, if there is an index, semsearch without a command searches as you type.
    """
    require_memory(LINEAR_ALGEBRA, "to start")
    _configure(context, context.invoked_subcommand)


def _configure(context: Any, command: str | None) -> None:
    """Make configured values the defaults of a command's options. Without a configuration, nothing is imported."""
    from semsearch.cli.configuration_files import is_configured
    from semsearch.cli.configured_defaults import (
        CONFIGURED,
        defaults_of,
        use,  # start-up time: --help needs none of it
    )

    configuration = None
    if command in CONFIGURED and is_configured():
        from semsearch.cli.configuration import read_configuration

        configuration = read_configuration()
        context.default_map = {command: defaults_of(command, configuration)}
    use(configuration)
