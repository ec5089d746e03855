"""The command line: parse, call the Python API, print the answer by `answer_formats` or `terminal`.

Start-up time is a feature: the module of a command is imported when that command is called, and imports the library
only when it is needed. An error that a user can fix is one line on stderr and exit status 2; a bug keeps its traceback.
"""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Iterator, Sequence
from importlib import import_module
from typing import Annotated, Any, NamedTuple

import typer
from typer.core import TyperCommand, TyperGroup
from typer.main import get_command, get_group

from semsearch import __version__
from semsearch.cli.extensible_group import ExtensibleGroup
from semsearch.cli.help_panels import PanelledCommand
from semsearch.cli.messages import FAILED, INTERRUPTED, collect_seldom, complain
from semsearch.errors import EXHAUSTED, SemsearchError
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
    "service": _NamedCommand(
        "commands.service_command", "Run `watch` and `serve` in the background, from each login on."
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
    "publish": _NamedCommand(
        "commands.exchange_commands",
        "Publish snapshots of an index to a shared store, for readers on any number of machines.",
    ),
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
    "vectors": _NamedCommand("commands.vectors_command", "Word vectors: list, inspect, import, evaluate, train."),
    "evaluate": _NamedCommand(
        "commands.evaluate_command", "Measure retrieval, similarity of sentences, and your own questions."
    ),
    "doctor": _NamedCommand(
        "commands.doctor_command",
        "Check the installation: packages, word vectors, folders, and that a search finds its answer.",
    ),
}
SYNONYMS = {  # words that people try, with the command that they mean; the help does not list them
    "search": "query",
    "find": "query",
    "add": "index",
    "sync": "index",
    "update": "index",
    "ls": "list",
    "indexes": "list",
    "rm": "remove",
    "mv": "rename",
}
_BEFORE = ("-i", "--index", "--name", "--indexes")  # options that may also stand before the command
GROUPS = ("history", "service", "config", "vectors", "evaluate")  # commands that have sub-commands


class Commands(ExtensibleGroup):
    """The commands, each imported when it is called; errors become messages and exit statuses."""

    _words: Sequence[str] = ()  # that were given, for messages

    def own_commands(self, _: Any) -> list[str]:
        """The names of semsearch's commands, in the order of the help text."""
        return list(COMMANDS)

    def own_command(self, _: Any, cmd_name: str) -> Any:
        """The command with a name: the function of that name in its file, or the group of its sub-commands."""
        module = import_module(f"semsearch.cli.{COMMANDS[cmd_name].module}")
        if cmd_name in GROUPS:
            return get_group(module.app)
        alone = typer.Typer(rich_markup_mode=None, add_completion=False)
        function = getattr(module, f"{cmd_name}_" if cmd_name in ("list", "map", "import") else cmd_name)
        alone.command(cmd_name, cls=PanelledCommand)(function)
        return get_command(alone)

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
        args = _in_order(args)
        self._words = args
        if not args and not ctx.resilient_parsing:
            from semsearch.cli.commands.interactive_command import is_offered  # start-up time: most name a command

            args = ["interactive"] if is_offered() else args
        return super().parse_args(ctx, args)

    def invoke(self, ctx: Any) -> Any:
        """Run a command. An output that is closed early (`| head`) is no error."""
        try:
            try:
                return super().invoke(ctx)
            finally:
                sys.stdout.flush()
        except SemsearchError as error:
            complain(str(error))
            for line in _choices(error, self._words):
                print(line, file=sys.stderr)
        except KeyboardInterrupt as interrupt:
            complain(f"interrupted; {str(interrupt) or 'nothing was changed'}")
            raise typer.Exit(INTERRUPTED) from None
        except BrokenPipeError:
            _discard_stdout()
            raise typer.Exit(0) from None
        except (ImportError, MemoryError) as error:
            if isinstance(error, ImportError) and not _is_for_want_of_memory(error):
                raise
            complain("out of memory; no write was left incomplete")
        except OSError as error:
            if isinstance(error, FileNotFoundError) and error.filename is None:  # as os.getcwd has it
                complain("the current folder no longer exists; change to an existing one")
                raise typer.Exit(FAILED) from None
            if error.errno not in EXHAUSTED:
                raise
            complain(": ".join(filter(None, (error.strerror, error.filename, EXHAUSTED[error.errno]))))
            _discard_stdout()
        raise typer.Exit(FAILED)


def _is_for_want_of_memory(error: ImportError) -> bool:
    """Return whether a library could not be loaded because the address space is exhausted, as the loader words it."""
    return any(word in str(error) for word in ("failed to map segment", "annot allocate memory", "cannot enlarge"))


def _in_order(args: list[str]) -> list[str]:
    """The arguments, the command first."""
    moved: list[str] = []
    while len(args) > 1 and args[0].split("=")[0] in _BEFORE:
        taken = 1 if "=" in args[0] else 2
        moved, args = moved + args[:taken], args[taken:]
    if not args or args[0].startswith("-"):
        return moved + args
    command, *rest = args
    if command == "help":
        return [*rest[:1], "--help"]
    return [SYNONYMS.get(command, command), *moved, *rest]


def _choices(error: SemsearchError, words: Sequence[str]) -> Iterator[str]:
    """Where several indexes could be meant, the command that was given, with each of them."""
    if folders := getattr(error, "folders", ()):
        from semsearch.cli.find_index import choices  # start-up time: the help needs none of it

        yield from choices(folders, words)


def _discard_stdout() -> None:
    """Discard buffered output that cannot be written, so that the interpreter does not try again at its end."""
    with contextlib.suppress(OSError, ValueError), open(os.devnull, "wb") as nothing:  # noqa: PTH123  # start-up time
        os.dup2(nothing.fileno(), sys.stdout.fileno())


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


def main() -> None:
    """The console script."""
    _name_files_in_utf8()
    collect_seldom()
    _open_closed_streams()
    _use_utf8()
    app(prog_name="semsearch")


def _name_files_in_utf8() -> None:
    """Start again in Python's UTF-8 mode if files could only have ASCII names, as in the locale C without that mode.

    Otherwise "ä.txt" is a file that cannot be named: a sync would remove it from the index.
    """
    if sys.getfilesystemencoding() == "ascii" and not sys.flags.utf8_mode:
        os.environ["PYTHONUTF8"] = "1"
        os.execv(sys.executable, [sys.executable, *sys.orig_argv[1:]])


def _open_closed_streams() -> None:
    """Replace a closed stream (`>&-`); otherwise the first opened file would take its place."""
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        if getattr(sys, name) is None:
            setattr(sys, name, open(os.devnull, mode, encoding="utf-8"))  # noqa: PTH123, SIM115  # open to the end


def _use_utf8() -> None:
    """Read and write pipes in UTF-8 on every system; characters that a terminal cannot show are replaced."""
    for stream in (sys.stdin, sys.stdout):
        if (reconfigure := getattr(stream, "reconfigure", None)) is not None:
            reconfigure(errors="replace") if stream.isatty() else reconfigure(encoding="utf-8", errors="replace")
