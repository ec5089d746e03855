"""The files of a root: listed, and compared by their content; on this machine or behind a URI.

Files behind a URI, such as `s3://bucket/docs`, are listed and fetched by another distribution.

    [project.entry-points."semsearch.sources"]
    any = "semsearch_scale.objects.object_walk:SOURCE"    # or the scheme of a URI

What an entry point names has the methods of `RemoteSource`. A file there is known by its URI without options, and by
its state: size and time. What fetches it also needs its store, the URI of its root with the options.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from functools import lru_cache
from pathlib import Path
from typing import Protocol

from semsearch.errors import SourceError, is_resource_exhaustion
from semsearch.readers.registry import is_readable
from semsearch.sources.ignore import Skipped
from semsearch.sources.roots import Root
from semsearch.sources.unchanged import FoundFile, PresentFile
from semsearch.sources.walk import find_files
from semsearch.system import plugins
from semsearch.system.locations import uri_scheme
from semsearch.system.source_files import content_digest, source_digest, storable_time

GROUP = "semsearch.sources"


@dataclass(frozen=True, slots=True)
class RemoteState:
    """A file as a listing showed it: the URI by which its store is opened, size and time."""

    store: str
    size: int
    mtime_ns: int

    @classmethod
    def of(cls, present: PresentFile) -> RemoteState:
        """The state of a file that a walk found."""
        return cls(present.store, present.size, present.mtime_ns)


@dataclass(frozen=True, slots=True)
class FetchedFile:
    """The bytes of a file, or the first of them, and its state as it was before they were fetched."""

    data: bytes
    size: int
    mtime_ns: int


class RemoteSource(Protocol):
    """Lists and fetches the files of a store. If it cannot be reached: StorageError, but `find` raises SourceError."""

    def parse(self, uri: str) -> tuple[str, str]:
        """The path of the URI that a user gives, and its options. Raises UsageError for one that cannot be a root."""

    def is_file(self, store: str, path: str) -> bool:
        """Return whether a path is a file; False for a folder. Raises SourceError if there is nothing."""

    def find(self, root: Root, paths: Iterable[str] | None = None, *, skipped: Skipped) -> Sequence[FoundFile]:
        """The files of a root that are to be indexed, or those at some paths relative to it.

        Raises SourceError if they cannot be listed, or not all.
        """

    def fetch(self, path: str, state: RemoteState, most: int) -> FetchedFile:
        """The first `most` bytes of a file. Raises OSError if it is gone or keeps changing."""

    def fetch_ahead(
        self, files: Sequence[tuple[str, RemoteState] | None], most: int
    ) -> Iterator[Callable[[], FetchedFile] | None]:
        """Begin to fetch files before they are needed; yields what waits for each, and None for None."""

    def is_as_seen(self, path: str, state: RemoteState) -> bool:
        """Return whether this process sees a file in that state."""


@lru_cache(maxsize=16)
def _source(scheme: str) -> RemoteSource | None:
    source: RemoteSource | None = plugins.load(GROUP, scheme, "any")
    return source


def remote_source(uri: str) -> RemoteSource:
    """The source of the files at a URI. Raises SourceError if no installed distribution has one."""
    source = _source(uri_scheme(uri))
    if source is None:
        raise SourceError(f"{uri} lies in an object store; to index it, {plugins.SCALE}")
    return source


# -- The files of a root, wherever it lies -----------------------------------------------------------------------------


def files_of(root: Root, skipped: Skipped, paths: Iterable[str] | None = None) -> Iterable[FoundFile]:
    """Find the files of a root, or those at some paths in it and in the folders there. Raises SourceError."""
    if root.is_remote:
        return remote_source(root.path).find(root, paths, skipped=skipped)
    return find_files(Path(root.path), paths, include=root.include, exclude=root.exclude, skipped=skipped)


def readable_files(include: Sequence[str]) -> Callable[[str], bool]:
    """Tell by its name whether a file can be read: since there is a reader for its suffix, or --include names it.

    An include pattern that spells out a name or a suffix (`*.py`, `Makefile`) includes such files even if no reader
    supports them. The content of other files is checked before they are read.
    """
    lasts = (pattern.rpartition("/")[2] for pattern in include if not pattern.startswith("!"))
    names = [last for last in lasts if last.strip("*")]
    if not names:
        return is_readable
    return lambda name: is_readable(name) or any(fnmatchcase(name, pattern) for pattern in names)


def present_files(root: Root, files: Iterable[FoundFile]) -> list[PresentFile]:
    """Convert files that were found in a root to the form in which a sync compares them."""
    files, present, prefix = [*files], list[PresentFile](), len(root.path.rstrip("/")) + 1
    can_read, canonical_paths = readable_files(root.include), root.canonical_paths([file.path for file in files])
    columns, store, times = root.columns, root.store, [storable_time(file.mtime_ns) for file in files]
    for file, canonical, mtime_ns in zip(files, canonical_paths, times, strict=True):
        spelled, absolute = file.path, file.absolute
        if not spelled.isascii() and not root.single:
            spelled = absolute[prefix:] if store else absolute[prefix:].replace(os.sep, "/")
        has_reader = can_read(absolute.rpartition("/")[2]) or absolute.replace(os.sep, "/") == root.path
        place = root.id, file.path, canonical, spelled, absolute
        present.append(PresentFile(*place, file.size, mtime_ns, has_reader, columns, store))
    return present


def digests_of(files: Iterable[PresentFile], *, max_bytes: int, unreadable: Skipped) -> list[str | None]:
    """The digest of each file's content; "" for one of a store that is too large to be read. None if it cannot be read,
    which is reported, unless it was deleted since it was found: then its reader does so.
    """
    digests = list[str | None]()
    for file in files:
        try:
            if not file.store:
                digests.append(source_digest(file.absolute))
            elif file.size > max_bytes:
                digests.append("")
            else:
                fetched = remote_source(file.store).fetch(file.absolute, RemoteState.of(file), max_bytes + 1)
                digests.append(content_digest(fetched.data))
        except FileNotFoundError:
            digests.append(None)
        except OSError as error:
            if is_resource_exhaustion(error):
                raise
            unreadable(file.absolute, f"cannot be read: {error.strerror or error}")
            digests.append(None)
    return digests
