"""The program `semsearch`: its commands, its streams, and how it reports errors.

A command is a function of commands/, as typer takes it; options that several commands share are in options.
"""

from __future__ import annotations

import gc
import logging
import os
import shlex
import sys
import warnings
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from difflib import get_close_matches
from functools import partial
from typing import Annotated, Any

import typer
from typer import Option

from semsearch import __version__
from semsearch.cli import commands
from semsearch.cli.plugged_in import PLUGIN_COMMANDS, ExtensibleGroup, LazyCommand
from semsearch.cli.printing import print_stderr
from semsearch.errors import EXHAUSTED, SemsearchError

_WrongUsage: Any = typer.BadParameter.__bases__[0]  # click's UsageError, in whichever click typer has
FAILED, INTERRUPTED = 2, 130
STATUSES = {  # a test finds every one that the code raises
    0: "Success. `query`, `similar` and `context` found something, `ask` an answer; `verify` found no problem. Also if "
    "the reader of the output stops early, as in `semsearch list | head`.",
    1: "`query`, `similar`, `context` and `ask` found nothing, or nothing that answers; `verify`, `doctor` and "
    "`evaluate data` found problems, printed one per line.",
    FAILED: "An error that you can fix: one line on stderr says what was found, what was expected and what to do. "
    "Also if `index` could index nothing.",
    INTERRUPTED: "Interrupted by Ctrl-C, or while it writes by the signals TERM or HUP; nothing was changed.",
}
COMMANDS = {  # with the first line of their help, in the order in which a new user meets them
    "index": "Index files and folders, or bring an index up to date.",
    "watch": "Keep an index up to date as its files change.",
    "query": "Search an index.",
    "similar": "Find passages similar to an indexed passage or document.",
    "context": "Print the passages that a language model needs to answer a query.",
    "ask": "Answer a question by a language model, with a citation for every sentence.",
    "serve": "Serve indexes over HTTP: a web interface, JSON for programs, MCP for agents.",
    "mcp": "Let an agent search: an MCP server on standard input and output.",
    "status": "Show what an index holds, whether it is up to date, and what could not be read.",
    "list": "List all indexes, or the documents of one.",
    "describe": "Say in a sentence what an index holds.",
    "delete": "Delete an index; its documents are never touched.",
    "remove": "Remove documents from an index; the files are not touched.",
    "export": "Export documents, passages or sentences as JSON Lines, optionally with vectors.",
    "import": "Add documents from files with one document per row.",
    "refit": "Fit the embedding of an index to its current text.",
    "verify": "Check the integrity of an index.",
    "trust": "Show what an index names outside its folder, and allow it on this machine.",
    "config": "Show all keys of semsearch.toml, with their values and where these come from.",
    "vectors": "Word vectors: list, inspect.",
    "evaluate": "Measure how well your own questions are answered.",
    "doctor": "Check the installation: packages, word vectors, folders, a search.",
}
_NAMES = {  # of functions and groups in semsearch.cli.commands that are not called like their command
    **{name: f"{name}_" for name in ("list", "import")},
    **{name: f"{name}_group" for name in ("vectors", "evaluate")},
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
}


class Program(ExtensibleGroup):
    """The commands. An error that a user can fix is one line on stderr and exit status 2; a bug keeps its traceback."""

    def __init__(self, **attributes: Any) -> None:
        super().__init__(**attributes)
        self.commands = {
            name: LazyCommand(name, line, partial(getattr, commands, _NAMES.get(name, name)))
            for name, line in COMMANDS.items()
        }

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Two words and more of a question, which begin with no command, nor with a misspelt one, are a query."""
        if args[:1] == ["help"]:
            args = [*args[1:2], "--help"]
        elif args == ["version"]:
            args = ["--version"]
        elif args and args[0] not in COMMANDS and not args[0].startswith("-"):
            args = [SYNONYMS.get(args[0], args[0]), *args[1:]]
            words = [*self.list_commands(ctx), *SYNONYMS, *PLUGIN_COMMANDS]
            is_question = " " in args[0].strip() or (args[1:] and not args[1].startswith("-"))
            if is_question and not get_close_matches(args[0], words, cutoff=0.8):
                args = ["query", *args]
        with errors_in_one_line():
            return super().parse_args(ctx, _with_default_model(args))

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        """The command that is called. Raises click's UsageError if there is none."""
        try:
            return super().resolve_command(ctx, args)
        except _WrongUsage as error:
            error.message += f" To search for it: semsearch query {shlex.join(args)}"
            raise

    def invoke(self, ctx: Any) -> Any:
        """Run a command."""
        with errors_in_one_line():
            return super().invoke(ctx)


def _with_default_model(args: list[str]) -> list[str]:
    """--rerank may stand without a model, last or before another option, which typer does not know."""
    end = args.index("--") if "--" in args else len(args)
    following = [*args[1:end], "-"]
    return [
        "--rerank=default" if arg == "--rerank" and position < end and following[position].startswith("-") else arg
        for position, arg in enumerate(args)
    ]


@contextmanager
def errors_in_one_line() -> Iterator[None]:
    """End the process as STATUSES has it if the block fails."""
    try:
        yield
        sys.stdout.flush()
    except SemsearchError as error:
        print_stderr(str(error))
    except _WrongUsage as error:
        if not (message := error.format_message()).strip() or "\n" in message:  # a group without a command: its help
            raise SystemExit(FAILED) from None
        path = error.ctx.command_path if error.ctx else "semsearch"
        print_stderr(f"{message.rstrip('.')}; see: {path} --help")
    except KeyboardInterrupt as interrupt:
        print_stderr(f"interrupted; {str(interrupt) or 'nothing was changed'}")
        raise SystemExit(INTERRUPTED) from None
    except BrokenPipeError:  # `| head`
        _discard_stdout()
        raise SystemExit(0) from None
    except MemoryError:
        print_stderr("out of memory; no write was left incomplete")
    except OSError as error:
        if isinstance(error, FileNotFoundError) and error.filename is None:  # as os.getcwd raises it
            print_stderr("the current folder no longer exists; change to an existing one")
        elif error.errno in EXHAUSTED:
            print_stderr(": ".join(filter(None, (error.strerror, error.filename, EXHAUSTED[error.errno]))))
            _discard_stdout()
        else:
            raise
    else:
        return
    raise SystemExit(FAILED)


def _discard_stdout() -> None:
    """Discard buffered output that cannot be written, so that the interpreter does not try again at its end."""
    with suppress(OSError, ValueError), open(os.devnull, "wb") as nothing:  # noqa: PTH123
        os.dup2(nothing.fileno(), sys.stdout.fileno())


app = typer.Typer(
    cls=Program,
    rich_markup_mode="rich",
    pretty_exceptions_enable=False,
    no_args_is_help=True,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def _show_version(asked: bool) -> None:
    if asked:
        print(f"semsearch {__version__}")
        raise typer.Exit


@app.callback()
def semsearch(
    context: typer.Context,
    _version: Annotated[
        bool, Option("--version", callback=_show_version, is_eager=True, help="Show the version and exit.")
    ] = False,
) -> None:
    """Instant semantic search over your own documents, offline.

    semsearch index docs/ creates an index, and brings it up to date when run again.

    semsearch query "..." searches it, and so does semsearch "how do I ...".

    semsearch serve --open searches as you type, in the browser.
    """
    from semsearch.cli.configuration import use_configuration  # loads NumPy, which the help needs not

    context.default_map = use_configuration(context.invoked_subcommand)


def main() -> None:
    """The console script. Ends the process."""
    gc.freeze()  # what is imported is no garbage
    logging.getLogger().addHandler(logging.NullHandler())  # other packages' messages beside an answer help nobody
    if not sys.warnoptions:
        warnings.simplefilter("ignore")
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        stream = getattr(sys, name)
        if stream is None:  # closed, as by >&-: the first file that is opened would take its place
            setattr(sys, name, open(os.devnull, mode, encoding="utf-8"))  # noqa: PTH123, SIM115  # open to the end
        elif name != "stderr" and hasattr(stream, "reconfigure"):
            stream.reconfigure(encoding=None if stream.isatty() else "utf-8", errors="replace")
    app(prog_name="semsearch")
