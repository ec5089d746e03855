"""The connections that read the database of an index folder, kept from one transaction to the next.

SQLite goes on reading a file that was deleted or renamed, as if nothing had happened. So it is looked before each
transaction whether the database is still the file that the connections have open.
"""

from __future__ import annotations

import os
import sqlite3
import threading
import weakref
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

from semsearch.errors import IndexNotFound
from semsearch.storage.connections import DATABASE, open_reader
from semsearch.system import forks

FileId = tuple[int, int]  # device and inode; as long as a connection has a file open, no other file gets them
_IDLE = 8  # connections that are kept: with more threads than that at once, some open theirs anew


class LentConnection(NamedTuple):
    """A connection for one transaction, and how often another index had taken the place of the first one by then."""

    db: sqlite3.Connection
    times_replaced: int


class ReaderPool:
    """The readers' connections of one index folder. Threads may share it: none has the connection of another."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._lock = threading.Lock()
        self._idle: list[sqlite3.Connection] = []
        self._file: FileId | None = None  # what the idle ones read
        self._times_closed = 0
        self.times_replaced = 0
        weakref.finalize(self, _close_all, self._idle)  # of an index that nobody closed
        forks.tell(self)

    @contextmanager
    def lend(self) -> Iterator[LentConnection]:
        """Lend a connection to the file that is there: of the idle ones the last used, with most pages in its cache.

        Raises IndexNotFound if there is none.
        """
        file = file_id(self._folder / DATABASE)
        with self._lock:
            stale = self._found(file)
            times_closed, times_replaced = self._times_closed, self.times_replaced
            db = self._idle.pop() if self._idle else None
        _close_all(stale)
        if file is None:
            raise IndexNotFound(f"there is no index at {self._folder} any more: it was deleted or moved")
        db = db or open_reader(self._folder)
        is_done = False  # an error may leave rows unread, and SQLite refuses some things as long as there are any
        try:
            yield LentConnection(db, times_replaced)
            is_done = True
        finally:
            with self._lock:
                keep = is_done and times_closed == self._times_closed
                keep = keep and len(self._idle) < _IDLE and not db.in_transaction
                if keep:
                    self._idle.append(db)
            if not keep:
                db.close()

    def close(self) -> None:
        """Close the connections; one that is lent is closed when it comes back."""
        with self._lock:
            idle = self._give_up()
        _close_all(idle)

    def before_fork(self) -> None:
        """Close the connections: another process has none of the locks that SQLite believes them to have."""
        self.close()

    def after_fork(self) -> None:
        """Begin anew in the child, where the thread that may have held the lock is not there."""
        self._lock = threading.Lock()

    def _found(self, file: FileId | None) -> list[sqlite3.Connection]:
        """Note which file the database is; the connections to another one, which are to be closed."""
        if file == self._file:
            return []
        before, self._file = self._file, file
        if before is None:
            return []
        self.times_replaced += 1
        return self._give_up()

    def _give_up(self) -> list[sqlite3.Connection]:
        """Keep none of the connections that there are; the idle ones, which are to be closed."""
        self._times_closed += 1
        return [self._idle.pop() for _ in range(len(self._idle))]


def file_id(path: Path) -> FileId | None:
    """What tells a file from another one of its name; None if there is none."""
    try:
        found = os.stat(path)  # noqa: PTH116  # a quarter of Path's time, and every query pays it
    except (FileNotFoundError, NotADirectoryError):
        return None
    return found.st_dev, found.st_ino


def _close_all(connections: list[sqlite3.Connection]) -> None:
    for db in connections:
        db.close()
