"""The SQLite database of an index: its transactions.

Readers open it read-only and never lock; each search is one read transaction, which sees one generation whole.
"""

from __future__ import annotations

import sqlite3
import threading
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING

from semsearch.errors import IndexNotFound, StorageError, UsageError
from semsearch.storage.connections import DATABASE, connect
from semsearch.storage.explained import explained
from semsearch.storage.reader_pool import FileId, ReaderPool, file_id
from semsearch.storage.sums.seals import check_seals, seal

if TYPE_CHECKING:
    from semsearch.results.state.publication import PublicationStatus

SEGMENTS = "segments"


class CommitInDoubt(StorageError):
    """The disk failed at a commit. It is in the log, flushed or not, and who opens the database next may find it there.

    So what the new generation names must stay until the next write, which sees whether it is there.
    """


class IndexDatabase:
    """The database of one index folder. Threads may share it: each transaction has a connection to itself."""

    is_copy: bool = False  # of an index that is written elsewhere, where its files lie

    def __init__(self, folder: Path) -> None:
        """Raises UsageError for a folder whose name is not Unicode, which neither SQLite nor FAISS opens."""
        try:
            str(folder.absolute()).encode()
        except UnicodeEncodeError:
            raise UsageError(f"{str(folder.absolute())!a} is not valid Unicode; let an index be elsewhere") from None
        self.folder = folder
        self._own = threading.local()  # db: the connection of the transaction that this thread is in
        self._readers = ReaderPool(folder)

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
        return getattr(self._own, "times_replaced", self._readers.times_replaced)

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
        with explained(self.folder, writes=False):
            own: sqlite3.Connection | None = getattr(self._own, "db", None)
            if own is not None:
                yield own
                return
            with self._readers.lend() as (db, times_replaced):
                db.execute("BEGIN")
                self._own.db, self._own.times_replaced = db, times_replaced
                try:
                    yield db
                finally:
                    self._own.db = None
                    db.execute("ROLLBACK")

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
                file = file_id(self.path)  # not before: a file of an image's layer becomes another when it is opened
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

    def _check_there(self, file: FileId | None) -> None:
        """Check that the database is still the file that it was. Raises IndexNotFound."""
        if file is None or file_id(self.path) != file:
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
        self._readers.close()


def _commit(connection: sqlite3.Connection, folder: Path) -> None:
    try:
        connection.execute("COMMIT")
    except sqlite3.OperationalError as error:
        if "disk I/O error" not in str(error):
            raise
        raise CommitInDoubt(
            f"the disk of {folder} is failing ({error}) at the end of a write, which may be there or not; run it again"
        ) from error
