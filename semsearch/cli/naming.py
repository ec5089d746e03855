"""Which index is meant: the one that is named, or else the only one there is."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from semsearch.errors import IndexNotFound, SemsearchError, UsageError
from semsearch.storage.database import has_database, is_index
from semsearch.system.working_folder import working_folder

if TYPE_CHECKING:
    from semsearch.index import Index

INDEXES = Path("indexes")


def open_index(named: Sequence[str] | None, indexes: Path, vectors: str | None = None) -> Index:
    """The index that is meant, opened."""
    place = find_index(only_one(named), indexes)
    from semsearch.index import Index  # start-up time: that there is none is known before

    return Index.open(place, vectors=vectors)


def only_one(named: Sequence[str] | None) -> str | None:
    """The index that is named. Raises UsageError where several are."""
    if named and len(named) > 1:
        raise UsageError(f"--index is given {len(named)} times, as {', '.join(named)}; give it once, for one index")
    return named[0] if named else None


def find_index(named: str | None, indexes: Path) -> Path:
    """The folder of the index that is meant. Raises IndexNotFound, which says what there is."""
    if named is not None:
        place = place_of(named, indexes)
        if not has_database(place):
            raise IndexNotFound(f"there is no index {named!r}; {_choice(indexes)}")
        return place
    places = index_places(indexes)
    if len(places) > 1:
        places = [place for place in places if _is_whole(place)] or places
    if len(places) != 1:
        raise IndexNotFound(_choice(indexes))
    return places[0]


def place_of(named: str, indexes: Path) -> Path:
    """The folder for a name; what looks like a path, or is the path of an index, is taken as one."""
    if not named.strip() or "\0" in named:
        raise UsageError(f"{named!r} is not a name for an index; give one such as 'docs'")
    as_path = Path(named).expanduser()
    looks_like_path = len(as_path.parts) != 1 or named.startswith(".") or named.endswith(("/", os.sep))
    inside = indexes / named
    if looks_like_path or (not has_database(inside) and has_database(as_path)):
        return as_path
    return inside


def name_for(path: Path) -> str:
    """What an index of this file or folder is called: like the folder, or like the file without its suffix."""
    whole = Path(os.path.realpath(path))  # unlike Path.resolve, it bears links that lead round
    return (whole.stem if whole.is_file() else whole.name) or "root"


def index_places(indexes: Path) -> list[Path]:
    """The folders of the indexes, by name."""
    try:
        return sorted(child for child in indexes.iterdir() if has_database(child))
    except (FileNotFoundError, NotADirectoryError):
        return []
    except OSError as error:
        raise IndexNotFound(f"{indexes} cannot be listed ({error.strerror}); choose another with --indexes") from error


def none_in(indexes: Path) -> str:
    """What to say, and what to do, where there are no indexes."""
    if has_database(indexes):
        return f"{indexes} is itself an index; name it with: --index {shown(indexes)}"
    return f"no indexes in {shown(indexes)}; make one: semsearch index docs/"


def shown(place: Path) -> str:
    """A folder as one would write it, and never taken for a name."""
    return str(place) if place.is_absolute() or str(place).startswith(".") else f".{os.sep}{place}"


def _choice(indexes: Path) -> str:
    names: Sequence[str] = [place.name for place in index_places(indexes)]
    if not names:
        return none_in(indexes)
    if len(names) == 1:
        return f"in {shown(indexes)} there is only: {names[0]}"
    return f"there are several indexes in {shown(indexes)}: {', '.join(names)}; name one: --index {names[0]}"


def _is_whole(place: Path) -> bool:
    """Whether an index's creation was completed; a damaged one counts."""
    try:
        return is_index(place)
    except SemsearchError:
        return True


def from_here(path: str) -> str:
    """A path as one would write it in the current folder: relative where it lies below."""
    try:
        return str(Path(path).relative_to(working_folder()))
    except ValueError:
        return path
