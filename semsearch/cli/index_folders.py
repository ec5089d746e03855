"""The folders in which indexes live: the one that is given, or the project's, and then the user's own.

Without `--indexes`, an index is looked for in ./indexes, then in a folder `indexes` above that holds one, as git looks
for its own, and then in the user's own folder of indexes. A new index is made in ./indexes or, where there is no such
folder, in the one above; without either in ./indexes if what is indexed lies below the current folder, and otherwise in
the user's own.
"""

from __future__ import annotations

import errno
import os
from collections.abc import Iterator
from pathlib import Path

from semsearch.errors import IndexNotFound
from semsearch.storage.opening import has_database
from semsearch.system.upward import above
from semsearch.system.uris import uri_scheme

FOLDER = "indexes"
HERE = Path(FOLDER)


def folders_of_indexes(given: Path | None) -> Iterator[Path]:
    """The folders that indexes are looked for in, nearest first, whether or not there is one."""
    if given is not None:
        yield given
        return
    yield HERE
    yield from _above_here()
    yield users_own()


def _above_here() -> Iterator[Path]:
    """The folders of this name in the folders above the current one, less those that may not be read."""
    return (folder for folder in above(FOLDER) if folder.is_dir() and os.access(folder, os.R_OK | os.X_OK))


def users_own() -> Path:
    """The user's own folder of indexes, for what belongs to no project. It need not exist."""
    from semsearch.system.user_folders import data_folder  # start-up time: most find theirs before

    return data_folder() / FOLDER


def nearest(given: Path | None) -> Path:
    """The nearest folder that holds an index; where none does, the one that is given, or ./indexes."""
    return next((folder for folder in folders_of_indexes(given) if index_folders(folder)), given or HERE)


def folder_for_new(path: str, given: Path | None) -> Path:
    """The folder that a new index of a path is made in."""
    if given is not None:
        return given
    if HERE.is_dir():
        return HERE
    of_project = next((folder for folder in _above_here() if index_folders(folder)), None)
    return of_project or (HERE if _is_below_here(path) else users_own())


def _is_below_here(path: str) -> bool:
    if uri_scheme(path):
        return False
    here, whole = os.path.realpath("."), os.path.realpath(Path(path).expanduser())
    return whole == here or whole.startswith(here.rstrip(os.sep) + os.sep)


def index_folders(folder: Path) -> list[Path]:
    """The folders of all indexes in a folder, ordered by name."""
    try:
        return sorted(child for child in folder.iterdir() if has_database(child))
    except (FileNotFoundError, NotADirectoryError):
        return []
    except OSError as error:
        if error.errno == errno.ELOOP:
            return []
        raise IndexNotFound(f"{folder} cannot be listed ({error.strerror}); choose another with --indexes") from error
