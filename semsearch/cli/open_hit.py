"""Open a hit: the file at its line in the editor, in the system's viewer, or the indexed text in the pager.

The editor is $VISUAL or $EDITOR, the pager $PAGER. Programs run without a shell; the path is one absolute argument, so
that it never looks like an option. Control characters never reach the pager: documents may come from anybody.
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

import typer

from semsearch.cli.answer_formats import OBEYED, path_and_position, path_of, trail
from semsearch.cli.asked_indexes import Asked, indexes_of
from semsearch.errors import SemsearchError, UsageError
from semsearch.readers.registry import FORMATS
from semsearch.results.hits import LINELESS, Hit
from semsearch.system.locations import uri_scheme
from semsearch.system.source_files import opened_source


def show_hit(hit: Hit, asked: Asked) -> str:
    """Open a hit of the `asked` index; returns a message, mostly an empty one.

    A file with lines is opened in the editor; one without, such as a PDF, in the system's viewer. Otherwise the pager
    shows the indexed text: without an editor, of a deleted file, a text that a program added, a hit of a server, an
    object in a store. Raises UsageError if the editor or pager cannot be started.
    """
    if not (hit.root and indexes_of(asked)) or uri_scheme(hit.root):
        return _show_indexed(hit, asked)
    file = Path(hit.path).absolute()
    try:
        with opened_source(file, hit.root):  # an editor would open whatever stands there
            pass
    except OSError as error:
        _show_indexed(hit, asked)
        return f"{path_of(hit)} cannot be opened: {error.strerror}; its indexed text was shown instead"
    if hit.format in LINELESS:
        return f"opened {path_and_position(hit)}" if view(file, hit.format) else _show_indexed(hit, asked)
    if not (command := editor()):
        return _show_indexed(hit, asked)
    status = run(editing(command, file, hit.line))
    return f"{command[0]} exited with status {status}" if status else ""


def _show_indexed(hit: Hit, asked: Asked) -> str:
    """Show the text of a hit's document under a line that names the place, from the hit's sentence on."""
    try:
        text = indexes_of(asked).get(hit.index or "", asked).document(hit.path).text
    except SemsearchError:
        text = hit.passage
    passage = max(0, text.find(hit.passage))
    sentence = max(passage, text.find(hit.sentence, passage))
    heading = " › ".join([path_and_position(hit), *trail(hit)])
    page(f"{heading}\n\n{text}", text.count("\n", 0, sentence) + 3)
    return ""


# -- Programs ----------------------------------------------------------------------------------------------------------

_EDITORS = {  # how editors take a line and a path
    ("+{line}", "--", "{path}"): "vi vim nvim view gvim mvim ex nano pico gedit xed pluma",
    ("+{line}", "{path}"): "emacs emacsclient micro kak joe jmacs ne mg mcedit geany bbedit",
    ("--goto", "{path}:{line}"): "code code-insiders codium vscodium cursor windsurf",
    ("{path}:{line}",): "hx helix subl sublime_text zed zeditor",
    ("--line", "{line}", "{path}"): "kate kwrite mate idea pycharm webstorm clion goland phpstorm rubymine rustrover",
    ("-n{line}", "{path}"): "notepad++",
}
_ARGUMENTS = {editor: arguments for arguments, editors in _EDITORS.items() for editor in editors.split()}
_OF_BATCH = re.compile(r'["&|<>^%!\r\n]')  # what cmd.exe, which runs batch files, would take for its own


def editor() -> list[str]:
    """The user's editor with its own options, as $VISUAL or else $EDITOR has it; empty if neither is set."""
    return _words_of("VISUAL") or _words_of("EDITOR")


def editing(command: Sequence[str], path: Path, line: int) -> list[str]:
    """The command that opens a file, at its line if the editor is one that is known to take it.

    Raises UsageError for an editor that is not there, and for a path that a batch file would not take as it is.
    """
    program, whole = _find_program(command[0], "VISUAL"), str(path.absolute())
    if program.lower().endswith((".cmd", ".bat")) and _OF_BATCH.search(whole):
        raise UsageError(f"the batch file {program} would misread {whole!r}; rename it or use another editor")
    arguments = _ARGUMENTS.get(Path(program).name.lower().partition(".")[0], ("{path}",))
    return [program, *command[1:], *(part.replace("{line}", str(line)).replace("{path}", whole) for part in arguments)]


def page(text: str, line: int) -> None:
    """Show a text in $PAGER, or else less or more, which begin at the line. Without a terminal all of it is printed."""
    safe = OBEYED.sub(" ", "\n".join(text.splitlines())) + "\n"
    words = _words_of("PAGER") or [*filter(shutil.which, ("less", "more"))][:1]
    if not words or not _on_terminal():
        print(safe, end="")
        return
    begin = [f"+{line}"] if Path(words[0]).stem in ("less", "more", "most") else []
    run([_find_program(words[0], "PAGER"), *words[1:], *begin], text=safe)


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


def run(command: Sequence[str], *, text: str | None = None) -> int:
    """Run a program until it ends, with a text on its standard input if one is given; its exit status.

    Ctrl-C belongs to the program meanwhile. Raises UsageError for one that cannot be started.
    """
    before = signal.signal(signal.SIGINT, lambda *_: None)  # SIG_IGN would be inherited
    try:
        data = None if text is None else text.encode("utf-8", "replace")
        return subprocess.run(command, input=data, check=False).returncode
    except OSError as error:
        raise UsageError(f"cannot start {command[0]}: {error.strerror or error}") from None
    finally:
        signal.signal(signal.SIGINT, before)


def _words_of(variable: str) -> list[str]:
    """The command that a variable has, as the words that a shell would make of it."""
    command = os.environ.get(variable, "").strip()
    try:
        words = shlex.split(command, posix=os.name != "nt")  # otherwise C:\bin would lose its backslash
    except ValueError as error:
        raise UsageError(f"{command!r} is not a valid command ({error}); use one such as 'code --wait'") from None
    return [word.strip('"') for word in words]


def _find_program(word: str, variable: str) -> str:
    program = shutil.which(word)
    if program is None:
        raise UsageError(f"the program {word!r} was not found; set ${variable} to an installed one")
    return program


def _on_terminal() -> bool:
    return sys.stdout.isatty()
