"""Open a hit: the file at its line in the editor, or else its indexed text, printed from the passage on.

The editor is $VISUAL or $EDITOR. It runs without a shell; the path is one absolute argument, so that it never looks
like an option. Control characters are not printed: documents may come from anybody.
"""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
from pathlib import Path
from typing import TYPE_CHECKING, cast

from semsearch.cli.answer_formats import OBEYED, path_and_position, path_of, trail
from semsearch.cli.asked_indexes import Asked, indexes_of
from semsearch.errors import SemsearchError, UsageError
from semsearch.results.hits import LINELESS, Hit
from semsearch.system.locations import uri_scheme
from semsearch.system.source_files import opened_source

if TYPE_CHECKING:
    from semsearch.index import Index
    from semsearch.remote_index import RemoteIndex

_EDITORS = {  # that take a line, by how they take it
    ("+{line}", "{path}"): "vi vim nvim view gvim mvim ex nano pico emacs emacsclient micro kak joe gedit mcedit",
    ("{path}:{line}",): "hx helix subl sublime_text zed zeditor",
    ("--goto", "{path}:{line}"): "code code-insiders codium vscodium cursor windsurf",
}
_ARGUMENTS = {editor: arguments for arguments, editors in _EDITORS.items() for editor in editors.split()}
_OF_BATCH = re.compile(r'["&|<>^%!\r\n]')  # what cmd.exe, which runs batch files, would take for its own


def show_hit(hit: Hit, asked: Asked) -> str:
    """Open a hit of the `asked` index; returns a message, mostly an empty one.

    The indexed text is printed without an editor, of a file without lines, a deleted file, a text that a program added,
    a hit of a server, an object in a store. Raises UsageError if the editor cannot be started.
    """
    message = ""
    if hit.root and indexes_of(asked) and not uri_scheme(hit.root):
        file = Path(hit.path).absolute()
        try:
            with opened_source(file, hit.root):  # an editor would open whatever stands there
                pass
        except OSError as error:
            message = f"{path_of(hit)} cannot be opened: {error.strerror}; its indexed text was shown instead"
        else:
            if hit.format not in LINELESS and (command := editing(file, hit.line)):
                status = subprocess.run(command, check=False).returncode
                return f"{command[0]} exited with status {status}" if status else ""
    index = cast("Index | RemoteIndex", indexes_of(asked).get(hit.index or "", asked))  # of several, each is here
    try:
        text = index.document(hit.path).text
    except SemsearchError:
        text = hit.passage
    place = " › ".join([path_and_position(hit), *trail(hit)])
    print(OBEYED.sub(" ", f"{place}\n\n{text[max(0, text.find(hit.passage)) :]}"))
    return message


def editing(path: Path, line: int) -> list[str]:
    """The command that opens a file in the user's editor, at its line if that is known to take it; empty without one.

    Raises UsageError for an editor that is not there, and for a path that a batch file would not take as it is.
    """
    chosen = os.environ.get("VISUAL", "").strip() or os.environ.get("EDITOR", "").strip()
    if not chosen:
        return []
    try:
        words = shlex.split(chosen, posix=os.name != "nt")  # otherwise C:\bin would lose its backslash
    except ValueError as error:
        raise UsageError(f"{chosen!r} is not a valid command ({error}); use one such as 'code --wait'") from None
    name, *options = (word.strip('"') for word in words)
    program, whole = shutil.which(name), str(path)
    if program is None:
        raise UsageError(f"the program {name!r} was not found; set $VISUAL to an installed one")
    if program.lower().endswith((".cmd", ".bat")) and _OF_BATCH.search(whole):
        raise UsageError(f"the batch file {program} would misread {whole!r}; rename it or use another editor")
    arguments = _ARGUMENTS.get(Path(program).name.lower().partition(".")[0], ("{path}",))
    return [program, *options, *(part.replace("{line}", str(line)).replace("{path}", whole) for part in arguments)]
