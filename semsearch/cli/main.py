"""The command line: parse, call the Python API, hand its answer to `formats` or `terminal`.

Start-up time is a feature: the file of a command is imported when that command is called, and imports the library when
it knows what is asked of it. An error that a user can mend is one line on stderr and exit status 2; a bug keeps its
traceback.
"""

from __future__ import annotations

import contextlib
import errno
import os
import sys
from importlib import import_module
from typing import Annotated, Any

import typer
from typer.core import TyperGroup
from typer.main import get_command, get_group

from semsearch import __version__
from semsearch.cli.messages import complain
from semsearch.cli.startup import collect_seldom
from semsearch.errors import SemsearchError

COMMANDS = (  # in the order of a first visit
    "index",
    "query",
    "similar",
    "context",
    "status",
    "list",
    "remove",
    "refit",
    "compact",
    "verify",
    "vectors",
    "evaluate",
    "bench",
)
GROUPS = ("vectors", "evaluate")  # commands that have commands
FAILED = 2
INTERRUPTED = 130


class Commands(TyperGroup):
    """The commands, each imported when it is asked for; and what an error comes to."""

    def list_commands(self, _: Any) -> list[str]:
        """All of them, in the order of a first visit."""
        return list(COMMANDS)

    def get_command(self, _: Any, cmd_name: str) -> Any:
        """The command of that name: the function of its file that is called like it, or the group of its folder."""
        if cmd_name not in COMMANDS:
            self.commands = {name: self.get_command(_, name) for name in COMMANDS}  # for "did you mean"
            return None
        if cmd_name in GROUPS:
            return get_group(import_module(f"semsearch.cli.{cmd_name}.{cmd_name}_command").app)
        module = import_module(f"semsearch.cli.commands.{cmd_name}_command")
        alone = typer.Typer(rich_markup_mode=None)
        alone.command(cmd_name)(getattr(module, "list_" if cmd_name == "list" else cmd_name))
        return get_command(alone)

    def invoke(self, ctx: Any) -> Any:
        """Run a command. A reader that has had enough (`| head`) is no error."""
        try:
            try:
                return super().invoke(ctx)
            finally:
                sys.stdout.flush()
        except SemsearchError as error:
            complain(str(error))
        except KeyboardInterrupt:
            complain("interrupted; nothing was changed")
            raise typer.Exit(INTERRUPTED) from None
        except BrokenPipeError:
            _let_go_of_stdout()
            raise typer.Exit(0) from None
        except OSError as error:
            if error.errno != errno.ENOSPC:
                raise
            complain(f"{error.strerror}: {error.filename or 'the output could not be written'}")
            _let_go_of_stdout()
        raise typer.Exit(FAILED)


def _let_go_of_stdout() -> None:
    """What is still buffered has nowhere to go; the interpreter shall not try again at its end."""
    with contextlib.suppress(OSError, ValueError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


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
    version: Annotated[
        bool, typer.Option("--version", callback=_show_version, is_eager=True, help="Show the version and exit.")
    ] = False,
) -> None:
    """Instant semantic search over your own documents, offline.

    semsearch index docs/ makes an index, and brings it up to date when run again; semsearch query "..." asks it.
    """


def main() -> None:
    """The console script."""
    collect_seldom()
    _open_closed_streams()
    _use_utf8()
    app(prog_name="semsearch")


def _open_closed_streams() -> None:
    """A stream that was closed (`>&-`) leads nowhere, rather than into the first file that is opened."""
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        if getattr(sys, name) is None:
            setattr(sys, name, open(os.devnull, mode, encoding="utf-8"))  # noqa: PTH123, SIM115  # open to the end


def _use_utf8() -> None:
    """What is piped is UTF-8 everywhere; what a terminal cannot show is replaced."""
    for stream in (sys.stdin, sys.stdout):
        if (reconfigure := getattr(stream, "reconfigure", None)) is not None:
            reconfigure(errors="replace") if stream.isatty() else reconfigure(encoding="utf-8", errors="replace")
