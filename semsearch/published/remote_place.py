"""Object stores and other file systems as places, through fsspec: `s3://`, `gs://`, `az://`, `sftp://`, `memory://`.

How they are reached (keys, endpoints) is fsspec's own configuration, in its files and environment variables, or that
of the package that it uses; for a store that speaks S3 also `s3://bucket/docs?endpoint=http://localhost:9000&region=x`,
as for tables of Lance. Object stores write an object whole; elsewhere it is written and renamed.
"""

from __future__ import annotations

import secrets
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from typing import Any
from urllib.parse import parse_qsl, urlsplit

from semsearch.errors import MissingExtra, UsageError
from semsearch.published.naming import scheme_of, shown

_WHOLE = {"s3", "s3a", "gs", "gcs", "az", "abfs", "abfss", "adl", "oss", "oci", "obs", "tos", "hf", "memory"}


def _with_options(uri: str) -> tuple[str, dict[str, Any]]:
    """The address of a URI, and what the package that reaches it is told besides."""
    parts = urlsplit(uri)
    if parts.scheme not in ("s3", "s3a") or not parts.query:
        return uri, {}
    given = dict(parse_qsl(parts.query))
    if unknown := given.keys() - {"endpoint", "region", "timeout"}:
        raise UsageError(f"{shown(uri)} has the option {min(unknown)!r}; there are endpoint, region and timeout")
    options: dict[str, Any] = {"endpoint_url": given["endpoint"]} if "endpoint" in given else {}
    if "region" in given:
        options["client_kwargs"] = {"region_name": given["region"]}
    return uri.partition("?")[0], options


@dataclass(frozen=True, slots=True)
class RemotePlace:
    """A place that fsspec reaches."""

    files: Any  # an fsspec.AbstractFileSystem
    root: str
    is_whole: bool  # whether an object is written whole or not at all

    @classmethod
    def at(cls, uri: str) -> RemotePlace:
        """Open the place of a URI. Raises MissingExtra without fsspec, UsageError for a scheme that it lacks."""
        try:
            from fsspec.core import url_to_fs
        except ImportError as error:
            raise MissingExtra("fsspec", "remote-files") from error
        try:
            address, options = _with_options(uri)
            files, root = url_to_fs(address, **options)
        except ImportError as error:
            raise UsageError(f"{shown(uri)} needs a package besides: {error}") from error
        except ValueError as error:
            raise UsageError(f"{shown(uri)} is no place to publish to: {error}") from error
        return cls(files, str(root).rstrip("/"), scheme_of(uri) in _WHOLE)

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
