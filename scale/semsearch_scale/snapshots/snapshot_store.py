"""Snapshot stores: a few methods, so that a folder, an object store (through fsspec) or a database can be one.

A store holds objects, bytes by name. All but one are named by their content and never changed; `replace` swaps the
pointer to the newest, so that a reader finds the old one or the new one and nothing between. Object stores write an
object atomically; elsewhere it is written under another name and renamed. A folder, also of a network disk, needs no
package.
"""

from __future__ import annotations

import os
import secrets
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, Protocol, TypeVar
from urllib.request import url2pathname

from semsearch.errors import IndexDamaged, UsageError
from semsearch.system.durable import replace_file, sync_folder
from semsearch.system.locations import shown_uri, split_uri, uri_scheme
from semsearch_scale.deadline import call_within
from semsearch_scale.objects.remote_files import SECONDS, open_files, reached
from semsearch_scale.snapshots.store_uris import BLOCKS, CLAIM, MANIFESTS, POINTER, canonical, timeout_of


@dataclass(frozen=True, slots=True)
class FolderStore:
    """A folder as a store. Each object is a file, flushed to the disk and renamed."""

    folder: Path

    @classmethod
    def at(cls, uri: str) -> FolderStore:
        """The folder of a `file:` URI. Raises UsageError for one of another machine."""
        parts = split_uri(uri)
        if parts.netloc not in ("", "localhost"):
            raise UsageError(
                f"{uri} names the machine {parts.netloc!r}; a folder is file:///folder, with three slashes"
            )
        return cls(Path(url2pathname(parts.path)))

    def get(self, name: str, most: int) -> bytes:
        """Read a file. Raises FileNotFoundError."""
        with (self.folder / name).open("rb") as file:
            return file.read(most + 1)

    def put(self, name: str, data: bytes) -> None:
        """Write a file under another name and rename it."""
        temporary = self._written(name, data)
        replace_file(temporary, self.folder / name)
        sync_folder(temporary.parent)

    def create(self, name: str, data: bytes) -> bool:
        """Write a file unless it exists. To claim the folder, its parent must exist, and it must be empty.

        Where a network disk is not mounted, there is an empty folder, or none.
        """
        if name == CLAIM and not self.folder.exists():
            if not self.folder.parent.is_dir():
                raise UsageError(
                    f"{self.folder} cannot be created, because {self.folder.parent} does not exist; is it mounted?"
                )
            self.folder.mkdir()
        if name == CLAIM and not (self.folder / CLAIM).exists():
            self._check_free()
        temporary = self._written(name, data)
        try:
            _link(temporary, self.folder / name)
        except FileExistsError:
            return False
        except OSError:  # without hard links, two simultaneous claims are not distinguished
            if (self.folder / name).exists():
                return False
            replace_file(temporary, self.folder / name)
        finally:
            with suppress(OSError):
                temporary.unlink()
        sync_folder(self.folder)
        return True

    def replace(self, name: str, data: bytes) -> None:
        """Write a file in place of another."""
        self.put(name, data)

    def names(self, prefix: str) -> list[str]:
        """The names of all files below a folder of the store."""
        found: list[str] = []
        for folder, _, files in os.walk(self.folder / prefix):
            inside = Path(folder).relative_to(self.folder).as_posix()
            found += [f"{inside}/{file}" for file in files]
        return found

    def delete(self, name: str) -> None:
        """Delete a file, if it is there."""
        (self.folder / name).unlink(missing_ok=True)

    def _check_free(self) -> None:
        """Raise UsageError for a folder that holds anything else."""
        foreign = [path.name for path in self.folder.iterdir() if not _is_ours(path.name)]
        if foreign:
            raise UsageError(f"{self.folder} already contains {min(foreign)!r}; choose an empty folder to publish to")

    def _written(self, name: str, data: bytes) -> Path:
        path = self.folder / name
        self._make(path.parent)
        temporary = path.with_name(f"{path.name}.{secrets.token_hex(6)}.tmp")
        try:
            with temporary.open("xb") as file:
                file.write(data)
                file.flush()
                os.fsync(file.fileno())
        except BaseException:
            with suppress(OSError):
                temporary.unlink()
            raise
        return temporary

    def _make(self, folder: Path) -> None:
        """Create a folder inside the store, which must exist."""
        if folder != self.folder and not folder.exists():
            self._make(folder.parent)
            folder.mkdir(exist_ok=True)


def _link(source: Path, target: Path) -> None:
    os.link(source, target)


def _is_ours(name: str) -> bool:
    return name in (CLAIM, POINTER, MANIFESTS[:-1], BLOCKS[:-1]) or name.endswith(".tmp")


# -- Object stores and other file systems ------------------------------------------------------------------------------

_WHOLE = {"s3", "s3a", "gs", "gcs", "az", "abfs", "abfss", "adl", "oss", "oci", "obs", "tos", "hf", "memory"}


@dataclass(frozen=True, slots=True)
class RemoteStore:
    """A store that is reached through fsspec."""

    files: Any  # an fsspec.AbstractFileSystem
    root: str
    is_whole: bool  # whether an object is written whole or not at all

    @classmethod
    def at(cls, uri: str) -> RemoteStore:
        """Open the store of a URI. Raises MissingExtra without fsspec, UsageError for an unknown scheme."""
        opened = open_files(uri)
        return cls(opened.files, opened.root, uri_scheme(uri) in _WHOLE)

    def get(self, name: str, most: int) -> bytes:
        """Read an object, or its first `most + 1` bytes. Raises FileNotFoundError."""
        data: bytes = self._cat(self._path(name), most)
        return data

    def put(self, name: str, data: bytes) -> None:
        """Write an object."""
        path = self._path(name)
        self._make_folder(path)
        self.files.pipe_file(path, data)

    def create(self, name: str, data: bytes) -> bool:
        """Write an object unless it exists. Where the store cannot refuse, existence is checked first."""
        path = self._path(name)
        self._make_folder(path)
        if self.files.exists(path):
            return False
        try:
            self.files.pipe_file(path, data, mode="create")
        except FileExistsError:
            return False
        except (TypeError, ValueError, NotImplementedError):
            self.files.pipe_file(path, data)
        return True

    def replace(self, name: str, data: bytes) -> None:
        """Write an object in place of another."""
        path = self._path(name)
        if self.is_whole:
            self.files.pipe_file(path, data)
            return
        temporary = f"{path}.{secrets.token_hex(6)}.tmp"
        self.files.pipe_file(temporary, data)
        try:
            self.files.mv(temporary, path)
        except Exception:  # some cannot rename over an existing object
            self.files.pipe_file(path, data)
            with suppress(Exception):
                self.files.rm_file(temporary)

    def names(self, prefix: str) -> list[str]:
        """The names of all objects below a prefix."""
        self.files.invalidate_cache()
        try:
            found: list[str] = self.files.find(self._path(prefix))
        except FileNotFoundError:
            return []
        return [path.removeprefix(f"{self.root}/") for path in found]

    def delete(self, name: str) -> None:
        """Delete an object, if it is there."""
        with suppress(FileNotFoundError):
            self.files.rm_file(self._path(name))

    def _path(self, name: str) -> str:
        return f"{self.root}/{name}"

    def _make_folder(self, path: str) -> None:
        if not self.is_whole:
            self.files.makedirs(path.rpartition("/")[0], exist_ok=True)

    def _cat(self, path: str, most: int) -> bytes:
        read: Callable[..., bytes] = self.files.cat_file
        return read(path, start=0, end=most + 1)


# -- The store, opened by its URI --------------------------------------------------------------------------------------

Result = TypeVar("Result")


class SnapshotStore(Protocol):
    """The protocol of a snapshot store. Names are relative, with forward slashes; threads may share it."""

    def get(self, name: str, most: int) -> bytes:
        """Read an object; of a longer one `most + 1` bytes. Raises FileNotFoundError if there is none."""

    def put(self, name: str, data: bytes) -> None:
        """Write an object that no pointer names yet. It is durable once this returns."""

    def create(self, name: str, data: bytes) -> bool:
        """Write an object unless one of that name exists; return whether it was written."""

    def replace(self, name: str, data: bytes) -> None:
        """Write an object in place of an earlier one, atomically: a reader sees the one or the other."""

    def names(self, prefix: str) -> list[str]:
        """The names of all objects that begin with a prefix, which ends with a slash."""

    def delete(self, name: str) -> None:
        """Delete an object, if it is there."""


Opener = Callable[[str], SnapshotStore]


def open_snapshot_store(uri: str, *, seconds: float = SECONDS) -> SnapshotStore:
    """Open a store, each of whose answers must come within so many seconds, or within those that its URI allows if
    these are more (`?timeout=SECONDS`, of buckets and databases). No request is sent yet.

    Raises UsageError for an invalid URI, MissingExtra without the package that it needs.
    """
    whole = canonical(uri)
    longest = max(seconds, timeout_of(whole))
    return ReachedStore(_OPENERS.get(uri_scheme(whole), RemoteStore.at)(whole), shown_uri(whole), longest)


def get_checked(store: SnapshotStore, name: str, most: int, what: str) -> bytes:
    """Read an object of at most so many bytes. Raises FileNotFoundError, and IndexDamaged if it is longer."""
    data = store.get(name, most)
    if len(data) > most:
        raise IndexDamaged(f"{what} is larger than the limit of {most:,} bytes")
    return data


@dataclass(frozen=True, slots=True)
class ReachedStore:
    """A store with a deadline for every answer, and errors that say what to do.

    Raises StorageError where it cannot be reached, whatever its package raises then.
    """

    store: SnapshotStore
    uri: str
    seconds: float

    def get(self, name: str, most: int) -> bytes:
        """Read an object, as `SnapshotStore.get`."""
        return self._reach(partial(self.store.get, name, most), may_be_missing=True)

    def put(self, name: str, data: bytes) -> None:
        """Write an object, as `SnapshotStore.put`."""
        self._reach(partial(self.store.put, name, data))

    def create(self, name: str, data: bytes) -> bool:
        """Write an object unless it is there, as `SnapshotStore.create`."""
        return self._reach(partial(self.store.create, name, data))

    def replace(self, name: str, data: bytes) -> None:
        """Write an object in place of another, as `SnapshotStore.replace`."""
        self._reach(partial(self.store.replace, name, data))

    def names(self, prefix: str) -> list[str]:
        """The names of objects, as `SnapshotStore.names`."""
        return self._reach(partial(self.store.names, prefix))

    def delete(self, name: str) -> None:
        """Delete an object, as `SnapshotStore.delete`."""
        self._reach(partial(self.store.delete, name))

    def _reach(self, call: Callable[[], Result], *, may_be_missing: bool = False) -> Result:
        passing = (FileNotFoundError,) if may_be_missing else ()
        return reached(self.uri, partial(call_within, self.seconds, call), passing=passing)


def _postgres(uri: str) -> SnapshotStore:
    from semsearch_scale.snapshots.postgres_snapshots import SnapshotTable  # start-up time: few stores are databases

    return SnapshotTable.at(uri)


_OPENERS: dict[str, Opener] = {"file": FolderStore.at, "postgres": _postgres}
