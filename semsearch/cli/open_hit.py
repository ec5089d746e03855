"""Open a hit: the file at its line in the editor, in the system's viewer, or else its indexed text, printed.

The editor is $VISUAL or $EDITOR. It runs without a shell; the path is one absolute argument, so that it never looks
like an option. Control characters are not printed: documents may come from anybody.
"""

from __future__ import annotations

import os
import re
import shlex
import shutil
import signal
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, cast

import typer

from semsearch.cli.answer_formats import OBEYED, path_and_position, path_of, trail
from semsearch.cli.asked_indexes import Asked, indexes_of
from semsearch.errors import SemsearchError, UsageError
from semsearch.readers.registry import FORMATS
from semsearch.results.hits import LINELESS, Hit
from semsearch.system.locations import uri_scheme
from semsearch.system.source_files import opened_source

if TYPE_CHECKING:
    from semsearch.index import Index
    from semsearch.remote_index import RemoteIndex


def show_hit(hit: Hit, asked: Asked) -> str:
    """Open a hit of the `asked` index; returns a message, mostly an empty one.

    A file with lines is opened in the editor; one without, such as a PDF, in the system's viewer. Otherwise the indexed
    text is printed: without an editor, of a deleted file, a text that a program added, a hit of a server, an object in
    a store. Raises UsageError if the editor cannot be started.
    """
    if hit.root and indexes_of(asked) and not uri_scheme(hit.root):
        file = Path(hit.path).absolute()
        try:
            with opened_source(file, hit.root):  # an editor would open whatever stands there
                pass
        except OSError as error:
            _print_indexed(hit, asked)
            return f"{path_of(hit)} cannot be opened: {error.strerror}; its indexed text was shown instead"
        if hit.format in LINELESS and view(file, hit.format):
            return f"opened {path_and_position(hit)}"
        if hit.format not in LINELESS and (command := editor()):
            status = run(editing(command, file, hit.line))
            return f"{command[0]} exited with status {status}" if status else ""
    _print_indexed(hit, asked)
    return ""


def _print_indexed(hit: Hit, asked: Asked) -> None:
    """Print the text of a hit's document from the hit's passage on, under a line that names the place."""
    index = cast("Index | RemoteIndex", indexes_of(asked).get(hit.index or "", asked))  # of several, each is here
    try:
        text = index.document(hit.path).text
    except SemsearchError:
        text = hit.passage
    shown = [
        " › ".join([path_and_position(hit), *trail(hit)]),
        "",
        *text[max(0, text.find(hit.passage)) :].splitlines(),
    ]
    print(OBEYED.sub(" ", "\n".join(shown)))


# -- Programs ----------------------------------------------------------------------------------------------------------

_EDITORS = {  # that take a line, by how they take it
    ("+{line}", "{path}"): "vi vim nvim view gvim mvim ex nano pico emacs emacsclient micro kak joe gedit mcedit",
    ("{path}:{line}",): "hx helix subl sublime_text zed zeditor",
    ("--goto", "{path}:{line}"): "code code-insiders codium vscodium cursor windsurf",
}
_ARGUMENTS = {editor: arguments for arguments, editors in _EDITORS.items() for editor in editors.split()}
_OF_BATCH = re.compile(r'["&|<>^%!\r\n]')  # what cmd.exe, which runs batch files, would take for its own


def editor() -> list[str]:
    """The user's editor with its own options, as $VISUAL or else $EDITOR has it; empty if neither is set."""
    command = os.environ.get("VISUAL", "").strip() or os.environ.get("EDITOR", "").strip()
    try:
        words = shlex.split(command, posix=os.name != "nt")  # otherwise C:\bin would lose its backslash
    except ValueError as error:
        raise UsageError(f"{command!r} is not a valid command ({error}); use one such as 'code --wait'") from None
    return [word.strip('"') for word in words]


def editing(command: Sequence[str], path: Path, line: int) -> list[str]:
    """The command that opens a file, at its line if the editor is one that is known to take it.

    Raises UsageError for an editor that is not there, and for a path that a batch file would not take as it is.
    """
    program, whole = shutil.which(command[0]), str(path.absolute())
    if program is None:
        raise UsageError(f"the program {command[0]!r} was not found; set $VISUAL to an installed one")
    if program.lower().endswith((".cmd", ".bat")) and _OF_BATCH.search(whole):
        raise UsageError(f"the batch file {program} would misread {whole!r}; rename it or use another editor")
    arguments = _ARGUMENTS.get(Path(program).name.lower().partition(".")[0], ("{path}",))
    return [program, *command[1:], *(part.replace("{line}", str(line)).replace("{path}", whole) for part in arguments)]


def view(path: Path, format: str) -> bool:
    """Open a file in the system's viewer; False where there is none.

    False as well for a file whose name is not one of its format: the system goes by the name, and would run a program
    that only begins like a PDF.
    """
    kind = FORMATS.get(format)
    if kind is None or path.suffix.lower() not in kind.suffixes:
        return False
    screen = os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY")
    return bool(screen or os.name == "nt" or sys.platform == "darwin") and typer.launch(str(path.absolute())) == 0


def run(command: Sequence[str]) -> int:
    """Run a program until it ends; its exit status. Ctrl-C belongs to it meanwhile.

    Raises UsageError for one that cannot be started.
    """
    before = signal.signal(signal.SIGINT, lambda *_: None)  # SIG_IGN would be inherited
    try:
        return subprocess.run(command, check=False).returncode
    except OSError as error:
        raise UsageError(f"cannot start {command[0]}: {error.strerror or error}") from None
    finally:
        signal.signal(signal.SIGINT, before)
