"""Object stores and other file systems as places, as `semsearch.system.remote_files` opens them.

Object stores write an object whole; elsewhere it is written and renamed.
"""

from __future__ import annotations

import secrets
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from semsearch.published.naming import scheme_of
from semsearch.system.remote_files import open_files

_WHOLE = {"s3", "s3a", "gs", "gcs", "az", "abfs", "abfss", "adl", "oss", "oci", "obs", "tos", "hf", "memory"}


@dataclass(frozen=True, slots=True)
class RemotePlace:
    """A place that fsspec reaches."""

    files: Any  # an fsspec.AbstractFileSystem
    root: str
    is_whole: bool  # whether an object is written whole or not at all

    @classmethod
    def at(cls, uri: str) -> RemotePlace:
        """Open the place of a URI. Raises MissingExtra without fsspec, UsageError for a scheme that it lacks."""
        opened = open_files(uri)
        return cls(opened.files, opened.root, scheme_of(uri) in _WHOLE)

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
        """Write an object unless there is one. Where the store cannot refuse, it is looked first."""
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
        except Exception:  # some rename over nothing that is there
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
