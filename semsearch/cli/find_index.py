"""Find the index of a command: the named one, or else the only one; and the folders that hold indexes.

Without `--indexes`, indexes are looked for in ./indexes, then in a folder `indexes` above that holds one (as git looks
for its repository), then in the user's personal folder. A new index is created in ./indexes or, if there is no such
folder, in the one above; without either in ./indexes if the indexed path lies below the current folder, and otherwise
in the personal folder.
"""

from __future__ import annotations

import errno
import os
from collections.abc import Iterator, Sequence
from contextlib import suppress
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING

from semsearch.errors import IndexNotFound, SemsearchError, UsageError
from semsearch.snapshots.store_uris import is_uri, name_of, store_named
from semsearch.storage.database import has_database, is_index
from semsearch.system.locations import folders_above, uri_scheme, working_folder

if TYPE_CHECKING:
    from semsearch.index import Index

# -- Folders of indexes ------------------------------------------------------------------------------------------------

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
    return (folder for folder in folders_above(FOLDER) if folder.is_dir() and os.access(folder, os.R_OK | os.X_OK))


def users_own() -> Path:
    """The user's own folder of indexes, for what belongs to no project. It need not exist."""
    from semsearch.system.locations import data_folder  # start-up time: most find theirs before

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
        raise IndexNotFound(f"cannot list {folder} ({error.strerror}); choose another folder with --indexes") from error


# -- Indexes by name ---------------------------------------------------------------------------------------------------

INDEXES = None  # the default of --indexes: semsearch.cli.find_index


def open_index(named: Sequence[str] | None, indexes: Path | None, vectors: str | None = None) -> Index:
    """Open the index of a name, path or snapshot store, or else the only one there is."""
    folder = find_asked(only_one(named), indexes)
    from semsearch.index import Index  # start-up time: an index that is missing is reported before

    return Index.open(folder, vectors=vectors)


def only_one(named: Sequence[str] | None) -> str | None:
    """The name that is given for the index, if any. Raises UsageError if several are given."""
    if named and len(named) > 1:
        raise UsageError(f"this command takes one --index, got {len(named)}: {', '.join(named)}")
    return named[0] if named else None


def find_asked(named: str | None, indexes: Path | None) -> Path | str:
    """Find the named index, or the only one: its folder, or the URI of its snapshot store.

    Raises IndexNotFound.
    """
    if named is not None and (is_uri(named) or folder_of(named, indexes) is None):
        place = store_named(named)
        if place is not None:
            return place
    return find_index(named, indexes)


def find_index(named: str | None, indexes: Path | None) -> Path:
    """Find the folder of the index that is named, or else of the only one. Raises IndexNotFound, which lists them."""
    if named is not None:
        folder = folder_of(named, indexes)
        if folder is None:
            raise IndexNotFound(f"there is no index {named!r}; {_choice(indexes)}")
        return folder
    folders = index_folders(nearest(indexes))
    if len(folders) > 1:
        folders = [folder for folder in folders if _is_whole(folder)] or folders
    if len(folders) != 1:
        raise IndexNotFound(_choice(indexes))
    return folders[0]


def all_nearest(indexes: Path | None) -> list[str]:
    """The paths of all indexes in the nearest folder that has one, less those that were never completed."""
    return [shown(folder) for folder in index_folders(nearest(indexes)) if _is_whole(folder)]


def find_indexes(named: Sequence[str], indexes: Path | None) -> dict[str, Path | str]:
    """Find the indexes that are named, by the names they are served by. Raises as `find_asked`."""
    places: dict[str, Path | str] = {}
    for each in named:
        place = find_asked(each, indexes)
        name = name_for(place) if isinstance(place, Path) else name_of(place)
        if places.setdefault(name, place) != place:
            raise UsageError(f"{place} and {places[name]} have the same name, {name}; serve only one of them")
    return places


def folder_of(named: str, indexes: Path | None) -> Path | None:
    """The folder of the index of a name, None if there is none; a text that looks like a path, or is one, is a path.

    The nearest folder of indexes that has the name wins, but the path of an index in the current folder comes before
    the folders above it. Raises UsageError for an invalid name.
    """
    as_path = _as_path(named)
    if as_path is not None:
        return as_path if has_database(as_path) else None
    folders = folders_of_indexes(indexes)
    places = chain((next(folders) / named, Path(named).expanduser()), (folder / named for folder in folders))
    return next((place for place in places if has_database(place)), None)


def folder_to_make(named: str, path: str, indexes: Path | None) -> Path:
    """The folder for a new index of a name and of what is at a path. Raises UsageError for an invalid name."""
    return _as_path(named) or folder_for_new(path, indexes) / named


def _as_path(named: str) -> Path | None:
    """A text as a path, if it looks like one. Raises UsageError for an invalid name."""
    if is_uri(named):
        raise UsageError(f"{named} is a snapshot store, which is read-only; name a local index")
    if not named.strip() or "\0" in named:
        raise UsageError(f"{named!r} is not a valid index name; use a name such as 'docs'")
    as_path = Path(named).expanduser()
    looks_like_path = len(as_path.parts) != 1 or named.startswith(".") or named.endswith(("/", os.sep))
    return as_path if looks_like_path else None


def name_for(path: Path) -> str:
    """The name for an index of a file or folder: that of the folder, or of the file without its suffix."""
    whole = Path(os.path.realpath(path))  # unlike Path.resolve, it accepts links that lead round
    return (whole.stem if whole.is_file() else whole.name) or "root"


def none_in(indexes: Path | None) -> str:
    """The message that there is no index, and what to do."""
    folder = indexes or HERE
    if has_database(folder):
        return f"{folder} is itself an index; use: --index {shown(folder)}"
    closed: list[Path] = []
    with suppress(OSError):
        closed = [child for child in sorted(folder.iterdir()) if child.is_dir() and not os.access(child, os.X_OK)]
    if closed:
        return f"no index in {shown(folder)} can be read: {', '.join(map(shown, closed[:3]))}: Permission denied"
    return f"no index in {shown(folder)}; create one: semsearch index docs/"


def shown(folder: Path) -> str:
    """A folder as one would write it on the command line, so that it is not taken for a name."""
    return str(folder) if folder.is_absolute() or str(folder).startswith(".") else f".{os.sep}{folder}"


def _choice(indexes: Path | None) -> str:
    """The indexes to choose from, in each folder of indexes."""
    found = {folder: [index.name for index in index_folders(folder)] for folder in folders_of_indexes(indexes)}
    said = [_names_in(folder, names) for folder, names in found.items() if names]
    return "; ".join(said) or none_in(indexes)


def _names_in(folder: Path, names: Sequence[str]) -> str:
    if len(names) == 1:
        return f"{shown(folder)} holds only {names[0]}"
    return f"{shown(folder)} holds {len(names)} indexes: {', '.join(names)}; choose one: --index {names[0]}"


def _is_whole(folder: Path) -> bool:
    """Return whether an index's creation was completed; True for a damaged one."""
    try:
        return is_index(folder)
    except SemsearchError:
        return True


def from_here(path: str) -> str:
    """A path as one would write it in the current folder: relative if it lies there."""
    try:
        return str(Path(path).relative_to(working_folder()))
    except ValueError:
        return path
