"""The SQLite file of an index: how it is opened, what a transaction is, and what its errors mean.

Readers open it read-only and never lock; each search is one read transaction, which sees one generation whole. Where
the medium itself is read-only, SQLite cannot keep its shared-memory file beside the index and is told that nothing
will change. Plain sqlite3, not sqlite-utils, for the sake of start-up time and of millions of rows.
"""

from __future__ import annotations

import errno
import sqlite3
import threading
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from urllib.parse import quote

from semsearch.errors import IndexDamaged, IndexLocked, IndexNotFound, SemsearchError, SourceError, StorageError

DATABASE = "index.sqlite"
SEGMENTS = "segments"
FORMAT = "semsearch index 1"
SCHEMA = 1  # what PRAGMA user_version says after all migrations
_FULL = {errno.ENOSPC, errno.EDQUOT}
_REFUSED = {errno.EROFS, errno.EACCES, errno.EPERM, errno.EFBIG}
_UNREADABLE = {errno.EACCES, errno.EPERM, errno.EIO, errno.ELOOP, errno.ENAMETOOLONG}
_CACHE = -65536  # kilobytes of pages a connection may keep
_IDLE = 8  # readers' connections that are kept: with more threads than that at once, some open theirs anew


class Store:
    """The database of one index folder. Threads may share it: each transaction has a connection to itself.

    A reader's connection is lent for one transaction and then kept for the next one, of whatever thread.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._own = threading.local()  # db: the connection of the transaction that this thread is in
        self._lock = threading.Lock()
        self._idle: list[sqlite3.Connection] = []
        self._times_closed = 0

    @property
    def database(self) -> Path:
        return self.folder / DATABASE

    @contextmanager
    def reading(self) -> Iterator[sqlite3.Connection]:
        """A read transaction: everything read inside is of one generation. One inside another is the same one."""
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
        """A reader's connection, the one that was used last if any is idle: it has most pages in its cache."""
        with self._lock:
            times_closed = self._times_closed
            db = self._idle.pop() if self._idle else None
        db = db or _open_reader(self.folder)
        try:
            yield db
        finally:
            with self._lock:
                keep = times_closed == self._times_closed and len(self._idle) < _IDLE and not db.in_transaction
                if keep:
                    self._idle.append(db)
            if not keep:
                db.close()

    @contextmanager
    def writing(self) -> Iterator[sqlite3.Connection]:
        """A write transaction: the COMMIT at its end is the one point at which a new generation begins."""
        with explained(self.folder):
            connection = _connect(self.database, "rw")
            try:
                connection.execute("PRAGMA synchronous = FULL")
                connection.execute("BEGIN IMMEDIATE")
                try:
                    yield connection
                except BaseException:
                    if connection.in_transaction:
                        connection.execute("ROLLBACK")
                    raise
                connection.execute("COMMIT")
            finally:
                self.close()  # so that the writer is the last to go, and merges the log into the database
                connection.close()

    def schema(self) -> int:
        """Which version its tables have; 0 for none."""
        with explained(self.folder), closing(_connect(self.database, "rwc")) as connection:
            return int(connection.execute("PRAGMA user_version").fetchone()[0])

    def close(self) -> None:
        """Close the readers' connections; one that is in a transaction, of whatever thread, at the end of that."""
        with self._lock:
            self._times_closed += 1
            idle, self._idle = self._idle, []
        for db in idle:
            db.close()


def has_database(folder: Path) -> bool:
    """Whether a folder looks like an index. One that may not be looked into does not."""
    try:
        return (folder / DATABASE).is_file()
    except OSError:
        return False


def is_index(folder: Path) -> bool:
    """Whether an index lies in the folder: one whose creation was completed."""
    if not has_database(folder):
        return False
    store = Store(folder)
    try:
        check(store)
    except IndexNotFound:
        return False
    finally:
        store.close()
    return True


def check(store: Store) -> None:
    """Raises IndexNotFound where there is no index, IndexDamaged where there is something else."""
    if not has_database(store.folder):
        raise IndexNotFound(f"there is no index at {store.folder}; make one with: semsearch index PATH")
    with store.reading() as db:
        tables = {name for (name,) in db.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}
        if tables and "meta" not in tables and "_sqlite_migrations" not in tables:
            raise IndexDamaged(f"{store.database} is a database of something else, not a semsearch index")
        row = db.execute("SELECT value FROM meta WHERE key = 'format'").fetchone() if "meta" in tables else None
    if row is None:
        raise IndexNotFound(f"the index at {store.folder} was never completed; index again to make it")
    if row[0] != FORMAT:
        raise IndexDamaged(f"{store.folder} is {row[0]!r}, and this semsearch reads {FORMAT!r}; use a newer semsearch")


def upgrade(store: Store) -> None:
    """Bring the tables of a new index, or of an earlier version's, up to date."""
    if store.schema() != SCHEMA:
        from semsearch.storage.schema import migrate  # start-up time: only new and old indexes need sqlite-utils

        migrate(store.database)


@contextmanager
def explained(folder: Path) -> Iterator[None]:
    """Errors of SQLite and of the disk as errors that a user can mend."""
    try:
        yield
    except sqlite3.DatabaseError as error:
        if (explanation := _explain(error, folder)) is None:
            raise
        raise explanation from error
    except OSError as error:
        if error.errno in _UNREADABLE and not _is_within(error.filename, folder):
            raise SourceError(f"{error.filename} cannot be read: {error.strerror}; the index is as it was") from error
        if error.errno in _FULL:
            raise StorageError(
                f"the disk of {folder} is full; the index is as it was: make room and try again"
            ) from error
        if error.errno in _REFUSED:
            place = error.filename or folder
            raise StorageError(f"{place} cannot be written ({error.strerror}); the index is as it was") from error
        if error.errno == errno.EIO:
            raise StorageError(f"the disk of {folder} is failing ({error.strerror}); the index is as it was") from error
        raise


def _is_within(name: object, folder: Path) -> bool:
    """Whether what an error names is of the index; so it is taken to be where it names nothing."""
    if not isinstance(name, str):
        return True
    return Path(name).absolute().is_relative_to(folder.absolute())


def _explain(error: sqlite3.DatabaseError, folder: Path) -> SemsearchError | None:
    text = str(error)
    if "malformed JSON" in text:
        return IndexDamaged(f"{folder / DATABASE} holds metadata that is not JSON; semsearch verify says of what")
    if "disk is full" in text:
        return StorageError(f"the disk of {folder} is full; the index is as it was: make room and try again")
    if "readonly" in text or "unable to open" in text:
        return StorageError(f"{folder} cannot be written ({text}); the index is as it was")
    if "disk I/O error" in text:
        return StorageError(f"the disk of {folder} is failing ({text}); the index is as it was")
    if "locked" in text:
        return IndexLocked(f"another program is writing to {folder / DATABASE}; wait for it, and try again")
    if "malformed" in text or "not a database" in text or "no such table" in text or "no such column" in text:
        return IndexDamaged(f"{folder / DATABASE} is damaged or not an index ({text}); remove {folder} and index again")
    return None


def _connect(path: Path, mode: str) -> sqlite3.Connection:
    address = f"file:{quote(str(path.absolute()).replace(chr(92), '/'))}?{mode if '=' in mode else 'mode=' + mode}"
    connection = sqlite3.connect(address, uri=True, isolation_level=None, check_same_thread=False, timeout=10)
    try:
        connection.execute(f"PRAGMA cache_size = {_CACHE}")  # the first to fail where files cannot be opened
    except BaseException:
        connection.close()
        raise
    return connection


def _open_reader(folder: Path) -> sqlite3.Connection:
    path = folder / DATABASE
    try:
        return _tried(_connect(path, "ro"))
    except sqlite3.OperationalError:
        log = path.with_name(DATABASE + "-wal")
        if log.exists() and log.stat().st_size:
            raise  # what was committed last stands in the log, and only a writable folder lets SQLite read it
        return _tried(_connect(path, "immutable=1"))


def _tried(connection: sqlite3.Connection) -> sqlite3.Connection:
    """The connection, once it has read something: SQLite opens files only then."""
    try:
        connection.execute("SELECT count(*) FROM sqlite_master").fetchone()
    except BaseException:
        connection.close()
        raise
    return connection
