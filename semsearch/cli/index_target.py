"""The index that `semsearch index` makes, or brings up to date."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, Any

from semsearch.cli.configured_defaults import configuration_of
from semsearch.cli.find_index import (
    HERE,
    all_indexes,
    find_index,
    folder_for_new,
    folder_of,
    folder_to_make,
    from_here,
    name_for,
    remember,
    roots_of,
    shown,
)
from semsearch.cli.index_choices import IndexChoices
from semsearch.cli.progress import covers
from semsearch.errors import IndexLocked, UsageError
from semsearch.storage.database import has_database, is_index, is_outdated
from semsearch.storage.published import name_of
from semsearch.system.locations import uri_scheme

if TYPE_CHECKING:
    from semsearch.index import Index


@dataclass(frozen=True, slots=True)
class IndexTarget:
    """The folder of the index that a run works on."""

    folder: Path
    is_new: bool = False

    def opened(self, choices: IndexChoices, *, rebuild: bool) -> AbstractContextManager[Index]:
        """The index, opened or made. Raises UsageError if it has other settings than those given, unless rebuilt."""
        return _made(self.folder, choices) if self.is_new else _found(self.folder, choices, rebuild=rebuild)


def target_of(paths: Sequence[str], named: str | None, indexes: Path | None) -> IndexTarget:
    """Find the index of paths, by its name if there is one. Raises IndexNotFound, UsageError."""
    if not paths:
        folder = find_index(named, indexes)
    elif named is None:
        folder = _folder_by_paths(paths, indexes)
    else:
        near = HERE if indexes is None and HERE.is_dir() else indexes
        folder = folder_of(named, near) or folder_to_make(named, paths, indexes)
    return IndexTarget(folder, is_new=not is_index(folder))


def _folder_by_paths(paths: Sequence[str], indexes: Path | None) -> Path:
    """The index that has the first path as a root, or else the place for a new one, called like that path."""
    name = _name_for(paths[0])
    new = folder_for_new(paths, indexes) / name
    every = all_indexes(indexes)
    same = [folder for folder in every if any(_is_same(root, paths[0]) for root in roots_of(folder))]
    if same:
        if (called := next((folder for folder in same if folder.name == name), None)) is not None or len(same) == 1:
            return called or same[0]
        raise UsageError(
            f"{len(same)} indexes are of {paths[0]}: {', '.join(map(shown, same))}; choose one: --name {shown(same[0])}"
        )
    if is_index(new) and (roots := roots_of(new)):
        raise UsageError(
            f"{new} is an index of other folders, {', '.join(map(from_here, roots))}; pass --name {name} to add "
            f"{paths[0]} to it, or another name for an index of its own"
        )
    return new if has_database(new) else _index_of_moved(paths, every) or new


def _is_same(root: str, path: str) -> bool:
    return covers(root, path) and covers(path, root)


def _name_for(path: str) -> str:
    """The name for an index of a path, or of a folder or object in a store, as `name_for` has it."""
    if not uri_scheme(path):
        return name_for(Path(path))
    from semsearch.readers.registry import is_readable  # start-up time: few indexes are of stores

    name = name_of(path)
    return PurePosixPath(name).stem if is_readable(name) else name


def _index_of_moved(paths: Sequence[str], places: Sequence[Path]) -> Path | None:
    """The index of a folder that has been moved or renamed to what is now the first of some paths."""
    if not places or uri_scheme(paths[0]):
        return None
    from semsearch.indexing.sync_roots import index_of_moved_folder  # start-up time

    return index_of_moved_folder(Path(paths[0]), places)


@contextmanager
def _made(folder: Path, choices: IndexChoices) -> Iterator[Index]:
    """Create an index, and remove it again if it could not be filled, unless another process fills it meanwhile."""
    from semsearch.index import Index  # start-up time
    from semsearch.maintenance.create_index import missing_folders, remove_empty

    made = missing_folders(folder.parent)
    try:
        with Index.create(folder, **_settings(choices)) as opened:
            try:
                yield opened
            except IndexLocked:
                raise
            except BaseException:
                opened.discard()
                raise
        remember(folder)
    except BaseException:
        remove_empty(made)
        raise


def _settings(choices: IndexChoices) -> dict[str, Any]:
    """The settings of a new index: those that are given, and for the others those that are configured."""
    configured = configuration_of()
    return {**({} if configured is None else configured.of("settings")), **choices.given()}


@contextmanager
def _found(folder: Path, choices: IndexChoices, *, rebuild: bool) -> Iterator[Index]:
    """Open an existing index, and check that it has the settings that the user gave."""
    from semsearch.index import Index  # start-up time

    if rebuild and is_outdated(folder):
        from semsearch.maintenance.create_index import renew  # no query needs it

        renew(folder)
    with Index.open(folder, vectors=None if rebuild else choices.vectors) as opened:
        if not rebuild:
            choices.check(opened)
        yield opened
        remember(folder)
