"""Find the objects to index in a store, as `semsearch.sources.walk` finds the files below a folder.

A folder of a store is what lies between two slashes of objects' names. Folders that are to be listed next are requested
at once, a few ahead, since each answer takes its time to come. Objects that only mark a folder are passed over. Names
that no file can have are reported as skipped: `..`, one without letters between two slashes, one with a NUL.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Future
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from semsearch.errors import MissingExtra, SourceError, StorageError, UsageError
from semsearch.sources.ignore import Rules, Skipped, compose
from semsearch.sources.root_files import RemoteSource, RemoteState
from semsearch.sources.unchanged import FoundFile
from semsearch.sources.walk import Choice, Folders, Walk
from semsearch_scale.objects.object_store import (
    LISTING_SECONDS,
    ObjectStore,
    fetch_object,
    fetched_ahead,
    is_as_seen,
    open_store,
    parse_source,
    size_of,
    time_of,
)

if TYPE_CHECKING:
    from semsearch.sources.roots import Root

_AHEAD = 8  # folders that are listed at the same time
_RULES = 1_000_000  # bytes of a file of ignore rules that are read


@dataclass(frozen=True, slots=True)
class ObjectEntry:
    """An object or folder in a listing."""

    name: str
    path: str  # its URI, without a slash at the end
    info: Mapping[str, Any]

    def is_symlink(self) -> bool:
        """No object is a link that is followed."""
        return False

    def is_dir(self, *, follow_symlinks: bool = True) -> bool:  # noqa: ARG002  # as os.DirEntry has it
        """Return whether it is a folder."""
        return bool(self.info["type"] == "directory")

    def is_file(self, *, follow_symlinks: bool = True) -> bool:  # noqa: ARG002  # as os.DirEntry has it
        """Return whether it is an object."""
        return not self.is_dir()

    def stat(self, *, follow_symlinks: bool = True) -> os.stat_result:  # noqa: ARG002  # as os.DirEntry has it
        """The size and time of an object. Raises OSError if the store does not report the size."""
        is_file = self.info["type"] == "file" and not self.info.get("islink")
        mode = stat.S_IFREG if is_file else stat.S_IFLNK
        moment = time_of(self.info)
        seconds = moment // 1_000_000_000
        return os.stat_result(
            (mode, 0, 0, 1, 0, 0, size_of(self.info), seconds, seconds, seconds), {"st_mtime_ns": moment}
        )


class StoreFolders(Folders):
    """The folders below the URI of a store. Raises StorageError where it cannot be reached."""

    def __init__(self, store: ObjectStore, uri: str, skipped: Skipped) -> None:
        self.root: str = f"{store.address}/"
        self._store = store
        self._uri = uri
        self._skipped = skipped
        self._waiting: list[str] = []  # folders to list, the next one last
        self._begun: dict[str, Future[list[Mapping[str, Any]]]] = {}
        self._last: tuple[str, Sequence[ObjectEntry]] = ("", ())

    def entries(self, folder: str) -> Sequence[ObjectEntry]:
        """List a folder, in order of names. Raises OSError; SourceError where the root itself is not there."""
        if self._last[0] != folder:
            self._last = folder, self._named(folder, self._listed(folder))
        return self._last[1]

    def expect(self, folders: Sequence[str]) -> None:
        """Take note that these folders are listed next, in this order."""
        self._waiting += reversed(folders)

    def text_of(self, path: str) -> str:
        """The text of an object of ignore rules, of the folder that was listed last. Raises OSError."""
        entry = next(each for each in self._last[1] if each.path == path and not each.is_dir())
        state = RemoteState(self._uri, size_of(entry.info), time_of(entry.info))
        return self._store.fetch(path, state, _RULES).data.decode("utf-8-sig", "replace")

    def rules_above(self, skipped: Skipped) -> Rules | None:  # noqa: ARG002  # as the disk has it
        """A store has no rules above the folder that was named."""
        return None

    def is_inside(self, path: str) -> bool:
        """Return whether what lies at a path lies in the root. Nothing is a link."""
        return path.startswith(self.root)

    def _listed(self, folder: str) -> list[Mapping[str, Any]]:
        if self._waiting and self._waiting[-1] == folder:
            self._waiting.pop()
        wanted = [folder, *reversed(self._waiting[-_AHEAD:])][:_AHEAD]
        for each in wanted:
            if each not in self._begun:
                self._begun[each] = self._store.listed(each)
        try:
            return self._store.answer(self._begun.pop(folder), LISTING_SECONDS)
        except FileNotFoundError as error:
            if folder != self.root and self._is_there():
                return []  # gone since its own folder was listed
            raise SourceError(f"there is nothing at {self._store.address}") from error
        except PermissionError as error:
            if folder != self.root:
                raise
            raise SourceError(f"{self._store.address} cannot be listed: {error}") from error

    def _is_there(self) -> bool:
        """Return whether there still is a root: else nothing in it has been listed rightly."""
        try:
            self._store.info(self.root)
        except FileNotFoundError:
            return False
        return True

    def _named(self, folder: str, infos: Sequence[Mapping[str, Any]]) -> list[ObjectEntry]:
        found: list[ObjectEntry] = []
        inner = f"{self._store.inner(folder).rstrip('/')}/"
        for info in infos:
            path = str(info["name"])
            is_folder = info["type"] == "directory"
            name = path[len(inner) :].removesuffix("/" if is_folder else "")
            if f"{path}/" == inner or (not name and not is_folder and not info.get("size")):
                continue  # what marks the folder itself
            if reason := _refused(name, is_named=path.startswith(inner)):
                self._skipped(folder + name + "/" * is_folder, reason)
            else:
                found.append(ObjectEntry(name, folder + name, info))
        return sorted(found, key=lambda entry: entry.name)


def _refused(name: str, *, is_named: bool) -> str:
    """Why a name cannot be that of a file or folder; "" if it can."""
    if not name or "/" in name or not is_named:
        return "its name has an empty part between two slashes, or ends in a slash; rename it"
    if name in (".", ".."):
        return f"its name has the part {name!r}, which means another folder; rename it"
    return "its name contains a NUL character; rename it" if "\0" in name else ""


def _walk(root: Root, skipped: Skipped) -> Walk:
    choice = Choice(root.include, root.exclude)
    return Walk(StoreFolders(open_store(root.store), root.store, skipped), f"{root.path}/", choice, skipped)


@contextmanager
def _as_source_errors(path: str, *, passing: tuple[type[Exception], ...] = ()) -> Iterator[None]:
    """Turn all that keeps a root from being listed into a SourceError: its documents are kept then."""
    try:
        yield
    except passing:
        raise
    except FileNotFoundError as error:
        raise SourceError(f"there is nothing at {path}; give a folder or object that exists") from error
    except (StorageError, MissingExtra, UsageError, OSError) as error:
        raise SourceError(str(error)) from error


class ObjectSource:
    """Object stores as roots of an index: a `RemoteSource` (semsearch.sources.root_files)."""

    parse = staticmethod(parse_source)
    fetch = staticmethod(fetch_object)
    fetch_ahead = staticmethod(fetched_ahead)
    is_as_seen = staticmethod(is_as_seen)

    def is_file(self, store: str, path: str) -> bool:
        """Return whether there is an object at a path of a store; False for a folder.

        Raises SourceError if there is nothing, or access is denied; StorageError, MissingExtra, UsageError.
        """
        with _as_source_errors(path, passing=(StorageError, MissingExtra, UsageError)):
            return bool(open_store(store).info(path)["type"] != "directory")

    def find(self, root: Root, paths: Iterable[str] | None = None, *, skipped: Skipped) -> list[FoundFile]:
        """Find the objects of a root in a store, or those at some paths in it, or the one object that it is.

        Raises SourceError if it cannot be listed, or not to its end; caused by a FileNotFoundError if nothing is there.
        """
        with _as_source_errors(root.path):
            if not root.single:
                return list(_walk(root, skipped).files(paths))
            info = open_store(root.store).info(root.path)
            if info["type"] == "directory":
                raise SourceError(f"{root.path} is a folder now; it was indexed as an object")
            name = compose(root.path.rpartition("/")[2])
            return [FoundFile(name, size_of(info), time_of(info), root.path)]


SOURCE: RemoteSource = ObjectSource()
