"""An index that follows its files: a sync of everything, and then of each path at which something has changed."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager

from semsearch.errors import IndexLocked, UsageError
from semsearch.indexing.changes import find_changes_at
from semsearch.indexing.index_writer import IndexWriter
from semsearch.results.reports import SyncReport
from semsearch.sources.file_events import changed_paths
from semsearch.storage.database import IndexDatabase
from semsearch.storage.known_files import get_roots

logger = logging.getLogger(__name__)


def follow(
    database: IndexDatabase,
    writer: Callable[[], AbstractContextManager[IndexWriter]],
    stop: threading.Event,
    *,
    max_file_bytes: int,
    processes: int,
) -> Iterator[SyncReport]:
    """Sync everything, then what changes, until `stop` is set; yield the reports of syncs that did something.

    `writer` takes the writer's lock. `Index.watch` says the rest. Raises UsageError for an index without roots here.
    """
    with database.reading() as db:
        roots = get_roots(db)
    elsewhere = ", ".join(root.path for root in roots if root.is_remote)
    if all(root.is_remote for root in roots):
        why = f"; object stores report no changes, so {elsewhere} can only be synced" if elsewhere else ""
        raise UsageError(f"the index {database.folder} has no roots to watch; give it a file or folder with sync{why}")
    if elsewhere:
        logger.warning("%s: not watched, because object stores report no changes; sync it", elsewhere)
    batches = changed_paths(RootsOf(database), stop)
    return sync_changes(database, writer, batches, max_file_bytes=max_file_bytes, processes=processes)


def sync_changes(
    database: IndexDatabase,
    writer: Callable[[], AbstractContextManager[IndexWriter]],
    batches: Iterable[frozenset[str]],
    *,
    max_file_bytes: int,
    processes: int,
) -> Iterator[SyncReport]:
    """Sync everything at the first batch of changed paths, then what each names.

    While another process has the writer's lock, what has changed waits for the next batch.
    """
    index_folder = database.folder.resolve().as_posix()
    is_synced, waiting = False, set[str]()
    for batch in batches:
        waiting |= {path for path in batch if not f"{path}/".startswith(f"{index_folder}/")}  # not its own changes
        try:
            if not is_synced:
                with writer() as opened:
                    report = opened.sync((), max_file_bytes=max_file_bytes, processes=processes)
                is_synced = True
            elif waiting and _has_changes(database, waiting, max_file_bytes):
                with writer() as opened:
                    report = opened.sync_at(waiting, max_file_bytes=max_file_bytes, processes=processes)
            else:
                waiting.clear()
                continue
        except IndexLocked:
            continue
        waiting.clear()
        yield report


def _has_changes(database: IndexDatabase, paths: set[str], max_file_bytes: int) -> bool:
    """Return whether changed paths need a sync. Takes no write lock, which others may need."""
    with database.reading() as db:
        changes = find_changes_at(db, paths, max_bytes=max_file_bytes)
        return not changes.nothing_to_do or bool(changes.warnings)


class RootsOf:
    """The roots of an index on this machine: read again after each write to its database, by any process."""

    def __init__(self, database: IndexDatabase) -> None:
        self._database = database
        self._written: tuple[int, ...] = ()
        self._roots: tuple[str, ...] = ()

    def __call__(self) -> tuple[str, ...]:
        written = self._database.last_written()
        if written != self._written:
            with self._database.reading() as db:
                self._roots = tuple(root.path for root in get_roots(db) if not root.is_remote)
            self._written = written
        return self._roots
