"""Paths as a terminal shows them: as short as one would write them here, and broken where their parts meet."""

from __future__ import annotations

import os
from functools import lru_cache

from semsearch.system.working_folder import working_folder

_UP = ".."


@lru_cache(maxsize=256)
def nearest(path: str) -> str:
    """The path of a file as one would write it here: relative to a folder above, where that is shorter."""
    if not os.path.isabs(path):  # noqa: PTH117  # as text, for as little time as can be
        return path
    try:
        relative = os.path.relpath(path, working_folder()).replace(os.sep, "/")
    except ValueError:  # on another drive
        return path
    return relative if len(relative) < len(path) else path


def folded(path: str, first: int, room: int) -> list[str]:
    """Divide a path after its separators into lines: of `first` columns, and of `room` columns from the second on.

    A part that is longer than a line is a line by itself, and too long.
    """
    lines, line = list[str](), ""
    for part in path.replace("/", "/\0").split("\0"):
        if line and len(line) + len(part) > (room if lines else first):
            lines.append(line)
            line = ""
        line += part
    return [*lines, line]
