"""Draw a terminal session as an SVG, from what the commands really print.

    python tests/benchmarks/page/picture.py OUT.svg COMMAND [COMMAND ...]

Each command line is run in a pseudo-terminal of 100 columns, so that it prints what a person would see.
"""

from __future__ import annotations

import io
import os
import pty
import re
import subprocess
import sys
from pathlib import Path

from rich.console import Console
from rich.text import Text

COLUMNS = 100
_FONT = re.compile(r"@font-face \{.*?\}\s*", re.DOTALL)  # nothing is fetched to show a picture


def run(command: str) -> str:
    """Run a command and return the text that it prints on a terminal."""
    ours, theirs = pty.openpty()
    environment = {**os.environ, "COLUMNS": str(COLUMNS), "LINES": "60", "TERM": "xterm-256color"}
    process = subprocess.Popen(
        command, shell=True, stdout=theirs, stderr=subprocess.DEVNULL, stdin=theirs, env=environment
    )
    os.close(theirs)
    printed = b""
    try:
        while block := os.read(ours, 65536):
            printed += block
    except OSError:  # the end, on Linux
        pass
    process.wait()
    return printed.decode(errors="replace").replace("\r\n", "\n")


def main() -> None:
    target, *commands = sys.argv[1:]
    console = Console(record=True, width=COLUMNS, file=io.StringIO(), force_terminal=True)
    for command in commands:
        console.print(Text.assemble(("$ ", "bold green"), (command, "bold")))
        console.print(Text.from_ansi(run(command).rstrip("\n")))
        console.print()
    drawn = console.export_svg(title="semsearch")
    Path(target).write_text(_FONT.sub("", drawn), encoding="utf-8")


if __name__ == "__main__":
    main()
