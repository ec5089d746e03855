"""Programs that the user names in $EDITOR and $PAGER: their words, and by which name they are known."""

from __future__ import annotations

import os
import re
import shlex
import shutil
from collections.abc import Collection
from pathlib import Path

from semsearch.errors import UsageError

_ENDING = re.compile(r"\.(?:exe|cmd|bat|com)$")


def words_of(given: str) -> list[str]:
    """A command as the words that a shell would make of it. A path with blanks may stand without quotes."""
    if not given or shutil.which(given):
        return [given] if given else []
    try:
        words = shlex.split(given, posix=os.name != "nt")  # otherwise C:\bin would lose its backslash
    except ValueError as error:
        raise UsageError(f"{given!r} is not a command ({error}); give one such as 'code --wait'") from None
    return [word.strip('"') for word in words] if os.name == "nt" else words


def find_program(word: str, kind: str, variable: str) -> str:
    """The path of a program. Raises UsageError, which says where it was named."""
    found = shutil.which(word)
    if found is None:
        raise UsageError(f"the {kind} {word!r} was not found; set {variable} to one that is installed")
    return found


def name_among(program: str, known: Collection[str]) -> str | None:
    """The name by which a program is known, if it is: vim.tiny is vim, and so is `editor` where it is a link to it."""
    names = (_name_of(Path(path)) for path in (program, os.path.realpath(program)))
    return next((name for each in names for name in (each, each.partition(".")[0]) if name in known), None)


def _name_of(path: Path) -> str:
    return _ENDING.sub("", path.name.lower())
