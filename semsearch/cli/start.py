"""The start of the program: its streams, and commands that are given plainly, without typer."""

from __future__ import annotations

import os
import sys
from functools import partial
from importlib import import_module

from semsearch.cli.declared import function_of, in_order, plainly
from semsearch.cli.messages import carried_out, collect_seldom, leave

PLAIN = {  # the commands that are read without typer, each with its module
    "query": "query_command",
    "similar": "passage_commands",
    "context": "passage_commands",
    "list": "list_commands",
    "status": "status_commands",
    "serve": "server_commands",
    "mcp": "server_commands",
}


def main() -> None:
    """The console script. Ends the process."""
    _name_files_in_utf8()
    collect_seldom()
    _open_closed_streams()
    _use_utf8()
    words = in_order(sys.argv[1:])
    if words and words[0] in PLAIN and os.name != "nt":  # there typer fills in wildcards
        try:
            is_done = carried_out(partial(_done_plainly, *words), words)
        except SystemExit as ended:
            leave(ended)
        if is_done:
            leave(SystemExit(0))
    from semsearch.cli.main import app  # start-up time

    app(prog_name="semsearch")


def _done_plainly(command: str, *words: str) -> bool:
    """Carry out a command whose options and words can be read without typer; whether it is such a one."""
    from semsearch.cli.configuration_files import is_configured  # start-up time: other commands need none
    from semsearch.cli.configured_defaults import defaults_of, use
    from semsearch.system.memory import LINEAR_ALGEBRA, require_memory

    module = import_module(f"semsearch.cli.commands.{PLAIN[command]}")
    if (call := plainly(getattr(module, function_of(command)), words, os.environ)) is None:
        return False
    require_memory(LINEAR_ALGEBRA, "to start")
    defaults = {}
    if is_configured():
        from semsearch.cli.configuration import read_configuration

        use(configuration := read_configuration())
        defaults = defaults_of(command, configuration)
    call(defaults)
    return True


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
