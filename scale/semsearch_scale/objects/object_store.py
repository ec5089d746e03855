"""Objects of a store: the URIs that name them, the state of each, and how they are fetched.

A user names a folder or object by a URI such as `s3://bucket/docs?endpoint=http://localhost:9000`. Documents' paths are
the URI without its options, a slash and the rest of the object's name, as it is: nothing in a name is escaped, and
options are kept out of the path.

An object's state is its size and its time, as a file's is. Its time is that of the store, to the second; where the
store gives the version of an object (an ETag, a generation, a digest), a fingerprint of that takes the place of the
nanoseconds. So an object that was replaced has another state, even one of the same size written in the same second, and
all that compares files compares objects: the plan, the skips, the reading log, the workers of a cluster.

Every answer of a store takes its time to come, and has a deadline: so objects are fetched before they are needed, a few
at a time.
"""

from __future__ import annotations

import hashlib
import re
import time
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Future
from datetime import UTC, datetime
from functools import lru_cache, partial
from typing import Any, TypeVar

from semsearch.errors import UsageError
from semsearch.sources.root_files import FetchedFile, RemoteState
from semsearch.system.locations import divided, has_password, shown_uri, uri_scheme
from semsearch_scale.deadline import begun, result_within
from semsearch_scale.objects.remote_files import S3, SECONDS, open_files, reached

_OPTIONS = re.compile(r"\?\w+=[^&]*(?:&\w+=[^&]*)*")
_WEB = ("http", "https")


def parse_source(uri: str) -> tuple[str, str]:
    """The path of the URI that a user gives, and its options with their question mark.

    Raises UsageError for one with a password, or that names no folder.
    """
    if has_password(uri):
        raise UsageError(
            f"{shown_uri(divided(uri)[0])} has a password, which the index would store in plain text; pass it in the "
            "environment, as the store's own tools expect"
        )
    scheme = uri_scheme(uri)
    if scheme in _WEB:
        raise UsageError(f"{uri} is a web address, and web sites cannot be listed; download it and index the folder")
    address, options = divided(uri) if scheme in S3 else (uri, "")
    if options and not _OPTIONS.fullmatch(options):  # a question mark in a name
        address, options = uri, ""
    path = address[: len(scheme)].lower() + address[len(scheme) :].rstrip("/")
    if path.endswith(":"):
        raise UsageError(f"{uri} names no folder; give one such as {scheme}://bucket/docs")
    if "::" in path or "\0" in path or {".", ".."} & {*path.split("/")}:
        raise UsageError(f"{uri!r} cannot be indexed; give a folder of a store such as s3://bucket/docs")
    return path, options


# -- Store -------------------------------------------------------------------------------------------------------------

Result = TypeVar("Result")

LISTING_SECONDS = 300.0  # that a folder of hundreds of thousands of objects may take to be listed
_SLOWEST = 500_000  # bytes a second: a large object has more time
_OWN = (FileNotFoundError, PermissionError)  # errors that are of one object, and not of the store
_SECOND = 1_000_000_000
_LAST = 4.6e9  # seconds: in 2115. Later ones, and NaN, are no times, and SQLite could not hold all
_VERSIONS = ("ETag", "etag", "generation", "md5Hash", "content_md5", "blob_id", "sha")  # by the names that stores use
_TIMES = ("LastModified", "last_modified", "updated", "mtime", "modified", "created")


class ObjectStore:
    """The folder or object of a URI, and all that lies in it. Paths are URIs, without options."""

    def __init__(self, uri: str, address: str) -> None:
        opened = open_files(uri)
        self._files = opened.files
        self._root = opened.root
        self._seconds = opened.timeout or SECONDS
        self.address = address

    def listed(self, folder: str) -> Future[list[Mapping[str, Any]]]:
        """Begin to list a folder, given with or without a slash at its end."""
        path = self.inner(folder).rstrip("/")

        def call() -> list[Mapping[str, Any]]:
            self._files.invalidate_cache()
            found: list[Mapping[str, Any]] = self._files.ls(path, detail=True)
            self._files.invalidate_cache()  # listings are cached here alone
            return found

        return begun(call)

    def info(self, path: str) -> Mapping[str, Any]:
        """Look at an object or folder. Raises FileNotFoundError, PermissionError, StorageError."""

        def call() -> Mapping[str, Any]:
            self._files.invalidate_cache()
            found: Mapping[str, Any] = self._files.info(self.inner(path))
            return found

        return self.answer(begun(call), self._seconds)

    def fetch(self, path: str, state: RemoteState, most: int) -> FetchedFile:
        """Fetch the first `most` bytes of an object. Raises FileNotFoundError, PermissionError, StorageError.

        The state is the one that was listed, so that what is written meanwhile is seen as a change next time; unless
        another number of bytes comes: then its state is read again. Raises OSError if it keeps changing.
        """
        size, mtime_ns = state.size, state.mtime_ns
        for _ in range(3):
            expected = min(size, most)
            data = self._first(path, most, self._seconds + expected / _SLOWEST) if expected else b""
            if len(data) == expected:
                return FetchedFile(data, size, mtime_ns)
            found = self.info(path)
            size, mtime_ns = size_of(found), time_of(found)
        raise OSError(f"got {len(data):,} of {size:,} bytes; is something writing to it?")

    def _first(self, path: str, most: int, seconds: float) -> bytes:
        call: Callable[[], bytes] = partial(self._files.cat_file, self.inner(path), start=0, end=most)
        return self.answer(begun(call), seconds)

    def answer(self, future: Future[Result], seconds: float) -> Result:
        """Wait for an answer of the store. Raises FileNotFoundError, PermissionError, StorageError."""
        return reached(self.address, partial(result_within, seconds, future), passing=_OWN)

    def inner(self, path: str) -> str:
        """The path by which the file system knows what lies at a URI."""
        return self._root + path[len(self.address) :]


@lru_cache(maxsize=64)
def open_store(uri: str) -> ObjectStore:
    """Open the store of a URI with its options. Raises MissingExtra without fsspec, UsageError."""
    return ObjectStore(uri, parse_source(uri)[0])


def fetch_object(path: str, state: RemoteState, most: int) -> FetchedFile:
    """Fetch the first `most` bytes of an object, as `ObjectStore.fetch` does."""
    return open_store(state.store).fetch(path, state, most)


def is_as_seen(path: str, state: RemoteState) -> bool:
    """Return whether this process sees an object in that state. Raises whatever keeps it from looking."""
    found = open_store(state.store).info(path)
    return (size_of(found), time_of(found)) == (state.size, state.mtime_ns)


def size_of(info: Mapping[str, Any]) -> int:
    """The size of an object in bytes. Raises OSError if the store does not report it."""
    size = info.get("size")
    if size is None:
        raise OSError("the store does not report its size")
    return int(size)


def time_of(info: Mapping[str, Any]) -> int:
    """The time of an object in nanoseconds, with the fingerprint of its version; now, if the store reports neither."""
    at = next((found for name in _TIMES if (found := _moment(info.get(name))) is not None), None)
    version = next((str(found) for name in _VERSIONS if (found := info.get(name))), "")
    if not version:
        return time.time_ns() if at is None else at
    digest = hashlib.blake2b(version.encode(), digest_size=8).digest()
    return (at or 0) // _SECOND * _SECOND + int.from_bytes(digest, "big") % _SECOND


def _moment(given: object) -> int | None:
    """A time as some store reports it, in nanoseconds."""
    if isinstance(given, str):
        try:
            given = datetime.fromisoformat(given.replace("Z", "+00:00"))
        except ValueError:
            return None
    if isinstance(given, datetime):
        aware = given if given.tzinfo else given.replace(tzinfo=UTC)
        whole = int(aware.replace(microsecond=0).timestamp())
        return whole * _SECOND + aware.microsecond * 1000 if abs(whole) < _LAST else None
    if isinstance(given, bool) or not isinstance(given, int | float) or not abs(given) < _LAST:
        return None
    return round(given * 1_000_000) * 1000


# -- Fetching ahead ----------------------------------------------------------------------------------------------------

_AHEAD = 8  # objects that are fetched at the same time, or lie ready
_MOST = 32_000_000  # bytes of these; but one object may be larger


def fetched_ahead(
    objects: Sequence[tuple[str, RemoteState] | None], most: int
) -> Iterator[Callable[[], FetchedFile] | None]:
    """Begin to fetch objects, given by path and state, in their order; yield each fetch when it is its turn.

    Of each the first `most` bytes are fetched. None stays None.
    """
    started: deque[tuple[Future[FetchedFile] | None, int]] = deque()
    rest = deque(objects)
    while started or rest:
        held = sum(size for _, size in started)
        while rest and (not started or (len(started) < _AHEAD and held < _MOST)):
            wanted = rest.popleft()
            size = 0 if wanted is None else min(wanted[1].size, most)
            started.append((None if wanted is None else begun(partial(fetch_object, *wanted, most)), size))
            held += size
        fetch, _ = started.popleft()
        yield None if fetch is None else fetch.result
