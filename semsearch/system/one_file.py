"""The program of one file: semsearch with Python, its packages and its word vectors, for one operating system.

tests/supply/one_file.py makes it. At its first start it unpacks itself into a folder of the user's cache, which its
digest names; from then on it starts from there, where word vectors are mapped as they are after an installation. In it,
`sys.executable` is the program itself: there is no other Python, so it stands in for one where processes are started.
"""

from __future__ import annotations

import os
import sys
from collections.abc import MutableMapping
from pathlib import Path

LIST = "FILES"  # beside the program: the digest and the name of each other file
LICENCES = "LICENCES"  # beside it: of all that is inside
_FLAGS = 6  # of Python, at most, before the code of a process that is started


class _Start:
    """How this process was started."""

    file = ""


def is_one_file() -> bool:
    """Return whether this is a program that contains its Python."""
    return bool(getattr(sys, "frozen", False))


def program() -> str:
    """The path by which semsearch can be started again: of the one file, else of Python."""
    return _Start.file or sys.executable


def folder() -> Path:
    """The folder of what was unpacked."""
    return Path(sys.executable).parent


def begin() -> None:
    """Do what Python would do, if the program was started in its place; the process then ends.

    Otherwise remember where the program is, and let the programs that it starts have the environment of its user.
    """
    vars(sys.modules["__main__"]).pop("__file__", None)  # which processes of multiprocessing would run again
    if sys.argv[1:2] == ["--multiprocessing-fork"]:
        from multiprocessing.spawn import freeze_support

        freeze_support()
    if (code := code_to_run(sys.argv)) is not None:
        exec(compile(code, "<string>", "exec"), {"__name__": "__main__"})  # as readers and multiprocessing ask
        sys.exit()
    if file := os.environ.pop("SEMSEARCH_PROGRAM", ""):
        _Start.file = os.path.abspath(file)  # noqa: PTH100  # it may be a link, which upgrades change
    restore_libraries(os.environ)


def code_to_run(arguments: list[str]) -> str | None:
    """The code of Python's option -c, with only flags before it; None for semsearch's own arguments."""
    before = arguments[1 : arguments.index("-c", 1)] if "-c" in arguments[1 : 2 + _FLAGS] else ["no flag"]
    if not all(each.startswith("-") for each in before):
        return None
    following = arguments[len(before) + 2 :]
    return following[0] if following else None


def restore_libraries(environment: MutableMapping[str, str]) -> None:
    """Undo what made the system's loader find the libraries inside: other programs need the system's own."""
    for name in ("LD_LIBRARY_PATH", "LIBPATH"):
        before = environment.pop(f"{name}_ORIG", None)
        if before is not None:
            environment[name] = before
        else:
            environment.pop(name, None)
    for name in [name for name in environment if name.startswith("_PYI_")]:
        del environment[name]


def damaged_files(of: Path) -> list[str]:
    """The names of files of the unpacked program that are not as they were built, or lack. Raises OSError."""
    from hashlib import sha256  # start-up time

    found = []
    for line in (of / LIST).read_text(encoding="utf-8").splitlines():
        digest, _, name = line.partition("  ")
        try:
            is_well = sha256((of / name).read_bytes()).hexdigest() == digest
        except OSError:
            is_well = False
        if not is_well:
            found.append(name)
    return found
