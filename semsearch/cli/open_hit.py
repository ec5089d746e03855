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
import threading
from collections.abc import Sequence
from pathlib import Path

import typer

from semsearch.cli.answer_formats import OBEYED, path_and_position, path_of, trail
from semsearch.cli.asked_indexes import Asked, indexes_of
from semsearch.errors import SemsearchError, SourceError, UsageError
from semsearch.index import Index
from semsearch.multi_index import MultiIndex
from semsearch.readers.encoding import declared_encoding, decode
from semsearch.readers.registry import FORMATS, MAX_BYTES
from semsearch.results.hits import LINELESS, Hit
from semsearch.system.locations import uri_scheme
from semsearch.system.source_files import opened_source, read_source

# -- Hits --------------------------------------------------------------------------------------------------------------


def show_hit(hit: Hit, asked: Asked) -> str:
    """Open a hit of the `asked` index; returns a message, mostly an empty one.

    A file with lines is opened in the editor, or in the pager if none is set; one without, such as a PDF, in the
    system's viewer. Otherwise the pager shows the indexed text: of a deleted file, a text that a program added, a hit
    of a server, an object in a store. Raises UsageError if the editor, viewer or pager cannot be started.
    """
    if not (hit.root and indexes_of(asked)):
        return _show_indexed(hit, asked)
    if uri_scheme(hit.root):
        _show_indexed(hit, asked)
        return f"{path_of(hit)} is in an object store; its indexed text was shown instead"
    file = Path(hit.path).absolute()
    try:
        with opened_source(file, hit.root):  # an editor would open whatever stands there
            pass
    except OSError as error:
        _show_indexed(hit, asked)
        is_gone = isinstance(error, FileNotFoundError | NotADirectoryError)
        why = "no longer exists" if is_gone else f"cannot be opened: {error.strerror}"
        return f"{path_of(hit)} {why}; its indexed text was shown instead"
    if hit.format in LINELESS:
        return f"opened {path_and_position(hit)}" if view(file, hit.format) else _show_indexed(hit, asked)
    if not (command := editor()):
        return _show_file(hit, file, asked)
    status = run(editing(command, file, hit.line))
    return f"{command[0]} exited with status {status}" if status else ""


def _show_file(hit: Hit, file: Path, asked: Asked) -> str:
    try:
        data = read_source(file, MAX_BYTES, root=hit.root).data
        text = decode(data, hit.path, declared=declared_encoding(data) if hit.format == "html" else None).text
    except (OSError, SourceError):
        return _show_indexed(hit, asked)
    page(text, hit.line)
    return ""


def _show_indexed(hit: Hit, asked: Asked) -> str:
    """Show the text of a hit's document under a line that names the place, from the hit's sentence on."""
    try:
        index = asked if not isinstance(asked, Index | MultiIndex) else indexes_of(asked)[hit.index or ""]
        text = index.document(hit.path).text
    except (SemsearchError, KeyError):
        text = hit.passage
    passage = max(0, text.find(hit.passage))
    sentence = max(passage, text.find(hit.sentence, passage))
    heading = " › ".join([path_and_position(hit), *trail(hit)])
    page(f"{heading}\n\n{text}", len(_LINE_END.findall(text[:sentence])) + 3)
    return ""


# -- Editors -----------------------------------------------------------------------------------------------------------

_EDITORS = {  # how editors take a line and a path
    ("+{line}", "--", "{path}"): "vi vim nvim view gvim gview mvim ex nano pico gedit xed pluma",
    ("+{line}", "{path}"): "emacs emacsclient micro kak joe jmacs jstar ne mg zile mcedit geany bbedit",
    ("--goto", "{path}:{line}"): "code code-insiders codium vscodium cursor windsurf",
    ("{path}:{line}",): "hx helix subl sublime_text zed zeditor",
    ("--line", "{line}", "{path}"): "kate kwrite mate idea pycharm webstorm clion goland phpstorm rubymine rustrover",
    ("-n{line}", "{path}"): "notepad++",
}
_ARGUMENTS = {editor: arguments for arguments, editors in _EDITORS.items() for editor in editors.split()}
_OF_BATCH = re.compile(r'["&|<>^%!\r\n]')  # what cmd.exe, which runs batch files, would take for its own


def editor() -> list[str]:
    """The user's editor with its own options, as $VISUAL or else $EDITOR has it; empty if neither is set."""
    return _words_of(os.environ.get("VISUAL", "").strip() or os.environ.get("EDITOR", "").strip())


def editing(command: Sequence[str], path: Path, line: int) -> list[str]:
    """The command that opens a file, at its line if the editor is one that is known to take it.

    Raises UsageError for an editor that is not there, and for a path that a batch file would not take as it is.
    """
    program = _find_program(command[0], "editor", "$VISUAL")
    whole = str(path.absolute())
    if program.lower().endswith((".cmd", ".bat")) and _OF_BATCH.search(whole):
        raise UsageError(
            f"{whole!r} has characters that the batch file {program} would misread; rename it or use another editor"
        )
    parts = (part.replace("{line}", str(line)).replace("{path}", whole) for part in _arguments(program))
    return [program, *command[1:], *parts]


def _words_of(command: str) -> list[str]:
    """A command as the words that a shell would make of it. A path with blanks may stand without quotes."""
    if not command or shutil.which(command):
        return [command] if command else []
    try:
        words = shlex.split(command, posix=os.name != "nt")  # otherwise C:\bin would lose its backslash
    except ValueError as error:
        raise UsageError(f"{command!r} is not a valid command ({error}); use one such as 'code --wait'") from None
    return [word.strip('"') for word in words] if os.name == "nt" else words


def _find_program(word: str, kind: str, variable: str) -> str:
    """The path of a program. Raises UsageError, which says where it was named."""
    program = shutil.which(word)
    if program is None:
        raise UsageError(f"the {kind} {word!r} was not found; set {variable} to an installed one")
    return program


def _arguments(program: str) -> tuple[str, ...]:
    """How a program takes line and path, by its name: vim.tiny is vim, and so is `editor` if it links to it."""
    names = (
        Path(path).name.lower().removesuffix(".exe").removesuffix(".cmd")
        for path in (program, os.path.realpath(program))
    )
    known = (name for full in names for name in (full, full.partition(".")[0]) if name in _ARGUMENTS)
    return _ARGUMENTS[name] if (name := next(known, "")) else ("{path}",)


def run(command: Sequence[str], *, text: str | None = None) -> int:
    """Run a program until it ends, with a text on its standard input if one is given; its exit status.

    Ctrl-C belongs to the program meanwhile. Raises UsageError for one that cannot be started.
    """
    is_main = threading.current_thread() is threading.main_thread()
    before = signal.signal(signal.SIGINT, lambda *_: None) if is_main else None  # SIG_IGN would be inherited
    try:
        data = None if text is None else text.encode("utf-8", "replace")
        return subprocess.run(command, input=data, check=False).returncode
    except OSError as error:
        raise UsageError(f"cannot start {command[0]}: {error.strerror or error}") from None
    finally:
        if is_main:
            signal.signal(signal.SIGINT, before)


# -- Pager and viewer --------------------------------------------------------------------------------------------------

_LINE_END = re.compile(r"\r\n|\r|\n")


def page(text: str, line: int) -> None:
    """Show a text in $PAGER, or else less or more, which begin at the line. Without a terminal all of it is printed."""
    safe = OBEYED.sub(" ", _LINE_END.sub("\n", text)).rstrip("\n") + "\n"
    words = _words_of(os.environ.get("PAGER", "").strip()) or list(filter(shutil.which, ("less", "more")))[:1]
    if not words or not _on_terminal():
        print(safe, end="")
        return
    begin = [f"+{line}"] if Path(words[0]).stem in ("less", "more", "most") else []
    run([_find_program(words[0], "pager", "$PAGER"), *words[1:], *begin], text=safe)


def _on_terminal() -> bool:
    return sys.stdout.isatty()


def view(path: Path, format: str) -> bool:
    """Open a file in the system's viewer; False where there is none.

    False as well for a file whose name is not one of its format: the system goes by the name, and would run a program
    that only begins like a PDF.
    """
    kind = FORMATS.get(format)
    if kind is None or path.suffix.lower() not in kind.suffixes:
        return False
    has_screen = (
        os.name == "nt" or sys.platform == "darwin" or os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY")
    )
    return bool(has_screen) and typer.launch(str(path.absolute())) == 0
