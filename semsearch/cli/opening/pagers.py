"""Show a text in the user's pager, at a line. Control characters never reach it: documents may be anybody's."""

from __future__ import annotations

import os
import re
import shutil
import sys

from semsearch.cli.opening.programs import find_program, name_among, words_of
from semsearch.cli.opening.running import run
from semsearch.cli.output.whole_passages import OBEYED

_LINE_END = re.compile(r"\r\n|\r|\n")
_AT_A_LINE = ("less", "more", "most")  # which take it as +42


def page(text: str, line: int) -> None:
    """Show a text from a line on, the first being 1. Without a terminal, or without a pager, all of it is printed."""
    safe = printable(text)
    command = _pager() if _on_terminal() else []
    if command:
        run([*command, *([f"+{line}"] if name_among(command[0], _AT_A_LINE) else [])], text=safe)
    else:
        print(safe, end="")


def printable(text: str) -> str:
    """A text without the characters that a terminal would obey; its lines stay where they are."""
    return OBEYED.sub(" ", _LINE_END.sub("\n", text)).rstrip("\n") + "\n"


def _on_terminal() -> bool:
    return sys.stdout.isatty()


def _pager() -> list[str]:
    """$PAGER with its options, or else less or more; empty where there is none."""
    given = words_of(os.environ.get("PAGER", "").strip())
    command = [find_program(given[0], "pager", "$PAGER"), *given[1:]] if given else _usual()
    if command and name_among(command[0], ("less",)) and "F" in os.environ.get("LESS", ""):
        command.append("-+F")  # a short text would be gone before it is read
    return command


def _usual() -> list[str]:
    return next(([found] for name in ("less", "more") if (found := shutil.which(name))), [])
