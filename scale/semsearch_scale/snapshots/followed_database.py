"""The database of a published index, for a reader: the newest snapshot that was fetched, and each newer one after it.

A search is answered by the generation with which its transaction began. While the database is used, a thread checks
every few seconds for a newer generation, by reading one small object, and fetches it in the background; later searches
use it. While the snapshot store cannot be reached, the fetched generation continues to answer.
"""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Collection, Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING
from weakref import ReferenceType, finalize, ref

from semsearch.errors import IndexDamaged, IndexNotFound, SemsearchError, UsageError
from semsearch.storage.database import IndexDatabase
from semsearch.system.locations import shown_uri
from semsearch_scale.objects.remote_files import SECONDS
from semsearch_scale.publication import get_place
from semsearch_scale.snapshots.publisher import get_manifest, get_pointer
from semsearch_scale.snapshots.snapshot_cache import GenerationLease, SnapshotCache
from semsearch_scale.snapshots.snapshot_format import CurrentPointer, PublishedManifest
from semsearch_scale.snapshots.snapshot_store import SnapshotStore, open_snapshot_store
from semsearch_scale.snapshots.store_uris import LOOK_EVERY, canonical, is_beside, vectors_beside

if TYPE_CHECKING:
    import sqlite3

# -- Fetching the newest generation ------------------------------------------------------------------------------------

_ATTEMPTS = 3  # at a generation that is swept while it is fetched


@dataclass(frozen=True, slots=True)
class GenerationFetcher:
    """Fetches generations of a store for one reader, which holds leases on them in the cache."""

    store: SnapshotStore
    cache: SnapshotCache
    lease: GenerationLease

    def fetch_newest(self, now: CurrentPointer | None, *, index: str | None, used: Collection[str]) -> CurrentPointer:
        """Return the pointer of the store, once its generation is in the cache.

        `now`: that of the current generation. `index`: the id that it must have, if any. `used`: the manifests of
        generations that are still used. Raises IndexNotFound where nothing is published,
        StorageError, and IndexDamaged for what is wrong there.
        """
        for attempt in range(_ATTEMPTS):
            pointer = get_pointer(self.store)
            if pointer is None:
                raise IndexNotFound(
                    f"no snapshot is published at {self._shown}; publish one with: semsearch publish PLACE"
                )
            if pointer == now:
                return pointer
            self._check_follows(pointer, now, index)
            try:
                self._fetch(pointer, used)
                return pointer
            except (FileNotFoundError, IndexDamaged) as error:  # perhaps it was replaced and swept meanwhile
                if attempt == _ATTEMPTS - 1 or get_pointer(self.store) == pointer:
                    raise IndexDamaged(f"generation {pointer.generation} of {self._shown}: {error}") from error
        raise AssertionError("the last attempt returns or raises")

    def newest_here(self, *, index: str | None, used: Collection[str]) -> CurrentPointer | None:
        """The newest generation that was fetched earlier, kept from now on; None if there is none of that index."""
        if self.cache.newest() is None:
            return None
        with self.cache.locked():
            here = self.cache.newest()
            if here is None or index not in (None, here.index):
                return None
            self.lease.uses({here.manifest, *used})
            return here

    def clean(self) -> None:
        """Delete what no reader uses any more, as far as possible."""
        with suppress(SemsearchError, OSError), self.cache.locked():
            self.cache.clean(self.lease)

    def _fetch(self, pointer: CurrentPointer, used: Collection[str]) -> None:
        with self.cache.locked():
            if not self.cache.is_whole(pointer):
                self.cache.fetch(self.store, pointer, get_manifest(self.store, pointer))
            self.cache.keep(pointer)
            self.lease.uses({pointer.manifest, *used})

    def _check_follows(self, pointer: CurrentPointer, now: CurrentPointer | None, index: str | None) -> None:
        """Raise IndexDamaged for a pointer that leads to another index, or back."""
        if index is not None and pointer.index != index:
            raise IndexDamaged(f"{self._shown} now holds another index; open it again to search that one")
        if now is not None and pointer.generation < now.generation:
            raise IndexDamaged(f"{self._shown} went back to generation {pointer.generation}")

    @property
    def _shown(self) -> str:
        return shown_uri(self.cache.uri)


# -- Following it ------------------------------------------------------------------------------------------------------

logger = logging.getLogger(__name__)


@dataclass(slots=True)
class FetchedGeneration:
    """A fetched generation, with the number of transactions that see it."""

    pointer: CurrentPointer
    database: IndexDatabase
    transactions: int = 0


class FollowedDatabase(IndexDatabase):
    """A database that is read from a store, and follows it. `every`: seconds between two checks."""

    is_copy = True

    def __init__(self, store: SnapshotStore, cache: SnapshotCache, *, every: float) -> None:
        self._cache = cache
        self._every = every
        self._state = threading.Lock()  # guards what follows
        self._moving = threading.RLock()  # held while checking for a newer generation
        self._lease = GenerationLease(cache.leases)
        self._fetcher = GenerationFetcher(store, cache, self._lease)
        self._newest: FetchedGeneration | None = None
        self._older: list[FetchedGeneration] = []  # which transactions still see
        self._failure = ""
        self._looked_at = -float("inf")
        self._written_at = ""
        self._wake = threading.Event()
        self._thread: threading.Thread | None = None
        super().__init__(self._begin(None))
        finalize(self, self._wake.set)  # then the thread ends

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
            f"{self._written_at}: run the command there"
        )

    @contextmanager
    def writing(self, *, derived: bool = True) -> Iterator[sqlite3.Connection]:  # noqa: ARG002  # of what is refused
        """Raise UsageError, as `check_writable`."""
        self.check_writable()
        yield from ()

    def vectors_uri(self, uri: str) -> str:
        """The URI of vectors for this reader; beside the snapshots, with the host and user of its own URI."""
        return vectors_beside(self._cache.uri, uri) if self.is_beside(uri) else uri

    def is_beside(self, uri: str) -> bool:
        """Return whether vectors at a URI lie beside the snapshots."""
        with self.reading() as db:
            return is_beside(get_place(db), uri)

    @property
    def failure(self) -> str:
        """Why the last check for a newer generation failed; empty if it did not."""
        return self._failure

    @contextmanager
    def reading(self) -> Iterator[sqlite3.Connection]:
        """Open a read transaction of the newest fetched generation, which it sees to its end."""
        own: sqlite3.Connection | None = getattr(self._own, "db", None)
        if own is not None:
            yield own
            return
        self._check_open()
        self._wake_if_due()
        with ExitStack() as transaction:
            try:
                db = self._begun(transaction)
            except IndexNotFound:  # the cache was deleted: fetch it again
                transaction.close()
                self.close()
                db = self._begun(transaction)
            self._own.db = db
            try:
                yield db
            finally:
                self._own.db = None

    def _begun(self, transaction: ExitStack) -> sqlite3.Connection:
        generation = transaction.enter_context(self._seen())
        transaction.enter_context(self._explained())
        return transaction.enter_context(generation.database.reading())

    def look(self) -> bool:
        """Check for a newer generation, fetch it and switch to it; return whether there was one.

        Raises StorageError where the store cannot be reached, and IndexDamaged for what is wrong there: then the
        current generation continues to answer.
        """
        with self._moving:
            try:
                is_newer = self._look()
            except Exception as error:
                self._note(str(error))
                raise
            self._note("")
            return is_newer

    def look_if_due(self) -> None:
        """Check, unless it was done just now."""
        if time.monotonic() - self._looked_at >= self._every:
            self.look()

    def is_left_by(self, thread: threading.Thread) -> bool:
        """Return whether a thread has been replaced, or is no longer needed."""
        with self._state:
            return self._thread is not thread

    def close(self) -> None:
        """Close the files, and stop following. Both begin again with the next use."""
        with self._state:
            generations = [*self._older, *([self._newest] if self._newest else [])]
            thread, self._thread = self._thread, None
            self._newest, self._older = None, [each for each in generations if each.transactions]
            if not self._older:
                self._lease.leave()
        if thread is not None:
            self._wake.set()
        for each in generations:
            each.database.close()

    def _begin(self, index: str | None) -> Path:
        """Find the generation to begin with: the newest of the store or, if that cannot be reached, of the cache.

        `index`: the id that it must have, if this is not the first time. Returns the folder of its index. Raises
        IndexNotFound where nothing is published, StorageError, IndexDamaged.
        """
        with self._moving:
            if self._newest is not None:  # another thread did it
                return self.folder
            try:
                pointer, failure = self._fetcher.fetch_newest(None, index=index, used=self._used()), ""
            except (SemsearchError, OSError) as error:
                here = self._fetcher.newest_here(index=index, used=self._used())
                if here is None:
                    raise
                pointer, failure = here, str(error)
                logger.warning("%s; using generation %d, which was fetched earlier", error, here.generation)
            with self._explained():
                self._move_to(pointer)
            self._failure, self._looked_at = failure, time.monotonic()
            return self._cache.index_folder(pointer)

    def _current(self) -> FetchedGeneration:
        """The newest fetched generation; found again after `close`."""
        with self._state:
            newest = self._newest
        if newest is None:
            self._begin(self.folder.name)
            with self._state:
                newest = self._newest
            assert newest is not None
        return newest

    @contextmanager
    def _seen(self) -> Iterator[FetchedGeneration]:
        """Keep a generation for a transaction."""
        while True:
            generation = self._current()
            with self._state:
                if generation is self._newest:
                    generation.transactions += 1
                    break
        try:
            yield generation
        finally:
            self._leave(generation)

    def _leave(self, generation: FetchedGeneration) -> None:
        with self._state:
            generation.transactions -= 1
            if generation.transactions or generation is self._newest:
                return
            self._older = [each for each in self._older if each is not generation]
            self._update_lease()
        generation.database.close()

    def _update_lease(self) -> None:
        used = [each.pointer.manifest for each in (*self._older, *([self._newest] if self._newest else []))]
        with suppress(OSError):
            self._lease.uses(used) if used else self._lease.leave()

    def _look(self) -> bool:
        newest = self._current()
        pointer = self._fetcher.fetch_newest(newest.pointer, index=newest.pointer.index, used=self._used())
        if pointer == newest.pointer:
            return False
        self._move_to(pointer)
        logger.info("%s: moved to generation %d", self.shown_name, pointer.generation)
        return True

    def _used(self) -> list[str]:
        with self._state:
            return [each.pointer.manifest for each in (*self._older, *([self._newest] if self._newest else []))]

    def _move_to(self, pointer: CurrentPointer) -> None:
        """Let the next transactions see a fetched generation."""
        folder = self._cache.generation_folder(pointer)
        database = IndexDatabase(folder)
        with database.reading():  # so that the first search finds an open connection
            manifest = PublishedManifest.from_bytes((folder / "manifest.json").read_bytes())
        with self._state:
            before, self._newest = self._newest, FetchedGeneration(pointer, database)
            self._written_at = manifest.written_at
            if before is not None and before.transactions:
                self._older.append(before)
            self._update_lease()
        if before is not None and not before.transactions:
            before.database.close()
        self._fetcher.clean()

    def _wake_if_due(self) -> None:
        """Wake the following thread if a check is due; start it if there is none."""
        if time.monotonic() - self._looked_at < self._every:
            return
        with self._state:
            if self._thread is None or not self._thread.is_alive():
                self._thread = threading.Thread(
                    target=_follow_until_closed, args=(ref(self), self._wake), daemon=True, name="semsearch-follow"
                )
                self._thread.start()
        self._wake.set()

    def _note(self, failure: str) -> None:
        if failure and failure != self._failure:
            generation = self._newest.pointer.generation if self._newest else 0
            logger.warning("%s; still using generation %d", failure, generation)
        elif self._failure and not failure:
            logger.warning("%s can be reached again", self.shown_name)
        self._failure, self._looked_at = failure, time.monotonic()

    @contextmanager
    def _explained(self) -> Iterator[None]:
        """Let an error of a damaged index say that this is a cached copy, which is fetched again once it is deleted."""
        try:
            yield
        except IndexDamaged as error:
            raise IndexDamaged(
                f"the copy of {self.shown_name} in {self._cache.folder} is damaged ({error}); delete that folder and "
                "it will be fetched again"
            ) from error


def _follow_until_closed(of: ReferenceType[FollowedDatabase], wake: threading.Event) -> None:
    """Check whenever woken, as long as the database is open."""
    while True:
        wake.wait()
        wake.clear()
        database = of()
        if database is None or database.is_left_by(threading.current_thread()):
            return
        with suppress(Exception):  # noted, and reported by the status
            database.look_if_due()
        del database


def follow(uri: str, *, every: float = LOOK_EVERY, seconds: float = SECONDS) -> FollowedDatabase:
    """Open the database of a store, which follows it; `Index.open(uri)` calls this.

    `every`: seconds between two checks for a newer snapshot. `seconds`: how long each answer of the store may take.

    Raises IndexNotFound where nothing is published, UsageError, MissingExtra; StorageError where the store cannot be
    reached and nothing was fetched earlier.
    """
    whole = canonical(uri)
    return FollowedDatabase(open_snapshot_store(whole, seconds=seconds), SnapshotCache.of(whole), every=every)
