"""The SQLite database of an index: its transactions.

Readers open it read-only and never lock; each search is one read transaction, which sees one generation whole.
"""

from __future__ import annotations

import os
import sqlite3
import threading
import weakref
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING

from semsearch.errors import IndexNotFound, StorageError
from semsearch.storage.connections import DATABASE, connect, open_reader
from semsearch.storage.explained import explained
from semsearch.storage.sums.seals import check_seals, seal
from semsearch.system import forks

if TYPE_CHECKING:
    from semsearch.results.state.publication import PublicationStatus

SEGMENTS = "segments"
_IDLE = 8  # readers' connections that are kept: with more threads than that at once, some open theirs anew


class CommitInDoubt(StorageError):
    """The disk failed at a commit. It is in the log, flushed or not, and who opens the database next may find it there.

    So what the new generation names must stay until the next write, which sees whether it is there.
    """


class IndexDatabase:
    """The database of one index folder. Threads may share it: each transaction has a connection to itself.

    A reader's connection is lent for one transaction and then kept for the next one, of whatever thread; unless the
    file was deleted, moved or replaced by another meanwhile, which SQLite would not see.
    """

    is_copy: bool = False  # of an index that is written elsewhere, where its files lie

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._own = threading.local()  # db: the connection of the transaction that this thread is in
        self._lock = threading.Lock()
        self._idle: list[sqlite3.Connection] = []
        self._file: tuple[int, int] | None = None  # device and inode of what the idle ones read
        self._times_closed = 0
        self._times_replaced = 0
        weakref.finalize(self, _close_all, self._idle)  # of an index that nobody closed
        forks.tell(self)

    @property
    def path(self) -> Path:
        """The path of the SQLite file."""
        return self.folder / DATABASE

    @property
    def shown_name(self) -> str:
        """What people are told that the index is: its folder, or the place that it is read from."""
        return str(self.folder)

    @property
    def times_replaced(self) -> int:
        """How often another index was found in the place of the one before, when this thread's transaction began."""
        return getattr(self._own, "times_replaced", self._times_replaced)

    def check_writable(self) -> None:
        """Check that the index can be written here. A copy of what is written elsewhere raises UsageError."""

    def vectors_uri(self, uri: str) -> str:
        """The URI at which this machine reaches the vectors that the index says are at another."""
        return uri

    def publication(self) -> PublicationStatus | None:
        """Where the index is published, or read from; None if neither."""
        from semsearch.storage.publication import publication_of  # start-up time: a search needs none of it

        with self.reading() as db:
            return publication_of(db, self.folder)

    @contextmanager
    def reading(self) -> Iterator[sqlite3.Connection]:
        """Open a read transaction: all that is read inside is of one generation. A nested one is the same one."""
        with explained(self.folder):
            own: sqlite3.Connection | None = getattr(self._own, "db", None)
            if own is not None:
                yield own
                return
            with self._lent() as db:
                db.execute("BEGIN")
                self._own.db = db
                try:
                    yield db
                finally:
                    self._own.db = None
                    db.execute("ROLLBACK")

    @contextmanager
    def _lent(self) -> Iterator[sqlite3.Connection]:
        """Lend a reader's connection: of the idle ones the last used, which has most pages in its cache."""
        file = _identity(self.path)
        with self._lock:
            stale = self._found(file)
            times_closed, self._own.times_replaced = self._times_closed, self._times_replaced
            db = self._idle.pop() if self._idle else None
        _close_all(stale)
        if file is None:
            raise IndexNotFound(f"there is no index at {self.folder} any more: it was deleted or moved")
        db = db or open_reader(self.folder)
        is_done = False  # an error may leave rows unread, and SQLite refuses some things as long as there are any
        try:
            yield db
            is_done = True
        finally:
            with self._lock:
                keep = is_done and times_closed == self._times_closed
                keep = keep and len(self._idle) < _IDLE and not db.in_transaction
                if keep:
                    self._idle.append(db)
            if not keep:
                db.close()

    @contextmanager
    def writing(self, *, derived: bool = True) -> Iterator[sqlite3.Connection]:
        """Open a write transaction: the COMMIT at its end is the one point at which a new generation begins.

        Without `derived` the list of segments may be damaged: all of them are about to be made again. Raises
        IndexDamaged if what was sealed is not as it was, CommitInDoubt if the disk fails at the end, IndexNotFound if
        the index was deleted or moved meanwhile, or is another one now.
        """
        with explained(self.folder):
            connection = connect(self.path, "rw")
            try:
                connection.execute("PRAGMA synchronous = FULL")
                connection.execute("BEGIN IMMEDIATE")
                file = _identity(self.path)  # not before: a file of an image's layer becomes another when it is opened
                try:
                    check_seals(connection, derived=derived)
                    yield connection
                    seal(connection)
                    self._check_there(file)
                except BaseException as error:
                    if connection.in_transaction:
                        connection.execute("ROLLBACK")
                    if isinstance(error, Exception):
                        self._check_there(file)
                    raise
                _commit(connection, self.folder)
            finally:
                self.close()  # so that the writer is the last to go, and merges the log into the database
                connection.close()

    def _check_there(self, file: tuple[int, int] | None) -> None:
        """Check that the database is still the file that it was. Raises IndexNotFound."""
        if file is None or _identity(self.path) != file:
            raise IndexNotFound(
                f"the index at {self.folder} was deleted or moved while it was written; nothing was kept"
            )

    def last_written(self) -> tuple[int, ...]:
        """Numbers that change with every commit: the times and sizes of the database and of its log."""
        numbers: list[int] = []
        for file in (self.path, self.path.with_name(f"{DATABASE}-wal")):
            with suppress(FileNotFoundError):
                found = file.stat()
                numbers += [found.st_mtime_ns, found.st_size]
        return tuple(numbers)

    def schema(self) -> int:
        """The version of the tables; 0 if there are none."""
        with explained(self.folder), closing(connect(self.path, "rwc")) as connection:
            return int(connection.execute("PRAGMA user_version").fetchone()[0])

    def close(self) -> None:
        """Close the readers' connections; one that is in a transaction is closed at the end of it."""
        with self._lock:
            idle = self._give_up()
        _close_all(idle)

    def _found(self, file: tuple[int, int] | None) -> list[sqlite3.Connection]:
        """Note which file the database is; the connections to another one, which are to be closed."""
        if file == self._file:
            return []
        before, self._file = self._file, file
        if before is None:
            return []
        self._times_replaced += 1
        return self._give_up()

    def _give_up(self) -> list[sqlite3.Connection]:
        """Keep none of the connections that there are; the idle ones, which are to be closed."""
        self._times_closed += 1
        return [self._idle.pop() for _ in range(len(self._idle))]

    def before_fork(self) -> None:
        """Close the readers' connections: what SQLite believes of them is not true in another process."""
        self.close()

    def after_fork(self) -> None:
        """Begin anew in the child, where no thread goes on that may have been in a transaction."""
        self._own, self._lock = threading.local(), threading.Lock()


def _commit(connection: sqlite3.Connection, folder: Path) -> None:
    try:
        connection.execute("COMMIT")
    except sqlite3.OperationalError as error:
        if "disk I/O error" not in str(error):
            raise
        raise CommitInDoubt(
            f"the disk of {folder} is failing ({error}) at the end of a write, which may be there or not; run it again"
        ) from error


def _identity(path: Path) -> tuple[int, int] | None:
    """The device and inode of a file; None if there is none. While a connection is open, no other file gets them."""
    try:
        found = os.stat(path)  # noqa: PTH116  # a quarter of Path's time, and every query pays it
    except (FileNotFoundError, NotADirectoryError):
        return None
    return found.st_dev, found.st_ino


def _close_all(connections: list[sqlite3.Connection]) -> None:
    for db in connections:
        db.close()
