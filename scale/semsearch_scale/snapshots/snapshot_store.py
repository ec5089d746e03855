"""Snapshot stores: five methods, by which a folder or an object store (through fsspec) holds what is published.

A store holds objects, bytes by name. All but the claim and the pointer to the newest generation are named by their
content and never changed. An object is written whole or not at all, so that a reader finds the old pointer or the new
one: object stores do so by themselves, in a folder a file is written under another name and renamed. A folder, also of
a network disk, needs no package.
"""

from __future__ import annotations

import os
import secrets
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, TypeVar
from urllib.request import url2pathname

from semsearch.errors import IndexDamaged, UsageError
from semsearch.system.durable import replace_file, sync_folder
from semsearch.system.locations import divided, expanded, shown_uri, split_uri, uri_scheme
from semsearch_scale.deadline import begun, result_within
from semsearch_scale.objects.remote_files import SECONDS, open_files, reached

Result = TypeVar("Result")

CLAIM = "semsearch.json"  # the index that publishes to a store
POINTER = "current.json"  # which manifest is the newest
MANIFESTS = "manifests/"
BLOCKS = "blocks/"


def canonical(place: str | Path) -> str:
    """The canonical URI of a store; a path becomes a `file:` URI. Raises UsageError if it names no folder."""
    text = str(place)
    scheme = uri_scheme(text)
    if not scheme:
        return expanded(text).absolute().as_uri()
    address, options = divided(text)
    if not address.partition("://")[2].strip("/") and scheme != "file":
        raise UsageError(f"{text} names no folder; give one such as {scheme}://bucket/docs")
    return address.rstrip("/") + options


@dataclass(frozen=True, slots=True)
class FolderObjects:
    """Objects as the files of a folder, flushed to the disk and renamed."""

    folder: Path

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
            foreign = [path.name for path in self.folder.iterdir() if not _is_ours(path.name)]
            if foreign:
                raise UsageError(
                    f"{self.folder} already contains {min(foreign)!r}; choose an empty folder to publish to"
                )
        temporary = self._written(name, data)
        try:
            os.link(temporary, self.folder / name)
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

    def names(self, prefix: str) -> list[str]:
        """The names of all files below a folder of the store."""
        paths = (self.folder / prefix).rglob("*")
        return [path.relative_to(self.folder).as_posix() for path in paths if path.is_file()]

    def delete(self, name: str) -> None:
        """Delete a file, if it is there."""
        (self.folder / name).unlink(missing_ok=True)

    def _written(self, name: str, data: bytes) -> Path:
        """A temporary file beside a name, flushed. The folder of the store itself must exist."""
        path = self.folder / name
        for folder in [*path.relative_to(self.folder).parents][-2::-1]:
            (self.folder / folder).mkdir(exist_ok=True)
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


def _is_ours(name: str) -> bool:
    return name in (CLAIM, POINTER, MANIFESTS[:-1], BLOCKS[:-1]) or name.endswith(".tmp")


@dataclass(frozen=True, slots=True)
class BucketObjects:
    """Objects of an object store, reached through fsspec."""

    files: Any  # an fsspec.AbstractFileSystem
    root: str

    def get(self, name: str, most: int) -> bytes:
        """Read an object, or its first `most + 1` bytes. Raises FileNotFoundError."""
        return bytes(self.files.cat_file(f"{self.root}/{name}", start=0, end=most + 1))

    def put(self, name: str, data: bytes) -> None:
        """Write an object."""
        self.files.pipe_file(f"{self.root}/{name}", data)

    def create(self, name: str, data: bytes) -> bool:
        """Write an object unless it exists. Where the store cannot refuse, existence is checked first."""
        path = f"{self.root}/{name}"
        if self.files.exists(path):
            return False
        try:
            self.files.pipe_file(path, data, mode="create")
        except FileExistsError:
            return False
        except (TypeError, ValueError, NotImplementedError):
            self.files.pipe_file(path, data)
        return True

    def names(self, prefix: str) -> list[str]:
        """The names of all objects below a prefix."""
        self.files.invalidate_cache()
        try:
            return [path.removeprefix(f"{self.root}/") for path in self.files.find(f"{self.root}/{prefix}")]
        except FileNotFoundError:
            return []

    def delete(self, name: str) -> None:
        """Delete an object, if it is there."""
        with suppress(FileNotFoundError):
            self.files.rm_file(f"{self.root}/{name}")


@dataclass(frozen=True, slots=True)
class SnapshotStore:
    """A snapshot store with a deadline for every answer. Names are relative, with forward slashes.

    Raises StorageError where it cannot be reached, whatever its package raises then.
    """

    objects: FolderObjects | BucketObjects
    uri: str
    seconds: float

    def get(self, name: str, most: int) -> bytes:
        """Read an object; of a longer one `most + 1` bytes. Raises FileNotFoundError if there is none."""
        return self._reach(partial(self.objects.get, name, most), passing=(FileNotFoundError,))

    def put(self, name: str, data: bytes) -> None:
        """Write an object, also in place of an earlier one, whole or not at all. It is durable once this returns."""
        self._reach(partial(self.objects.put, name, data))

    def create(self, name: str, data: bytes) -> bool:
        """Write an object unless one of that name exists; return whether it was written."""
        return self._reach(partial(self.objects.create, name, data))

    def names(self, prefix: str) -> list[str]:
        """The names of all objects that begin with a prefix, which ends with a slash."""
        return self._reach(partial(self.objects.names, prefix))

    def delete(self, name: str) -> None:
        """Delete an object, if it is there."""
        self._reach(partial(self.objects.delete, name))

    def _reach(self, call: Callable[[], Result], *, passing: tuple[type[Exception], ...] = ()) -> Result:
        return reached(self.uri, lambda: result_within(self.seconds, begun(call)), passing=passing)


_OBJECT_STORES = {"s3", "s3a", "gs", "gcs", "az", "abfs", "abfss", "adl", "oss", "oci", "obs", "tos", "hf", "memory"}


def open_snapshot_store(uri: str, *, seconds: float = SECONDS) -> SnapshotStore:
    """Open a store, each of whose answers must come within so many seconds, or within those that its URI allows if
    these are more (`?timeout=SECONDS`, of buckets). No request is sent yet.

    Raises UsageError for an invalid URI, MissingExtra without the package that it needs.
    """
    uri = canonical(uri)
    if uri_scheme(uri) == "file":
        return SnapshotStore(FolderObjects(_folder_at(uri)), shown_uri(uri), seconds)
    if uri_scheme(uri) not in _OBJECT_STORES:
        raise UsageError(
            f"{shown_uri(uri)} is no place for snapshots; give a folder, which may be a mounted disk, or a bucket "
            "such as s3://bucket/docs"
        )
    opened = open_files(uri)
    return SnapshotStore(BucketObjects(opened.files, opened.root), shown_uri(uri), max(seconds, opened.timeout))


def _folder_at(uri: str) -> Path:
    parts = split_uri(uri)
    if parts.netloc not in ("", "localhost"):
        raise UsageError(f"{uri} names the machine {parts.netloc!r}; a folder is file:///folder, with three slashes")
    return Path(url2pathname(parts.path))


def get_checked(store: SnapshotStore, name: str, most: int, what: str) -> bytes:
    """Read an object of at most so many bytes. Raises FileNotFoundError, and IndexDamaged if it is longer."""
    data = store.get(name, most)
    if len(data) > most:
        raise IndexDamaged(f"{what} is larger than the limit of {most:,} bytes")
    return data
