"""Where an index is made, which one a command means, and which ones a query asks.

A new index is made in ./indexes if all that it is of lies below the current folder, and otherwise in the user's own
folder of indexes. A query asks the indexes of the current folder: the only one in ./indexes, or else all whose roots
contain it, or else the only one whose roots lie in it; where there are none, the only one there is. Names are looked
for in ./indexes, in folders `indexes` above (as git looks for its repository), in the user's own, and then among all
that this user has made elsewhere with `semsearch index`, of which a small record is kept.
"""

from __future__ import annotations

import errno
import os
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from hashlib import blake2b
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING

from semsearch.errors import IndexNotFound, SemsearchError, UsageError, index_command
from semsearch.storage.database import IndexDatabase, check, has_database, is_index
from semsearch.storage.published import name_of, published_at
from semsearch.system.locations import (
    as_spelled,
    config_folder,
    data_folder,
    expanded,
    folders_above,
    uri_scheme,
    working_folder,
)

if TYPE_CHECKING:
    from semsearch.index import Index

# -- Folders of indexes ------------------------------------------------------------------------------------------------

FOLDER = "indexes"
HERE = Path(FOLDER)
_NOT_ON_WINDOWS = re.compile(
    r'[<>:"|?*\x00-\x1f]|[ .]$|^(?:con|prn|aux|nul|conin\$|conout\$|(?:com|lpt)[0-9¹²³]) *(?:\.|$)', re.IGNORECASE
)


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
    return data_folder() / FOLDER


def nearest(given: Path | None) -> Path:
    """The nearest folder that holds an index; where none does, the one that is given, or ./indexes."""
    return next((folder for folder in folders_of_indexes(given) if index_folders(folder)), given or HERE)


def folder_for_new(paths: Iterable[str], given: Path | None) -> Path:
    """The folder that a new index of some paths is made in."""
    if given is not None:
        return given
    return HERE if all(_is_below_here(path) for path in paths) else users_own()


def _is_below_here(path: str) -> bool:
    if uri_scheme(path):
        return False
    here, whole = os.path.realpath("."), os.path.realpath(expanded(path))
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


# -- The record of the user's indexes ----------------------------------------------------------------------------------


def remember(index: Path) -> None:
    """Record where an index is, so that the user's other folders know it. Without a folder for that, nothing is done.

    A file for each, as of what is trusted (semsearch.trust). Those of indexes that were deleted are removed.
    """
    card = _card(index)
    with suppress(OSError, UnicodeEncodeError):
        if card.exists():
            return
        card.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        for other, path in _cards():
            if path.parent.is_dir() and not has_database(path):  # where a disk is not mounted, neither is there
                other.unlink(missing_ok=True)
        temporary = card.with_suffix(f".{os.getpid()}.tmp")
        temporary.write_text(os.path.realpath(index), encoding="utf-8")
        temporary.replace(card)


def forget(index: Path) -> None:
    """Remove the record of an index."""
    with suppress(OSError):
        _card(index).unlink(missing_ok=True)


def remembered() -> list[Path]:
    """The recorded indexes that are still there, by path."""
    return sorted(path for _, path in _cards() if has_database(path))


def _cards() -> Iterator[tuple[Path, Path]]:
    """The files of the record, with the index that each names."""
    try:
        cards = [*_record().glob("*.path")]
    except OSError:
        return
    for card in cards:
        with suppress(OSError, ValueError):
            yield card, Path(card.read_text(encoding="utf-8"))


def _card(index: Path) -> Path:
    digest = blake2b(os.fsencode(os.path.realpath(index)), digest_size=16)
    return _record() / f"{digest.hexdigest()}.path"


def _record() -> Path:
    return config_folder() / FOLDER


# -- The indexes that are meant without a name -------------------------------------------------------------------------


class SeveralIndexes(IndexNotFound):
    """No index was named, and it is not clear which is meant."""

    def __init__(self, message: str, folders: Sequence[Path]) -> None:
        super().__init__(message)
        self.folders = folders


def all_indexes(given: Path | None) -> list[Path]:
    """All indexes that can be named from here, nearest first; of a given folder, those in it."""
    found = [index for folder in folders_of_indexes(given) for index in index_folders(folder)]
    found += remembered() if given is None else []
    return [*{os.path.realpath(index): index for index in reversed(found)}.values()][::-1]


def roots_of(index: Path) -> tuple[str, ...]:
    """The roots of an index; none of one that cannot be read."""
    from semsearch.storage.catalogue import get_roots  # start-up time

    database = IndexDatabase(index)
    try:
        check(database)
        with database.reading() as db:
            return tuple(root.path for root in get_roots(db))
    except SemsearchError:
        return ()
    finally:
        database.close()


def of_this_folder(indexes: Path | None) -> list[Path]:
    """The indexes of the current folder: the only one in ./indexes, or else all whose roots contain this folder.

    Those with the nearest root come first. Where there is neither, the only one whose roots all lie in this folder.
    """
    return [*_depths(indexes)]


def _depths(indexes: Path | None) -> dict[Path, int]:
    """The indexes of the current folder, each with the length of its nearest root."""
    own = index_folders(indexes or HERE)
    if len(own) > 1:
        own = _whole(own)
    if len(own) == 1:
        return {own[0]: 0}
    try:
        here = os.path.realpath(working_folder())
    except OSError:  # it was deleted
        return {}
    here = here.rstrip(os.sep) + os.sep
    roots = {each: _local_roots(each) for each in all_indexes(indexes)}
    found = {each: max((len(root) for root in its if here.startswith(root)), default=0) for each, its in roots.items()}
    if any(found.values()):
        return dict(sorted(((each, depth) for each, depth in found.items() if depth), key=lambda pair: -pair[1]))
    inside = _of_folders_in(here, roots)
    return {inside[0]: 0} if len(inside) == 1 and not own else {}


def _of_folders_in(here: str, roots: Mapping[Path, Sequence[str]]) -> list[Path]:
    """The indexes whose roots all lie in a folder, which ends in a separator."""
    return [each for each, its in roots.items() if its and all(root.startswith(here) for root in its)]


def _local_roots(index: Path) -> list[str]:
    """The roots of an index that are on this machine, each with a separator at its end."""
    return [os.path.realpath(root).rstrip(os.sep) + os.sep for root in roots_of(index) if not uri_scheme(root)]


def _whole(folders: Sequence[Path]) -> list[Path]:
    """Those of some indexes that were completed."""
    return [folder for folder in folders if _is_whole(folder)]


def all_asked(indexes: Path | None) -> list[Path]:
    """The indexes that are asked together if none is named. Raises SeveralIndexes, IndexNotFound."""
    return of_this_folder(indexes) or [_only(indexes)]


def _only(indexes: Path | None) -> Path:
    """The only index there is: in the nearest folder that has any, or of all that the user has made."""
    folders = index_folders(nearest(indexes)) or ([] if indexes else remembered())
    folders = _whole(folders) or folders
    if len(folders) == 1:
        return folders[0]
    if not folders:
        raise IndexNotFound(none_in(indexes))
    here = os.path.realpath(working_folder()).rstrip(os.sep) + os.sep
    inside = _of_folders_in(here, {each: _local_roots(each) for each in all_indexes(indexes)})
    others = [each for each in folders if os.path.realpath(each) not in set(map(os.path.realpath, inside))]
    if not others and len(inside) == len(folders):  # as the nearest folder of indexes has them
        raise SeveralIndexes(_choice(indexes), folders)
    raise SeveralIndexes(_choice(indexes, inside), inside + others)


def all_offered(indexes: Path | None) -> dict[str, Path] | None:
    """The indexes that are offered together if none is named, by name; None for all in the nearest folder of indexes.

    They are those whose roots contain the current folder, unless there is ./indexes, or the user's only ones elsewhere.
    """
    if indexes is not None or index_folders(HERE):
        return None
    found = of_this_folder(None) or ([] if index_folders(nearest(None)) else remembered())
    return {each.name: each for each in reversed(found)} or None


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
    if named is not None and (uri_scheme(named) or folder_of(named, indexes) is None):
        place = published_at(named)
        if place is not None:
            return place
    return find_index(named, indexes)


def find_index(named: str | None, indexes: Path | None) -> Path:
    """Find the folder of the index that is named, or else of the one that is meant.

    Raises IndexNotFound, which lists them, and SeveralIndexes.
    """
    if named is None:
        depths = _depths(indexes)
        own = [each for each, depth in depths.items() if depth == max(depths.values())]
        if len(own) > 1:
            several = f"{', '.join(each.name for each in own)}; choose one: --index {own[0].name}"
            raise SeveralIndexes(f"{len(own)} indexes are of this folder: {several}", own)
        return own[0] if own else _only(indexes)
    folder = folder_of(named, indexes)
    if folder is not None:
        return folder
    elsewhere = [] if indexes else [each for each in remembered() if each.name == named]
    if len(elsewhere) > 1:
        places = ", ".join(map(str, elsewhere))
        raise SeveralIndexes(f"{len(elsewhere)} indexes are called {named}: {places}; give the path of one", elsewhere)
    if not elsewhere:
        raise IndexNotFound(f"there is no index {named!r}; {_choice(indexes)}")
    return elsewhere[0]


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
    places = chain((next(folders) / named, expanded(named)), (folder / named for folder in folders))
    return next((place for place in places if has_database(place)), None)


def folder_to_make(named: str, paths: Iterable[str], indexes: Path | None) -> Path:
    """The folder for a new index of a name and of what is at some paths. Raises UsageError for an invalid name."""
    return _as_path(named) or folder_for_new(paths, indexes) / possible_name(named)


def name_from_anywhere(index: Path) -> str:
    """What an index is called in any folder: its name, or its path where another has this name or it is not known."""
    whole = os.path.realpath(index)
    same = {os.path.realpath(each) for each in (*remembered(), *index_folders(users_own())) if each.name == index.name}
    return index.name if same == {whole} and _as_path(index.name) is None else whole


def without_separators(name: str) -> str:
    """A name for an index, checked: raises UsageError for a path."""
    if _as_path(name) is not None or "/" in name or os.sep in name:
        raise UsageError(f"{name!r} is a path, not a name; use a name such as 'docs'")
    return possible_name(name)


def possible_name(name: str, *, system: str = os.name) -> str:
    """A name for a folder, checked: raises UsageError for one that Windows has for a device, or cannot store."""
    if system == "nt" and _NOT_ON_WINDOWS.search(name):
        raise UsageError(f"{name!r} cannot be the name of a folder on Windows; use a name such as 'docs'")
    return name


def _as_path(named: str) -> Path | None:
    """A text as a path, if it looks like one. Raises UsageError for an invalid name."""
    if uri_scheme(named):
        raise UsageError(f"{named} is a published copy, which is read-only; name a local index")
    if not named.strip() or "\0" in named:
        raise UsageError(f"{named!r} is not a valid index name; use a name such as 'docs'")
    as_path = expanded(named)
    looks_like_path = len(as_path.parts) != 1 or named.startswith(".") or named.endswith(("/", os.sep))
    return as_path if looks_like_path else None


def name_for(path: Path) -> str:
    """The name for an index of a file or folder: that of the folder, or of the file without its suffix."""
    whole = as_spelled(Path(os.path.realpath(path)))  # unlike Path.resolve, it accepts links that lead round
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


def choices(folders: Sequence[Path], words: Sequence[str]) -> Iterator[str]:
    """Lines for a choice of indexes: what each holds, and the command that was given, with the index."""
    from semsearch.cli.answer_formats import one_line
    from semsearch.cli.tables import count  # start-up time, here and below: for an error alone
    from semsearch.maintenance.listing import IndexSummary, summarize

    names = [each.name for each in folders]
    for folder in folders:
        found = summarize(folder) or IndexSummary(folder.name, str(folder))
        holds = [found.problem or count(found.documents, "document"), *map(from_here, found.roots)]
        option = [] if words[:1] == ["trust"] else ["--index"]
        said = [*words, *option, folder.name if names.count(folder.name) == 1 else shown(folder)]
        yield f"  {index_command(*said)}"
        yield f"    {', '.join(holds)}{f': {one_line(found.description)}' if found.description else ''}"


def _choice(indexes: Path | None, inside: Sequence[Path] = ()) -> str:
    """The indexes to choose from, those of folders in the current one first, then in each folder of indexes."""
    named = set(map(os.path.realpath, inside))
    found = {
        folder: [index.name for index in index_folders(folder) if os.path.realpath(index) not in named]
        for folder in folders_of_indexes(indexes)
    }
    elsewhere = {} if indexes else dict[Path, list[str]]()
    known = {os.path.realpath(index) for folder in found for index in index_folders(folder)}
    for index in remembered() if indexes is None else ():
        if str(index) not in known | named:
            elsewhere.setdefault(index.parent, []).append(index.name)
    found |= elsewhere
    said = [_names_in(folder, names) for folder, names in found.items() if names]
    if inside:
        names = [each.name for each in inside]
        of = f"{len(inside)} indexes are" if len(inside) > 1 else "an index is"
        said = [f"{of} of folders in this one: {', '.join(names)}; choose one: --index {names[0]}", *said]
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
