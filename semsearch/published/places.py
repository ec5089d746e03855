"""Places that snapshots are kept in: few methods, so that a folder, an object store or a database can be one.

A place holds objects, whole bytes by name. All but one are named by their content and never changed; `replace` swaps
the pointer to the newest, so that a reader finds the old one or the new one and nothing between.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Protocol, TypeVar

from semsearch.errors import IndexDamaged
from semsearch.published.naming import canonical, scheme_of, timeout_of
from semsearch.system.deadline import within
from semsearch.system.remote_files import SECONDS, reached
from semsearch.system.uris import shown

Result = TypeVar("Result")


class Place(Protocol):
    """The protocol of a place. Names are relative, with forward slashes; threads may share it."""

    def get(self, name: str, most: int) -> bytes:
        """Read an object; of a longer one `most + 1` bytes. Raises FileNotFoundError if there is none."""

    def put(self, name: str, data: bytes) -> None:
        """Write an object that nobody reads yet. It is durable once this returns."""

    def create(self, name: str, data: bytes) -> bool:
        """Write an object unless there is one of that name; return whether it was written."""

    def replace(self, name: str, data: bytes) -> None:
        """Write an object in place of an earlier one, atomically: a reader sees the one or the other."""

    def names(self, prefix: str) -> list[str]:
        """The names of all objects that begin with a prefix, which ends with a slash."""

    def delete(self, name: str) -> None:
        """Delete an object, if it is there."""


Opener = Callable[[str], Place]


def register(scheme: str, opener: Opener) -> None:
    """Register what opens the places whose URIs have a scheme."""
    _OPENERS[scheme] = opener


def open_place(uri: str, *, seconds: float = SECONDS) -> Place:
    """Open a place, each of whose answers must come within so many seconds, or within those that its URI allows if
    these are more (`?timeout=SECONDS`, of buckets and databases). Nothing is asked of it yet.

    Raises UsageError for what is no place, MissingExtra without what it needs.
    """
    whole = canonical(uri)
    longest = max(seconds, timeout_of(whole))
    return ReachedPlace(_OPENERS.get(scheme_of(whole), _by_fsspec)(whole), shown(whole), longest)


def get_checked(place: Place, name: str, most: int, what: str) -> bytes:
    """Read an object of at most so many bytes. Raises FileNotFoundError, and IndexDamaged if it is longer."""
    data = place.get(name, most)
    if len(data) > most:
        raise IndexDamaged(f"{what} has more than the {most:,} bytes that it may have")
    return data


@dataclass(frozen=True, slots=True)
class ReachedPlace:
    """A place whose every answer comes within a deadline, and whose errors say what to do.

    Raises StorageError where it cannot be reached, whatever its package raises then.
    """

    place: Place
    uri: str
    seconds: float

    def get(self, name: str, most: int) -> bytes:
        """Read an object, as `Place.get`."""
        return self._reach(partial(self.place.get, name, most), may_lack=True)

    def put(self, name: str, data: bytes) -> None:
        """Write an object, as `Place.put`."""
        self._reach(partial(self.place.put, name, data))

    def create(self, name: str, data: bytes) -> bool:
        """Write an object unless it is there, as `Place.create`."""
        return self._reach(partial(self.place.create, name, data))

    def replace(self, name: str, data: bytes) -> None:
        """Write an object in place of another, as `Place.replace`."""
        self._reach(partial(self.place.replace, name, data))

    def names(self, prefix: str) -> list[str]:
        """The names of objects, as `Place.names`."""
        return self._reach(partial(self.place.names, prefix))

    def delete(self, name: str) -> None:
        """Delete an object, as `Place.delete`."""
        self._reach(partial(self.place.delete, name))

    def _reach(self, call: Callable[[], Result], *, may_lack: bool = False) -> Result:
        passing = (FileNotFoundError,) if may_lack else ()
        return reached(self.uri, partial(within, self.seconds, call), passing=passing)


def _folder(uri: str) -> Place:
    from semsearch.published.folder_place import FolderPlace  # start-up time: others lie elsewhere

    return FolderPlace.at(uri)


def _postgres(uri: str) -> Place:
    from semsearch.stores.postgres.snapshot_table import SnapshotTable  # start-up time, as above

    return SnapshotTable.at(uri)


def _by_fsspec(uri: str) -> Place:
    from semsearch.published.remote_place import RemotePlace  # an optional dependency

    return RemotePlace.at(uri)


_OPENERS: dict[str, Opener] = {"file": _folder, "postgres": _postgres}
