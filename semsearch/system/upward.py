"""Look for a file or folder in the current folder and in those above it, as git does for its own.

Above the current folder, only what belongs to the user, to root or to the owner of the current folder counts: in a
folder that everybody may write to, such as /tmp, a stranger could have put something for others to find.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

from semsearch.system.working_folder import working_folder


def above(name: str) -> Iterator[Path]:
    """The paths of this name in the folders above the current one, nearest first, that exist and can be trusted.

    A folder that cannot be looked into has none. There is nothing above a current folder that has been deleted.
    """
    try:
        here = working_folder()
    except OSError:
        return
    for folder in here.parents:
        path = folder / name
        if os.path.lexists(path) and _is_trusted(path, here):
            yield path


def _is_trusted(path: Path, here: Path) -> bool:
    if os.name == "nt":
        return path.exists()
    try:
        return path.stat().st_uid in (os.getuid(), 0, here.stat().st_uid)
    except OSError:  # a link that leads nowhere, or round
        return False
