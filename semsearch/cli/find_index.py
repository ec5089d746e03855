"""Which index a command means, and where a new one is made.

An index is called by its name, its path, or the URI of a published copy. A name is looked for in ./indexes, in folders
`indexes` above (as git looks for its repository), in the user's own, and then among all that this user has made
elsewhere, which a small file lists. Without a name, those in ./indexes are meant; or else those of the closest folder
around the current one; or else the only one in the nearest folder of indexes, or elsewhere.

A new index is made in ./indexes if all that it is of lies below the current folder, and otherwise in the user's own
folder of indexes.
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

HERE = Path("indexes")


def users_own() -> Path:
    """The user's own folder of indexes, for what belongs to no project. It need not exist."""
    return data_folder() / HERE


def folders_of_indexes(indexes: Path | None) -> Iterator[Path]:
    """The folders that indexes are looked for in, nearest first: the one of --indexes, or those of this place."""
    if indexes is not None:
        yield indexes
        return
    yield HERE
    yield from (folder for folder in folders_above(HERE.name) if os.access(folder, os.R_OK | os.X_OK))
    yield users_own()


def index_folders(folder: Path) -> list[Path]:
    """The folders of all indexes in a folder, ordered by name; damaged ones too, but none that is only begun."""
    try:
        return sorted(child for child in folder.iterdir() if has_database(child) and _is_whole(child))
    except OSError as error:
        if error.errno in (errno.ENOENT, errno.ENOTDIR, errno.ELOOP):
            return []
        raise IndexNotFound(f"cannot list {folder} ({error.strerror}); choose another folder with --indexes") from error


def _is_whole(folder: Path) -> bool:
    try:
        return is_index(folder)
    except SemsearchError:
        return True


def all_indexes(indexes: Path | None) -> list[Path]:
    """All indexes that can be named from here, nearest first; of --indexes, those in it."""
    folders = [index for folder in folders_of_indexes(indexes) for index in index_folders(folder)]
    folders += remembered() if indexes is None else []
    return [*{os.path.realpath(index): index for index in reversed(folders)}.values()][::-1]


def remember(index: Path) -> None:
    """Record where an index is, so that the user's other folders know it: a line of a file, if that can be written."""
    path = os.path.realpath(index)
    with suppress(OSError, ValueError):
        if path not in _recorded():
            _record().parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            with _record().open("a", encoding="utf-8") as file:
                file.write(f"{path}\n")


def remembered() -> list[Path]:
    """The recorded indexes that are still there, by path."""
    return sorted(path for path in map(Path, _recorded()) if has_database(path))


def _recorded() -> set[str]:
    try:
        return set(_record().read_text(encoding="utf-8").splitlines())
    except (OSError, ValueError):
        return set()


def _record() -> Path:
    return config_folder() / "indexes.txt"


# -- The indexes that are meant without a name -------------------------------------------------------------------------


def roots_of(index: Path) -> tuple[str, ...]:
    """The roots of an index; none of one that cannot be read."""
    try:
        with closing(IndexDatabase(index)) as database:
            check(database)
            with database.reading() as db:
                return tuple(root.path for root in get_roots(db))
    except SemsearchError:
        return ()


def covers(root: str, path: str) -> bool:
    """Return whether a path is a root or lies in it. Each may be the URI of a folder in a store."""
    if uri_scheme(root) or uri_scheme(path):
        whole, part = (divided(uri)[0].rstrip("/") for uri in (root, path))  # without their options
        return bool(uri_scheme(root)) and f"{part}/".startswith(f"{whole}/")
    outer, inner = (as_spelled(Path(os.path.realpath(place))) for place in (root, path))
    return outer == inner or outer in inner.parents


def of_this_folder(indexes: Path | None) -> list[Path]:
    """The indexes in ./indexes, or in that of --indexes, or else those of the closest folder around the current one."""
    folders = index_folders(indexes or HERE)
    if folders or indexes is not None:
        return folders
    here = _with_separator(str(working_folder()))
    depths: dict[Path, int] = {}
    for index in all_indexes(None):
        roots = [_with_separator(root) for root in roots_of(index) if not uri_scheme(root)]
        depths[index] = max((len(root) for root in roots if here.startswith(root)), default=0)
    closest = max(depths.values(), default=0)
    return [index for index, depth in depths.items() if depth == closest > 0]


def others(indexes: Path | None) -> list[Path]:
    """The indexes of the nearest folder of indexes that has some, or else all that the user has made elsewhere."""
    nearest = next(filter(None, map(index_folders, folders_of_indexes(indexes))), [])
    return nearest or ([] if indexes else remembered())


def _with_separator(folder: str) -> str:
    return os.path.realpath(folder).rstrip(os.sep) + os.sep


def all_offered(indexes: Path | None) -> dict[str, Path] | None:
    """The indexes that are offered together if none is named, by name: those of this folder, or else all there are.

    None: all in the folder of --indexes or in ./indexes, also those that are made later.
    """
    if indexes is not None or index_folders(HERE):
        return None
    return {folder.name: folder for folder in reversed(of_this_folder(None) or others(None))} or None


# -- Indexes by name ---------------------------------------------------------------------------------------------------


def open_index(names: Sequence[str] | None, indexes: Path | None, vectors: str | None = None) -> Index:
    """Open the index of a name, path or published copy, or else the only one that is meant."""
    return Index.open(find_place(only_one(names), indexes), vectors=vectors)


def only_one(names: Sequence[str] | None) -> str | None:
    """The name that is given for the index, if any. Raises UsageError if several are given."""
    if names and len(names) > 1:
        raise UsageError(f"this command takes one --index, got {len(names)}: {', '.join(names)}")
    return names[0] if names else None


def find_place(name: str | None, indexes: Path | None) -> Path | str:
    """The named index, or the only one: its folder, or the URI of its published copy. Raises IndexNotFound."""
    is_elsewhere = name is not None and (uri_scheme(name) or folder_of(name, indexes) is None)
    return (published_at(name) if name is not None and is_elsewhere else None) or find_index(name, indexes)


def find_index(name: str | None, indexes: Path | None) -> Path:
    """The folder of the index that is named, or else of the one that is meant. Raises IndexNotFound."""
    if name is None:
        folders = of_this_folder(indexes) or others(indexes)
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
    there = [index.name for index in all_indexes(indexes)] if name else []
    if not there:
        raise IndexNotFound(f"there is no index {name!r}; {none_in(indexes)}" if name else none_in(indexes))
    similar = get_close_matches(name or "", there, n=1) or [", ".join([*dict.fromkeys(there)][:5])]
    raise IndexNotFound(f"there is no index {name!r}, but {similar[0]}; semsearch list shows all")


def find_indexes(names: Sequence[str], indexes: Path | None) -> dict[str, Path | str]:
    """The indexes that are named, by the names they are served by. Raises as `find_place`."""
    places: dict[str, Path | str] = {}
    for place in (find_place(name, indexes) for name in names):
        name = name_for(place) if isinstance(place, Path) else name_of(place)
        if places.setdefault(name, place) != place:
            raise UsageError(f"{place} and {places[name]} have the same name, {name}; serve only one of them")
    return places


def folder_of(name: str, indexes: Path | None) -> Path | None:
    """The folder of the index of a name or path, None if there is none. Raises UsageError for an invalid name."""
    as_path = _as_path(name)
    places = [as_path] if as_path else [*(folder / name for folder in folders_of_indexes(indexes)), expanded(name)]
    return next(filter(has_database, places), None)


def folder_for_new(paths: Iterable[str], indexes: Path | None) -> Path:
    """The folder that a new index of some paths is made in."""
    here = _with_separator(str(working_folder()))
    is_here = all(not uri_scheme(path) and _with_separator(str(expanded(path))).startswith(here) for path in paths)
    return indexes or (HERE if is_here else users_own())


def folder_to_make(name: str, paths: Iterable[str], indexes: Path | None) -> Path:
    """The folder for a new index of a name and of what is at some paths. Raises UsageError for an invalid name."""
    return _as_path(name) or folder_for_new(paths, indexes) / name


def name_or_path(index: Path) -> str:
    """What an index is called in any folder: its name, or its path where another has this name or it is not known."""
    path = os.path.realpath(index)
    same = {
        os.path.realpath(other) for other in (*remembered(), *index_folders(users_own())) if other.name == index.name
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
    path = as_spelled(Path(os.path.realpath(path)))  # unlike Path.resolve, it accepts links that lead round
    return (path.stem if path.is_file() else path.name) or "root"


def none_in(indexes: Path | None) -> str:
    """The message that there is no index, and what to do."""
    folder = indexes or HERE
    if has_database(folder):
        return f"{folder} is itself an index; use: --index {shown(folder)}"
    if closed := [child for child in folder.glob("*/") if not os.access(child, os.X_OK)]:
        return f"{shown(closed[0])} cannot be read: Permission denied"
    where = "of this folder" if indexes is None else f"in {shown(indexes)}"
    return f"no index {where}; create one: semsearch index ."


def shown(folder: Path) -> str:
    """A folder as one would write it on the command line, so that it is not taken for a name."""
    return str(folder) if folder.is_absolute() or str(folder).startswith(".") else f".{os.sep}{folder}"
