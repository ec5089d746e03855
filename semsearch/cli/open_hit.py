"""Open a hit: the file at its line in the editor, in the system's viewer, or the indexed text in the pager.

The editor is $VISUAL or $EDITOR, the pager $PAGER. Programs run without a shell; the path is one absolute argument, so
that it never looks like an option. Ctrl-C belongs to the program while it runs. Control characters never reach the
pager: documents may come from anybody.
"""

from __future__ import annotations

import contextlib
import os
import re
import shlex
import shutil
import signal
import subprocess
import sys
import threading
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from semsearch.cli.answer_formats import OBEYED, path_and_position, path_of, trail
from semsearch.cli.answering import indexes_of, is_remote
from semsearch.errors import SemsearchError, SourceError, UsageError
from semsearch.readers.registry import MAX_BYTES
from semsearch.results.hits import LINELESS, Hit
from semsearch.system.locations import uri_scheme
from semsearch.system.source_files import opened_source, read_source

if TYPE_CHECKING:
    from semsearch.cli.answering import Asked

# -- Programs that the user names --------------------------------------------------------------------------------------

_ENDING = re.compile(r"\.(?:exe|cmd|bat|com)$")


def words_of(given: str) -> list[str]:
    """A command as the words that a shell would make of it. A path with blanks may stand without quotes."""
    if not given or shutil.which(given):
        return [given] if given else []
    try:
        words = shlex.split(given, posix=os.name != "nt")  # otherwise C:\bin would lose its backslash
    except ValueError as error:
        raise UsageError(f"{given!r} is not a valid command ({error}); use one such as 'code --wait'") from None
    return [word.strip('"') for word in words] if os.name == "nt" else words


def find_program(word: str, kind: str, variable: str) -> str:
    """The path of a program. Raises UsageError, which says where it was named."""
    found = shutil.which(word)
    if found is None:
        raise UsageError(f"the {kind} {word!r} was not found; set {variable} to an installed one")
    return found


def name_among(program: str, known: Collection[str]) -> str | None:
    """The name by which a program is known, if it is: vim.tiny is vim, and so is `editor` where it is a link to it."""
    names = (_name_of(Path(path)) for path in (program, os.path.realpath(program)))
    return next((name for each in names for name in (each, each.partition(".")[0]) if name in known), None)


def _name_of(path: Path) -> str:
    return _ENDING.sub("", path.name.lower())


# -- Running them ------------------------------------------------------------------------------------------------------


def run(command: Sequence[str], *, text: str | None = None) -> int:
    """Run a program until it ends, with a text on its standard input if one is given; its exit status.

    A program that does not read all of the text, as a pager that is left, is no error. Raises UsageError for one that
    cannot be started.
    """
    given = None if text is None else text.encode("utf-8", "replace")
    with _interrupts_left_to_it():
        try:
            done = subprocess.run(command, input=given, check=False)
        except OSError as error:
            raise UsageError(f"cannot start {command[0]}: {error.strerror or error}") from None
    return done.returncode


def start(command: Sequence[str]) -> None:
    """Start a program with a window of its own, and do not wait for it."""
    nothing = subprocess.DEVNULL
    try:
        process = subprocess.Popen(command, stdin=nothing, stdout=nothing, stderr=nothing, start_new_session=True)
    except OSError as error:
        raise UsageError(f"cannot start {command[0]}: {error.strerror or error}") from None
    threading.Thread(target=process.wait, daemon=True).start()  # so that no ended process is left over


@contextlib.contextmanager
def _interrupts_left_to_it() -> Iterator[None]:
    """Let Ctrl-C do nothing here. Not SIG_IGN, which the program would inherit."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(signal.SIGINT, lambda *_: None)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


# -- Editors -----------------------------------------------------------------------------------------------------------

_ARGUMENTS: Mapping[tuple[str, ...], str] = {  # how editors take a line and a path
    ("+{line}", "--", "{path}"): "vi vim nvim view gvim gview mvim ex nano pico gedit xed pluma",
    ("+{line}", "{path}"): "emacs emacsclient micro kak joe jmacs jstar ne mg zile mcedit geany bbedit",
    ("--goto", "{path}:{line}"): "code code-insiders codium vscodium cursor windsurf",
    ("{path}:{line}",): "hx helix subl sublime_text zed zeditor",
    ("--line", "{line}", "{path}"): "kate kwrite mate idea pycharm webstorm clion goland phpstorm rubymine rustrover",
    ("-n{line}", "{path}"): "notepad++",
}
_TAKING = {editor: arguments for arguments, editors in _ARGUMENTS.items() for editor in editors.split()}
_OF_BATCH = re.compile(r'["&|<>^%!\r\n]')  # what cmd.exe, which runs batch files, would take for its own


def editor() -> list[str]:
    """The user's editor with its own options, as $VISUAL or else $EDITOR has it; empty if neither is set."""
    return words_of(os.environ.get("VISUAL", "").strip() or os.environ.get("EDITOR", "").strip())


def editing(command: Sequence[str], path: Path, line: int) -> list[str]:
    """The command that opens a file, at its line if the editor is one that is known to take it.

    Raises UsageError for an editor that is not there, and for a path that a batch file would not take as it is.
    """
    program = find_program(command[0], "editor", "$VISUAL")
    whole = str(path.absolute())
    if program.lower().endswith((".cmd", ".bat")) and _OF_BATCH.search(whole):
        raise UsageError(
            f"{whole!r} has characters that the batch file {program} would misread; rename it or use another editor"
        )
    arguments = _TAKING.get(name_among(program, _TAKING) or "", ("{path}",))
    return [program, *command[1:], *(each.replace("{line}", str(line)).replace("{path}", whole) for each in arguments)]


# -- Pagers ------------------------------------------------------------------------------------------------------------

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


# -- Viewers -----------------------------------------------------------------------------------------------------------


def view(path: Path, format: str) -> bool:
    """Open a file in the system's viewer; False where there is none.

    False as well for a file whose name is not one of its format: the system goes by the name, and would run a program
    that only begins like a PDF.
    """
    if not _is_named_as(path, format):
        return False
    if sys.platform == "win32":
        try:
            os.startfile(path.absolute())
        except OSError as error:
            raise UsageError(f"cannot open {path}: {error.strerror}") from None
        return True
    program = _opener()
    if program is None:
        return False
    start([program, str(path.absolute())])
    return True


def _opener() -> str | None:
    """The program that opens a file in the viewer for it. Without a screen there is none."""
    if _platform() == "darwin":
        return shutil.which("open")
    if os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY"):
        return shutil.which("xdg-open") or shutil.which("wslview")
    return None


def _platform() -> str:
    return sys.platform


def _is_named_as(path: Path, format: str) -> bool:
    from semsearch.readers.registry import FORMATS  # start-up time: few hits are of files without lines

    known = FORMATS.get(format)
    return known is not None and path.suffix.lower() in known.suffixes


# -- Hits --------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class PagedText:
    """A text for the pager, and the line at which it begins to be read; the first is 1."""

    text: str
    line: int


def open_hit(hit: Hit, opened: Asked) -> str:
    """Open a hit of the `opened` index; returns a message, mostly an empty one.

    A file with lines is opened in the editor, or in the pager if none is set; one without, such as a PDF, in the
    system's viewer. Otherwise the pager shows the indexed text: of a deleted file, a text that a program added, a hit
    of a server, an object in a store. Raises UsageError if the editor, viewer or pager cannot be started.
    """
    if is_remote(opened) or not hit.root:
        return _show_indexed(hit, opened)
    if uri_scheme(hit.root):
        _show_indexed(hit, opened)
        return f"{path_of(hit)} is in an object store; its indexed text was shown instead"
    file = Path(hit.path).absolute()
    try:
        with opened_source(file, hit.root):  # an editor would open whatever stands there
            pass
    except OSError as error:
        _show_indexed(hit, opened)
        gone = isinstance(error, FileNotFoundError | NotADirectoryError)
        why = "no longer exists" if gone else f"cannot be opened: {error.strerror}"
        return f"{path_of(hit)} {why}; its indexed text was shown instead"
    if hit.format in LINELESS:
        is_shown = view(file, hit.format)
        return f"opened {path_and_position(hit)}" if is_shown else _show_indexed(hit, opened)
    if not (command := editor()):
        return _show_file(hit, file, opened)
    status = run(editing(command, file, hit.line))
    return f"{command[0]} exited with status {status}" if status else ""


def _show_file(hit: Hit, file: Path, opened: Asked) -> str:
    from semsearch.readers.encoding import declared_encoding, decode  # start-up time: only this reads a file

    try:
        data = read_source(file, MAX_BYTES, root=hit.root).data
        text = decode(data, hit.path, declared=declared_encoding(data) if hit.format == "html" else None).text
    except (OSError, SourceError):
        return _show_indexed(hit, opened)
    page(text, hit.line)
    return ""


def _show_indexed(hit: Hit, opened: Asked) -> str:
    """Show the text of a hit's document, as it is searched, from the hit's sentence on."""
    shown = indexed_text(hit, opened)
    page(shown.text, shown.line)
    return ""


def indexed_text(hit: Hit, opened: Asked) -> PagedText:
    """The text of a hit's document under a line that names the place; the passage alone if there is no more to have."""
    heading = " › ".join([path_and_position(hit), *trail(hit)])
    try:
        index = opened if is_remote(opened) else indexes_of(opened)[hit.index or ""]
        text = index.document(hit.path).text
    except (SemsearchError, KeyError):
        text = hit.passage
    passage = max(0, text.find(hit.passage))
    sentence = max(passage, text.find(hit.sentence, passage))
    before = len(_LINE_END.findall(text[:sentence]))
    return PagedText(f"{heading}\n\n{text}", before + 3)
