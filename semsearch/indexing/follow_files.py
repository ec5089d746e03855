"""An index that follows its files: a sync of everything, and then of each path at which something has changed."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager
from dataclasses import dataclass, field

from semsearch.errors import IndexLocked
from semsearch.indexing.changes import find_changes_at
from semsearch.indexing.index_writer import IndexWriter
from semsearch.results.reports import SyncReport
from semsearch.storage.catalogue import get_roots
from semsearch.storage.database import IndexDatabase

logger = logging.getLogger(__name__)


@dataclass(slots=True)
class Follower:
    """Keeps an index up to date while batches of changed paths come (semsearch.sources.file_events).

    `writer` takes the writer's lock. Where another process has it, what has changed waits for the next batch.
    """

    database: IndexDatabase
    writer: Callable[[], AbstractContextManager[IndexWriter]]
    max_file_bytes: int
    processes: int
    _is_first: bool = True
    _waiting: set[str] = field(default_factory=set)

    def follow(self, batches: Iterable[frozenset[str]]) -> Iterator[SyncReport]:
        """Sync everything at the first batch, then what each names; yield the reports of syncs that did something."""
        for batch in batches:
            self._waiting |= self._outside(batch)
            try:
                done = self._sync()
            except IndexLocked:
                continue
            self._waiting.clear()
            if done is not None:
                yield done

    def _outside(self, paths: Iterable[str]) -> set[str]:
        """Paths outside the index itself, which may lie in a root: its own changes are irrelevant events."""
        index_folder = self.database.folder.resolve().as_posix()
        return {path for path in paths if not f"{path}/".startswith(f"{index_folder}/")}

    def _sync(self) -> SyncReport | None:
        """The report of what there was to do; None where there was nothing."""
        if self._is_first:
            with self.writer() as writer:
                done = writer.sync(
                    (),
                    include=(),
                    exclude=(),
                    prune=False,
                    max_file_bytes=self.max_file_bytes,
                    processes=self.processes,
                )
            self._is_first = False
            return done
        if not self._waiting or self._is_no_news():
            return None
        with self.writer() as writer:
            return writer.sync_at(self._waiting, max_file_bytes=self.max_file_bytes, processes=self.processes)

    def _is_no_news(self) -> bool:
        """Tell whether the changed paths need no sync. Takes no write lock, which others may need."""
        with self.database.reading() as db:
            seen = find_changes_at(db, self._waiting, max_bytes=self.max_file_bytes)
            return seen.nothing_to_do and not seen.warnings


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
