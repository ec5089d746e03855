"""The command that opens a file at a line in the user's editor, $VISUAL or $EDITOR.

There is no shell between: the path is one argument, absolute, so that it never looks like an option.
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping, Sequence
from pathlib import Path

from semsearch.cli.opening.programs import find_program, name_among, words_of
from semsearch.errors import UsageError

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
        raise UsageError(f"{whole!r} has characters that the batch file {program} would not take as they are")
    arguments = _TAKING.get(name_among(program, _TAKING) or "", ("{path}",))
    return [program, *command[1:], *(each.replace("{line}", str(line)).replace("{path}", whole) for each in arguments)]
