"""Find the objects to index in a store, as `semsearch.sources.walk` finds the files below a folder."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from semsearch.errors import MissingExtra, SourceError, StorageError, UsageError
from semsearch.sources.ignore import Skipped, compose
from semsearch.sources.objects.object_store import open_store, size_of, time_of
from semsearch.sources.objects.store_folders import StoreFolders
from semsearch.sources.walk import Choice, FoundFile, Walk

if TYPE_CHECKING:
    from semsearch.sources.roots import Root


def find_objects(root: Root, *, skipped: Skipped) -> list[FoundFile]:
    """Find the objects of a root in a store, or the one object that it is.

    Raises SourceError if it cannot be listed, or not to its end; caused by a FileNotFoundError if nothing is there.
    """
    choice = Choice(root.include, root.exclude)
    with _told(root):
        if not root.single:
            return list(_walk(root, choice, skipped).files())
        info = open_store(root.store).info(root.path)
        if info["type"] == "directory":
            raise SourceError(f"{root.path} is a folder now, and was an object")
        name = compose(root.path.rpartition("/")[2])
        return [FoundFile(name, root.path, size_of(info), time_of(info))]


def find_objects_at(root: Root, paths: Iterable[str], *, skipped: Skipped) -> list[FoundFile]:
    """Find what `find_objects` finds at some paths in a folder, relative to it. Raises SourceError."""
    with _told(root):
        walk = _walk(root, Choice(root.include, root.exclude), skipped)
        return [found for path in paths for found in walk.files_at(path)]


def is_object(uri: str, path: str) -> bool:
    """Return whether there is an object at a path of a store; False for a folder.

    Raises SourceError if there is nothing, or it may not be looked at; StorageError, MissingExtra, UsageError.
    """
    try:
        return bool(open_store(uri).info(path)["type"] != "directory")
    except FileNotFoundError as error:
        raise SourceError(f"there is nothing at {path}; give a folder or object that exists") from error
    except PermissionError as error:
        raise SourceError(f"{path} cannot be read: {error}") from error


def _walk(root: Root, choice: Choice, skipped: Skipped) -> Walk:
    return Walk(StoreFolders(open_store(root.store), root.store, skipped), f"{root.path}/", choice, skipped)


@contextmanager
def _told(root: Root) -> Iterator[None]:
    """Have all that keeps a root from being listed told as a SourceError: its documents are kept then."""
    try:
        yield
    except FileNotFoundError as error:
        raise SourceError(f"there is nothing at {root.path}") from error
    except (StorageError, MissingExtra, UsageError, OSError) as error:
        raise SourceError(str(error)) from error
