"""A store that is opened: its folders are listed, and its objects are looked at and fetched, each within a deadline.

An object's state is its size and its time, as a file's is. Its time is that of the store, to the second; where the
store tells the version of an object (an ETag, a generation, a digest), a fingerprint of that takes the place of the
nanoseconds. So an object that was replaced has another state, be it as large as the old one and written in the same
second, and all that compares files compares objects: the plan, the skips, the reading log, the workers of a cluster.
"""

from __future__ import annotations

import hashlib
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import lru_cache, partial
from typing import TYPE_CHECKING, Any, TypeVar

from semsearch.sources.objects.source_uri import parse_source
from semsearch.system.deadline import Begun
from semsearch.system.remote_files import open_files, reached

if TYPE_CHECKING:
    from semsearch.sources.plan import PresentFile

Result = TypeVar("Result")

LISTING_SECONDS = 300.0  # that a folder of hundreds of thousands of objects may take to be listed
_SLOWEST = 500_000  # bytes a second: a large object has more time
_OWN = (FileNotFoundError, PermissionError)  # errors that are of one object, and not of the store
_SECOND = 1_000_000_000
_VERSIONS = ("ETag", "etag", "generation", "md5Hash", "content_md5", "blob_id", "sha")  # by the names that stores use
_TIMES = ("LastModified", "last_modified", "updated", "mtime", "modified", "created")


@dataclass(frozen=True, slots=True)
class ObjectState:
    """An object as a listing showed it: the URI by which its store is opened, size and time."""

    store: str
    size: int
    mtime_ns: int

    @classmethod
    def of(cls, present: PresentFile) -> ObjectState:
        """The state of an object that a walk found."""
        return cls(present.store, present.size, present.mtime_ns)


@dataclass(frozen=True, slots=True)
class FetchedObject:
    """The bytes of an object, or the first of them, and its state as it was before they were fetched."""

    data: bytes
    size: int
    mtime_ns: int


class ObjectStore:
    """The folder or object of a URI, and all that lies in it. Paths are URIs, without options."""

    def __init__(self, uri: str, address: str) -> None:
        opened = open_files(uri)
        self._files = opened.files
        self._root = opened.root
        self._seconds = opened.seconds
        self.address = address

    def listed(self, folder: str) -> Begun[list[Mapping[str, Any]]]:
        """Begin to list a folder, given with or without a slash at its end."""
        path = self.inner(folder).rstrip("/")

        def call() -> list[Mapping[str, Any]]:
            self._files.invalidate_cache()
            found: list[Mapping[str, Any]] = self._files.ls(path, detail=True)
            self._files.invalidate_cache()  # what is listed is kept by us, or by nobody
            return found

        return Begun(call)

    def info(self, path: str) -> Mapping[str, Any]:
        """Look at an object or folder. Raises FileNotFoundError, PermissionError, StorageError."""

        def call() -> Mapping[str, Any]:
            self._files.invalidate_cache()
            found: Mapping[str, Any] = self._files.info(self.inner(path))
            return found

        return self.answer(Begun(call), self._seconds)

    def fetch(self, path: str, state: ObjectState, most: int) -> FetchedObject:
        """Fetch the first `most` bytes of an object. Raises FileNotFoundError, PermissionError, StorageError.

        The state is the one that was listed, so that what is written meanwhile is seen as a change next time; unless
        another number of bytes comes: then the object is looked at again. Raises OSError if it goes on changing.
        """
        size, mtime_ns = state.size, state.mtime_ns
        for _ in range(3):
            expected = min(size, most)
            data = self._first(path, most, self._seconds + expected / _SLOWEST) if expected else b""
            if len(data) == expected:
                return FetchedObject(data, size, mtime_ns)
            found = self.info(path)
            size, mtime_ns = size_of(found), time_of(found)
        raise OSError(f"{len(data):,} bytes came of {size:,}; does something write to it?")

    def _first(self, path: str, most: int, seconds: float) -> bytes:
        call: Callable[[], bytes] = partial(self._files.cat_file, self.inner(path), start=0, end=most)
        return self.answer(Begun(call), seconds)

    def answer(self, begun: Begun[Result], seconds: float) -> Result:
        """Wait for an answer of the store. Raises FileNotFoundError, PermissionError, StorageError."""
        return reached(self.address, partial(begun.result, seconds), passing=_OWN)

    def inner(self, path: str) -> str:
        """The path by which the file system knows what lies at a URI."""
        return self._root + path[len(self.address) :]


@lru_cache(maxsize=64)
def open_store(uri: str) -> ObjectStore:
    """Open the store of a URI with its options. Raises MissingExtra without fsspec, UsageError."""
    return ObjectStore(uri, parse_source(uri).path)


def fetch_object(path: str, state: ObjectState, most: int) -> FetchedObject:
    """Fetch the first `most` bytes of an object, as `ObjectStore.fetch` does."""
    return open_store(state.store).fetch(path, state, most)


def is_as_seen(path: str, state: ObjectState) -> bool:
    """Return whether this process sees an object in that state. Raises whatever keeps it from looking."""
    found = open_store(state.store).info(path)
    return (size_of(found), time_of(found)) == (state.size, state.mtime_ns)


def size_of(info: Mapping[str, Any]) -> int:
    """The size of an object in bytes. Raises OSError if the store does not tell it."""
    size = info.get("size")
    if size is None:
        raise OSError("its size is not told")
    return int(size)


def time_of(info: Mapping[str, Any]) -> int:
    """The time of an object in nanoseconds, with the fingerprint of its version; now, if the store tells neither."""
    at = next((found for name in _TIMES if (found := _moment(info.get(name))) is not None), None)
    version = next((str(found) for name in _VERSIONS if (found := info.get(name))), "")
    if not version:
        return time.time_ns() if at is None else at
    digest = hashlib.blake2b(version.encode(), digest_size=8).digest()
    return (at or 0) // _SECOND * _SECOND + int.from_bytes(digest, "big") % _SECOND


def _moment(told: object) -> int | None:
    """A time as some store tells it, in nanoseconds."""
    if isinstance(told, str):
        try:
            told = datetime.fromisoformat(told.replace("Z", "+00:00"))
        except ValueError:
            return None
    if isinstance(told, datetime):
        aware = told if told.tzinfo else told.replace(tzinfo=UTC)
        whole = int(aware.replace(microsecond=0).timestamp())
        return whole * _SECOND + aware.microsecond * 1000
    return round(told * 1_000_000) * 1000 if isinstance(told, int | float) and not isinstance(told, bool) else None
