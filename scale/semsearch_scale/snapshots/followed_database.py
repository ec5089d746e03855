"""The database of a published index, for a reader: the newest snapshot that was fetched, and each newer one after it.

A search is answered by the generation with which its transaction began. Every few seconds in which it is used, a thread
reads one small object to see whether there is a newer generation, and fetches it; later searches use that. While the
snapshot store cannot be reached, the fetched generation continues to answer.
"""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from semsearch.errors import IndexDamaged, IndexNotFound, SemsearchError, UsageError
from semsearch.storage.database import IndexDatabase
from semsearch.system.locations import shown_uri
from semsearch_scale.objects.remote_files import SECONDS
from semsearch_scale.snapshots.publisher import get_manifest, get_pointer
from semsearch_scale.snapshots.snapshot_cache import SnapshotCache
from semsearch_scale.snapshots.snapshot_format import CurrentPointer
from semsearch_scale.snapshots.snapshot_store import SnapshotStore, canonical, open_snapshot_store

if TYPE_CHECKING:
    import sqlite3

logger = logging.getLogger(__name__)

LOOK_EVERY = 5.0  # seconds between two checks of a reader for a newer generation
_ATTEMPTS = 3  # at a generation that is swept while it is fetched


@dataclass(frozen=True, slots=True)
class FetchedGeneration:
    """A generation in the cache, opened."""

    pointer: CurrentPointer
    database: IndexDatabase
    written_at: str  # the machine and folder of the index


class FollowedDatabase(IndexDatabase):
    """A database that is read from a store, and follows it. `every`: seconds between two checks."""

    is_copy = True

    def __init__(self, store: SnapshotStore, cache: SnapshotCache, *, every: float) -> None:
        self._store = store
        self._cache = cache
        self._every = every
        self._moving = threading.RLock()  # held while checking for a newer generation
        self._newest: FetchedGeneration | None = None  # replaced whole; what began with the one before ends with it
        self._looked_at = -float("inf")
        self.failure = ""  # of the last check for a newer generation; empty if it succeeded
        self._looking = threading.Lock()  # held by the thread that looks in the background
        super().__init__(self._begin(None).database.folder.parents[1])  # of the index, where its segments are

    # -- as of any database --------------------------------------------------------------------------------------------

    @property
    def path(self) -> Path:
        """The path of the SQLite file of the newest generation."""
        return self._current().database.path

    @property
    def shown_name(self) -> str:
        """The URI of the store."""
        return shown_uri(self._cache.uri)

    def check_writable(self) -> None:
        """Raise UsageError, naming where the index is written."""
        raise UsageError(
            f"{self.shown_name} is a published snapshot, which is read-only; the index is written at "
            f"{self._current().written_at}: run the command there"
        )

    @contextmanager
    def reading(self) -> Iterator[sqlite3.Connection]:
        """Open a read transaction of the newest fetched generation, which it sees to its end."""
        own: sqlite3.Connection | None = getattr(self._local, "db", None)
        if own is not None:
            yield own
            return
        self.check_open()
        self._look_if_due()
        with ExitStack() as transaction:
            transaction.enter_context(self._explained())
            try:
                db = transaction.enter_context(self._current().database.reading())
            except IndexNotFound:  # it was deleted from the cache: fetch it again
                self.close()
                db = transaction.enter_context(self._current().database.reading())
            self._local.db = db
            try:
                yield db
            finally:
                self._local.db = None

    def close(self) -> None:
        """Close the files. They are opened again with the next use."""
        newest, self._newest = self._newest, None
        if newest is not None:
            newest.database.close()

    @contextmanager
    def _explained(self) -> Iterator[None]:
        """Add to the error of a damaged index that this is a cached copy, which is fetched again once it is deleted."""
        try:
            yield
        except IndexDamaged as error:
            raise IndexDamaged(
                f"the copy of {self.shown_name} in {self._cache.folder} is damaged ({error}); delete that folder and "
                "it will be fetched again"
            ) from error

    # -- following -----------------------------------------------------------------------------------------------------

    def look(self) -> bool:
        """Check for a newer generation, fetch it and switch to it; return whether there was one.

        Raises StorageError where the store cannot be reached, and IndexDamaged for what is wrong there: then the
        current generation continues to answer.
        """
        with self._moving:
            newest = self._current()
            try:
                pointer = self._fetch_newest(newest.pointer, newest.pointer.index)
            except Exception as error:
                self._note(str(error))
                raise
            self._note("")
            if pointer == newest.pointer:
                self._cache.touch(pointer)
                return False
            self._move_to(pointer)
            logger.info("%s: moved to generation %d", self.shown_name, pointer.generation)
            return True

    def _current(self) -> FetchedGeneration:
        """The newest fetched generation; found again after `close`."""
        return self._newest or self._begin(self.folder.name)

    def _begin(self, index: str | None) -> FetchedGeneration:
        """Find the generation to begin with: the newest of the store or, if that cannot be reached, of the cache.

        `index`: the id that it must have, if this is not the first time. Raises IndexNotFound where nothing is
        published, StorageError, IndexDamaged.
        """
        with self._moving:
            if self._newest is not None:  # another thread did it
                return self._newest
            try:
                pointer, failure = self._fetch_newest(None, index), ""
            except (SemsearchError, OSError) as error:
                here = self._cache.newest()
                if here is None or index not in (None, here.index):
                    raise
                pointer, failure = here, str(error)
                logger.warning("%s; using generation %d, which was fetched earlier", error, here.generation)
            with self._explained():
                newest = self._move_to(pointer)
            self.failure, self._looked_at = failure, time.monotonic()
            return newest

    def _fetch_newest(self, current: CurrentPointer | None, index: str | None) -> CurrentPointer:
        """Return the pointer of the store, once its generation is in the cache. `index`: the id that it must have.

        Raises IndexNotFound where nothing is published, StorageError, and IndexDamaged for what is wrong there.
        """
        for attempt in range(_ATTEMPTS):
            pointer = get_pointer(self._store)
            if pointer is None:
                raise IndexNotFound(
                    f"no snapshot is published at {self.shown_name}; publish one with: semsearch publish PLACE"
                )
            if pointer == current:
                return pointer
            if index is not None and pointer.index != index:
                raise IndexDamaged(f"{self.shown_name} now holds another index; open it again to search that one")
            if current is not None and pointer.generation < current.generation:
                raise IndexDamaged(f"{self.shown_name} went back to generation {pointer.generation}")
            try:
                with self._cache.locked():
                    if not self._cache.is_whole(pointer):
                        self._cache.fetch(self._store, pointer, get_manifest(self._store, pointer))
                    self._cache.keep(pointer)
                return pointer
            except (FileNotFoundError, IndexDamaged) as error:  # perhaps it was replaced and swept meanwhile
                if attempt == _ATTEMPTS - 1 or get_pointer(self._store) == pointer:
                    raise IndexDamaged(f"generation {pointer.generation} of {self.shown_name}: {error}") from error
        raise AssertionError("the last attempt returns or raises")

    def _move_to(self, pointer: CurrentPointer) -> FetchedGeneration:
        """Open a fetched generation for the next transactions."""
        database = IndexDatabase(self._cache.generation_folder(pointer))
        with database.reading():  # so that the first search finds an open connection
            manifest = self._cache.manifest(pointer)
        before, newest = self._newest, FetchedGeneration(pointer, database, manifest.written_at)
        self._newest = newest
        if before is not None:
            before.database.close()  # a connection that is lent is closed when it comes back
        self._cache.touch(pointer)
        with suppress(SemsearchError, OSError), self._cache.locked():
            self._cache.clean()
        return newest

    def _look_if_due(self) -> None:
        """Check for a newer generation in a thread, if that is due and none is checking."""
        if time.monotonic() - self._looked_at >= self._every and self._looking.acquire(blocking=False):
            threading.Thread(target=self._look_quietly, daemon=True, name="semsearch-follow").start()

    def _look_quietly(self) -> None:
        try:
            with suppress(Exception):  # noted
                if self._newest is not None:  # not closed meanwhile
                    self.look()
        finally:
            self._looking.release()

    def _note(self, failure: str) -> None:
        if failure and failure != self.failure:
            generation = self._newest.pointer.generation if self._newest else 0
            logger.warning("%s; still using generation %d", failure, generation)
        elif self.failure and not failure:
            logger.warning("%s can be reached again", self.shown_name)
        self.failure, self._looked_at = failure, time.monotonic()


def follow(uri: str, *, every: float = LOOK_EVERY, seconds: float = SECONDS) -> FollowedDatabase:
    """Open the database of a store, which follows it; `Index.open(uri)` calls this.

    `every`: seconds between two checks for a newer snapshot. `seconds`: how long each answer of the store may take.
    Raises IndexNotFound where nothing is published, UsageError, MissingExtra; StorageError where the store cannot be
    reached and nothing was fetched earlier.
    """
    whole = canonical(uri)
    return FollowedDatabase(open_snapshot_store(whole, seconds=seconds), SnapshotCache.of(whole), every=every)
