"""Which index a command works on, and where a new one is made.

An index is named by its name, its path, or the URI of a published copy. A name is looked for in ./indexes, in folders
`indexes` above (as git looks for its repository), in the user's personal folder, and then among all indexes that this
user has made elsewhere, which a small file lists. Without a name, those in ./indexes are used; or else those of the
closest folder around the current one; or else the only one in the nearest folder of indexes, or elsewhere.

A new index is made in ./indexes if all its files lie below the current folder, and otherwise in the personal folder.
"""

from __future__ import annotations

import errno
import os
from collections.abc import Iterable, Iterator, Sequence
from contextlib import closing, suppress
from difflib import get_close_matches
from pathlib import Path

from semsearch.errors import IndexNotFound, SemsearchError, UsageError
from semsearch.index import Index
from semsearch.storage.database import IndexDatabase, check, has_database, is_index
from semsearch.storage.known_files import get_roots
from semsearch.storage.published import name_of, published_at
from semsearch.system.locations import (
    as_spelled,
    config_folder,
    data_folder,
    divided,
    expanded,
    folders_above,
    uri_scheme,
    working_folder,
)

# -- All indexes -------------------------------------------------------------------------------------------------------

LOCAL_FOLDER = Path("indexes")


def personal_folder() -> Path:
    """The personal folder of indexes, for what belongs to no project. It need not exist."""
    return data_folder() / LOCAL_FOLDER


def searched_folders(indexes: Path | None) -> Iterator[Path]:
    """The folders in which indexes are looked for, nearest first: only that of --indexes, if it is given."""
    if indexes is not None:
        yield indexes
        return
    yield LOCAL_FOLDER
    yield from (folder for folder in folders_above(LOCAL_FOLDER.name) if os.access(folder, os.R_OK | os.X_OK))
    yield personal_folder()


def indexes_in(folder: Path) -> list[Path]:
    """The folders of all indexes in a folder, ordered by name; also damaged ones, but none whose creation was
    interrupted."""
    try:
        return sorted(child for child in folder.iterdir() if has_database(child) and _is_complete(child))
    except OSError as error:
        if error.errno in (errno.ENOENT, errno.ENOTDIR, errno.ELOOP):
            return []
        raise IndexNotFound(f"cannot list {folder} ({error.strerror}); choose another folder with --indexes") from error


def _is_complete(folder: Path) -> bool:
    try:
        return is_index(folder)
    except SemsearchError:
        return True


def all_indexes(indexes: Path | None) -> list[Path]:
    """All indexes that can be named here, nearest first; only those in the folder of --indexes, if it is given."""
    folders = [index for folder in searched_folders(indexes) for index in indexes_in(folder)]
    folders += registered_indexes() if indexes is None else []
    return [*{os.path.realpath(index): index for index in reversed(folders)}.values()][::-1]


def register_index(index: Path) -> None:
    """Add an index to the list of this user's indexes, if that is writable: it can then be named in other folders."""
    path = os.path.realpath(index)
    with suppress(OSError, ValueError):
        if path not in _registered_paths():
            _registry().parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            with _registry().open("a", encoding="utf-8") as file:
                file.write(f"{path}\n")


def registered_indexes() -> list[Path]:
    """The listed indexes that still exist, by path."""
    return sorted(path for path in map(Path, _registered_paths()) if has_database(path))


def _registered_paths() -> set[str]:
    try:
        return set(_registry().read_text(encoding="utf-8").splitlines())
    except (OSError, ValueError):
        return set()


def _registry() -> Path:
    return config_folder() / "indexes.txt"


# -- The default indexes -----------------------------------------------------------------------------------------------


def roots_of(index: Path) -> tuple[str, ...]:
    """The roots of an index; none of one that cannot be read."""
    try:
        with closing(IndexDatabase(index)) as database:
            check(database)
            with database.reading() as db:
                return tuple(root.path for root in get_roots(db))
    except SemsearchError:
        return ()


def contains(root: str, path: str) -> bool:
    """Return whether a path is a root or lies in it. Each may be the URI of a folder in a store."""
    if uri_scheme(root) or uri_scheme(path):
        outer_uri, inner_uri = (divided(uri)[0].rstrip("/") for uri in (root, path))  # without their options
        return bool(uri_scheme(root)) and f"{inner_uri}/".startswith(f"{outer_uri}/")
    outer, inner = (as_spelled(Path(os.path.realpath(name))) for name in (root, path))
    return outer == inner or outer in inner.parents


def local_indexes(indexes: Path | None) -> list[Path]:
    """The indexes in ./indexes or --indexes; if there are none, those of the closest folder around the current one."""
    folders = indexes_in(indexes or LOCAL_FOLDER)
    if folders or indexes is not None:
        return folders
    current = _with_separator(str(working_folder()))
    depths: dict[Path, int] = {}
    for index in all_indexes(None):
        roots = [_with_separator(root) for root in roots_of(index) if not uri_scheme(root)]
        depths[index] = max((len(root) for root in roots if current.startswith(root)), default=0)
    closest = max(depths.values(), default=0)
    return [index for index, depth in depths.items() if depth == closest > 0]


def other_indexes(indexes: Path | None) -> list[Path]:
    """The indexes in the nearest searched folder that has some, or else all that the user has made elsewhere."""
    nearest = next(filter(None, map(indexes_in, searched_folders(indexes))), [])
    return nearest or ([] if indexes else registered_indexes())


def _with_separator(folder: str) -> str:
    return os.path.realpath(folder).rstrip(os.sep) + os.sep


def indexes_to_serve(indexes: Path | None) -> dict[str, Path] | None:
    """The indexes that are served if none is named, by name. None: all in the folder of --indexes or in ./indexes, also
    those that are made later.
    """
    if indexes is not None or indexes_in(LOCAL_FOLDER):
        return None
    return {folder.name: folder for folder in reversed(local_indexes(None) or other_indexes(None))} or None


# -- Indexes by name ---------------------------------------------------------------------------------------------------


def open_index(names: Sequence[str] | None, indexes: Path | None, vectors: str | None = None) -> Index:
    """Open the index of a name, path or published copy, or else the default one."""
    return Index.open(locate_index(single_name(names), indexes), vectors=vectors)


def single_name(names: Sequence[str] | None) -> str | None:
    """The only name, if there is any. Raises UsageError for several."""
    if names and len(names) > 1:
        raise UsageError(f"this command takes one --index, got {len(names)}: {', '.join(names)}")
    return names[0] if names else None


def locate_index(name: str | None, indexes: Path | None) -> Path | str:
    """The folder of the named or the default index, or the URI of its published copy. Raises IndexNotFound."""
    is_elsewhere = name is not None and (uri_scheme(name) or folder_of(name, indexes) is None)
    return (published_at(name) if name is not None and is_elsewhere else None) or find_index(name, indexes)


def find_index(name: str | None, indexes: Path | None) -> Path:
    """The folder of the named or the default index. Raises IndexNotFound."""
    if name is None:
        folders = local_indexes(indexes) or other_indexes(indexes)
    elif (folder := folder_of(name, indexes)) is not None:
        return folder
    else:
        folders = [index for index in all_indexes(indexes) if index.name == name]
    if len(folders) == 1:
        return folders[0]
    if folders:
        may_be = "may be meant" if name is None else f"are called {name}"
        names = ", ".join(index.name for index in folders)
        raise IndexNotFound(
            f"{len(folders)} indexes {may_be}: {names} (semsearch list); choose one: --index {name_or_path(folders[0])}"
        )
    existing = [index.name for index in all_indexes(indexes)] if name else []
    if not existing:
        raise IndexNotFound(
            f"there is no index {name!r}; {no_index_message(indexes)}" if name else no_index_message(indexes)
        )
    similar = get_close_matches(name or "", existing, n=1)
    others = f"did you mean {similar[0]}?" if similar else f"there are {', '.join([*dict.fromkeys(existing)][:5])}"
    raise IndexNotFound(f"there is no index {name!r}; {others} (semsearch list shows all)")


def locate_indexes(names: Sequence[str], indexes: Path | None) -> dict[str, Path | str]:
    """The locations of the named indexes, by the names they are served by. Raises as `locate_index`."""
    locations: dict[str, Path | str] = {}
    for location in (locate_index(name, indexes) for name in names):
        name = name_for(location) if isinstance(location, Path) else name_of(location)
        if locations.setdefault(name, location) != location:
            raise UsageError(f"{location} and {locations[name]} have the same name, {name}; serve only one of them")
    return locations


def folder_of(name: str, indexes: Path | None) -> Path | None:
    """The folder of the index of a name or path, None if there is none. Raises UsageError for an invalid name."""
    path = _as_path(name)
    folders = [path] if path else [*(folder / name for folder in searched_folders(indexes)), expanded(name)]
    return next(filter(has_database, folders), None)


def parent_of_new(paths: Iterable[str], indexes: Path | None) -> Path:
    """The folder in which a new index of some paths is made."""
    current = _with_separator(str(working_folder()))
    is_local = all(not uri_scheme(path) and _with_separator(str(expanded(path))).startswith(current) for path in paths)
    return indexes or (LOCAL_FOLDER if is_local else personal_folder())


def folder_of_new(name: str, paths: Iterable[str], indexes: Path | None) -> Path:
    """The folder of a new index with a name, of some paths. Raises UsageError for an invalid name."""
    return _as_path(name) or parent_of_new(paths, indexes) / name


def name_or_path(index: Path) -> str:
    """The name of an index if that means this one in any folder, else its path."""
    path = os.path.realpath(index)
    same = {
        os.path.realpath(other)
        for other in (*registered_indexes(), *indexes_in(personal_folder()))
        if other.name == index.name
    }
    return index.name if same == {path} and _as_path(index.name) is None else path


def _as_path(name: str) -> Path | None:
    """A text as a path, if it looks like one. Raises UsageError for an invalid name."""
    if uri_scheme(name):
        raise UsageError(f"{name} is a published copy, which is read-only; name a local index")
    if not name.strip() or "\0" in name:
        raise UsageError(f"{name!r} is not a valid index name; use a name such as 'docs'")
    path = expanded(name)
    return path if len(path.parts) != 1 or name.startswith(".") or name.endswith(("/", os.sep)) else None


def name_for(path: Path) -> str:
    """The name for an index of a file or folder: that of the folder, or of the file without its suffix."""
    path = as_spelled(Path(os.path.realpath(path)))  # unlike Path.resolve, it accepts circular links
    return (path.stem if path.is_file() else path.name) or "root"


def no_index_message(indexes: Path | None) -> str:
    """The message that there is no index, and what to do."""
    folder = indexes or LOCAL_FOLDER
    if has_database(folder):
        return f"{folder} is itself an index; use: --index {path_argument(folder)}"
    if closed := [child for child in folder.glob("*/") if not os.access(child, os.X_OK)]:
        return f"{path_argument(closed[0])} cannot be read: Permission denied"
    where = "of this folder" if indexes is None else f"in {path_argument(indexes)}"
    return f"no index {where}; create one: semsearch index ."


def path_argument(folder: Path) -> str:
    """A folder as an argument of a command: with a separator, so that it is not taken for a name."""
    return str(folder) if folder.is_absolute() or str(folder).startswith(".") else f".{os.sep}{folder}"
