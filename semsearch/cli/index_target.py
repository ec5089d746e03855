"""The index that `semsearch index` makes, or brings up to date."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, Any

from semsearch.cli.configured_defaults import configuration_of
from semsearch.cli.find_index import (
    HERE,
    find_index,
    folder_for_new,
    folder_of,
    folder_to_make,
    folders_of_indexes,
    index_folders,
    name_for,
)
from semsearch.cli.index_choices import IndexChoices
from semsearch.cli.progress import covers
from semsearch.errors import IndexLocked, UsageError
from semsearch.snapshots.store_uris import name_of
from semsearch.storage.database import is_index
from semsearch.system.locations import uri_scheme

if TYPE_CHECKING:
    from semsearch.index import Index


@dataclass(frozen=True, slots=True)
class IndexTarget:
    """The folder of the index that a run works on."""

    folder: Path
    is_new: bool = False
    is_of_others: bool = False  # not named by the user, and perhaps of other folders

    def opened(self, choices: IndexChoices, *, rebuild: bool) -> AbstractContextManager[Index]:
        """The index, opened or made. Raises UsageError if it has other settings than those given, unless rebuilt."""
        return _made(self.folder, choices) if self.is_new else _found(self.folder, choices, rebuild=rebuild)

    def joins_other_roots(self, paths: Sequence[str], roots: Sequence[str]) -> bool:
        """Return whether paths are added to an index of other roots that was not chosen for them."""
        if not (self.is_of_others and roots and paths):
            return False
        return not any(covers(root, path) or covers(path, root) for root in roots for path in paths)


def target_of(paths: Sequence[str], named: str | None, indexes: Path | None) -> IndexTarget:
    """Find the index of paths, by its name if there is one. Raises IndexNotFound, UsageError."""
    if not paths:
        folder = find_index(named, indexes)
        return IndexTarget(folder, is_new=not is_index(folder), is_of_others=named is None)
    if indexes is None and HERE.is_dir():
        indexes = HERE
    if named is None:
        return _target_by_paths(paths, indexes)
    folder = folder_of(named, indexes) or folder_to_make(named, paths[0], indexes)
    return IndexTarget(folder, is_new=not is_index(folder))


def _target_by_paths(paths: Sequence[str], indexes: Path | None) -> IndexTarget:
    """The index named like the first path. One outside this folder must cover these paths."""
    name, new = _name_for(paths[0]), folder_for_new(paths[0], indexes)
    for folder in folders_of_indexes(indexes):
        place = folder / name
        if is_index(place) and (folder in (indexes, HERE) or _is_of(place, paths)):
            return IndexTarget(place, is_of_others=True)
    if is_index(new / name):
        raise UsageError(f"{new / name} is an index of other folders; pass --name {name} to add to it, or another name")
    moved = _index_of_moved(paths, new)
    return IndexTarget(new / name, is_new=True) if moved is None else IndexTarget(moved)


def _name_for(path: str) -> str:
    """The name for an index of a path, or of a folder or object in a store, as `name_for` has it."""
    if not uri_scheme(path):
        return name_for(Path(path))
    from semsearch.readers.registry import is_readable  # start-up time: few indexes are of stores
    from semsearch.sources.object_store import parse_source

    name = name_of(parse_source(path).path)
    return PurePosixPath(name).stem if is_readable(name) else name


def _is_of(folder: Path, paths: Sequence[str]) -> bool:
    """Whether one of some paths is a root of an index, lies in one, or has one in it."""
    from semsearch.index import Index  # start-up time

    with Index.open(folder) as index:
        return any(covers(root, path) or covers(path, root) for root in index.roots for path in paths)


def _index_of_moved(paths: Sequence[str], indexes: Path) -> Path | None:
    """The index of a folder that has been moved or renamed to what is now the first of some paths."""
    places = index_folders(indexes)
    if not places or uri_scheme(paths[0]):
        return None
    from semsearch.indexing.sync_roots import index_of_moved_folder  # start-up time

    return index_of_moved_folder(Path(paths[0]), places)


@contextmanager
def _made(folder: Path, choices: IndexChoices) -> Iterator[Index]:
    """Create an index, and remove it again if it could not be filled, unless another process fills it meanwhile."""
    from semsearch.index import Index  # start-up time

    is_first = not folder.parent.exists()
    try:
        with Index.create(folder, **_settings(choices)) as opened:
            try:
                yield opened
            except IndexLocked:
                raise
            except BaseException:
                opened.discard()
                raise
    except BaseException:
        if is_first:
            with contextlib.suppress(OSError):
                folder.parent.rmdir()  # where it is empty
        raise


def _settings(choices: IndexChoices) -> dict[str, Any]:
    """The settings of a new index: those that are given, and for the others those that are configured."""
    configured = configuration_of()
    return {**({} if configured is None else configured.of("settings")), **choices.given()}


@contextmanager
def _found(folder: Path, choices: IndexChoices, *, rebuild: bool) -> Iterator[Index]:
    """Open an existing index, and check that it has the settings that the user gave."""
    from semsearch.index import Index  # start-up time

    with Index.open(folder, vectors=None if rebuild else choices.vectors) as opened:
        if not rebuild:
            choices.check(opened)
        yield opened
