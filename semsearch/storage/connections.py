"""Connections to the SQLite database of an index: opened, checked, pooled, closed at a fork.

On a read-only medium, SQLite cannot keep its shared-memory file beside the index, and the database is opened as
immutable. SQLite keeps reading a file that was deleted or renamed, so each transaction first checks that the database
is still the file that the pooled connections have open. After a fork, as by `multiprocessing` on Linux, the child has
copies of memory, but neither the threads nor the locks on files, so it opens its own connections.
"""

from __future__ import annotations

import os
import sqlite3
import threading
import weakref
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import NamedTuple
from urllib.parse import quote
from weakref import WeakSet

from semsearch.errors import IndexDamaged, IndexNotFound
from semsearch.storage.schema import check_tables
from semsearch.system.durable import has_locks
from semsearch.system.source_files import NotTheFile, opened_source

DATABASE = "index.sqlite"
_UNLOCKED = "writer.json"  # a file of an index folder that nobody locks
_PATIENCE = 10.0  # seconds
_CACHE = -65536  # kilobytes of pages a connection may keep
_LIMITS = {  # what an index from somebody else may make SQLite build
    sqlite3.SQLITE_LIMIT_LENGTH: 1 << 28,  # bytes of a text or blob: the largest of ours is a fit, of some megabytes
    sqlite3.SQLITE_LIMIT_SQL_LENGTH: 1 << 20,
    sqlite3.SQLITE_LIMIT_COMPOUND_SELECT: 10,
    sqlite3.SQLITE_LIMIT_TRIGGER_DEPTH: 1,
}
_NAMES_ANOTHER = bytes.fromhex("d9d505f920a163d7")  # the end of a rollback journal that names another file


class Connection(sqlite3.Connection):
    """A connection that knows which version of its schema was compared with ours."""

    checked_schema = -1

    def check_schema(self, path: Path) -> None:
        """Check the tables, if they are not those that were checked last. Raises IndexOutdated, IndexDamaged."""
        (version,) = self.execute("PRAGMA schema_version").fetchone()
        if version != self.checked_schema:
            check_tables(self, path)
            self.checked_schema = version


def connect(path: Path, mode: str, *, patience: float = _PATIENCE) -> Connection:
    """Connect to the database of an index, in which a transaction is what is begun. `mode`: as in SQLite's URIs.

    `patience`: seconds to wait for another process that has it locked. To read or write rows, use `IndexDatabase`.
    Raises IndexOutdated, IndexDamaged for other tables than ours.
    """
    connection = connect_to_file(path, mode, patience=patience)
    try:
        connection.check_schema(path)
        connection.execute(f"PRAGMA cache_size = {_CACHE}")
    except BaseException:
        connection.close()
        raise
    return connection


def connect_to_file(path: Path, mode: str, *, patience: float = _PATIENCE) -> Connection:
    """Connect to an SQLite file whose tables may be anybody's: `stored_schema` is to be asked first what they are."""
    _check_journal(path)
    address = f"file:{quote(str(path.absolute()).replace(chr(92), '/'))}?{mode if '=' in mode else 'mode=' + mode}"
    if mode == "rwc" and not path.exists():
        with suppress(OSError):  # which SQLite will meet again
            os.close(os.open(path, os.O_RDWR | os.O_CREAT, 0o666))  # for whom the umask says; SQLite says 0644 at most
    connection = sqlite3.connect(
        address, uri=True, isolation_level=None, check_same_thread=False, timeout=patience, factory=Connection
    )
    try:
        for limit, value in _LIMITS.items():
            connection.setlimit(limit, value)
        if "rw" not in mode:
            connection.set_progress_handler(Patience(), Patience.STEPS)
        connection.execute("PRAGMA trusted_schema = OFF")  # which loads no schema
    except BaseException:
        connection.close()
        raise
    return connection


def _check_journal(path: Path) -> None:
    """Refuse a rollback journal that SQLite would wait for, or that names another file: SQLite would delete that."""
    journal = path.with_name(f"{path.name}-journal")
    try:
        with opened_source(journal) as (descriptor, status):
            os.lseek(descriptor, max(0, status.st_size - len(_NAMES_ANOTHER)), os.SEEK_SET)
            is_plain = os.read(descriptor, len(_NAMES_ANOTHER)) != _NAMES_ANOTHER
    except (FileNotFoundError, NotADirectoryError):
        is_plain = not journal.is_symlink()
    except NotTheFile:
        is_plain = False
    if not is_plain:
        raise IndexDamaged(f"{journal} is no journal of an index; remove it")


def open_reader(folder: Path) -> Connection:
    """Connect to the database of an index folder to read it, without ever locking it."""
    path = folder / DATABASE
    try:
        return connect(path, "ro") if has_locks(folder / _UNLOCKED) else connect(path, "ro", patience=0)
    except sqlite3.OperationalError:
        log = path.with_name(DATABASE + "-wal")
        if log.exists() and log.stat().st_size:
            raise  # what was committed last stands in the log, and only a writable folder lets SQLite read it
        return connect(path, "immutable=1")


class Patience:
    """Ends what SQLite computes for far longer than reading any index of ours takes, and at a Ctrl-C: it asks this now
    and then. A forged row may claim all passages for each document.
    """

    STEPS = 1 << 20  # instructions of SQLite's virtual machine between two questions: some ten milliseconds
    MOST = 500  # questions in a read transaction, half a minute; comparing the rows of a million documents takes thirty

    def __init__(self) -> None:
        self._asked = 0

    def __call__(self) -> bool:
        self._asked += 1
        return self.is_over

    @property
    def is_over(self) -> bool:
        """Whether a transaction has computed for so long that its index must be forged."""
        return self._asked > self.MOST


# -- Reader pool -------------------------------------------------------------------------------------------------------

FileId = tuple[int, int]  # device and inode; as long as a connection has a file open, no other file gets them
_IDLE = 8  # connections that are kept: with more threads than that at once, some open theirs anew


class LentConnection(NamedTuple):
    """A connection for one transaction, and how often another index had taken the place of the first one by then."""

    db: Connection
    times_replaced: int


class ReaderPool:
    """The readers' connections of one index folder. Threads may share it: none has the connection of another."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self.lock = threading.Lock()
        self._idle: list[Connection] = []
        self._file: FileId | None = None  # what the idle ones read
        self._times_closed = 0
        self.times_replaced = 0
        weakref.finalize(self, _close_all, self._idle)  # of an index that nobody closed
        _pools.add(self)

    @contextmanager
    def lend(self) -> Iterator[LentConnection]:
        """Lend a connection to the file that is there: of the idle ones the last used, with most pages in its cache.

        Raises IndexNotFound if there is none.
        """
        file = file_id(self._folder / DATABASE)
        with self.lock:
            stale = self._note_file(file)
            times_closed, times_replaced = self._times_closed, self.times_replaced
            db = self._idle.pop() if self._idle else None
        _close_all(stale)
        if file is None:
            raise IndexNotFound(f"the index at {self._folder} was deleted or moved")
        db = db or open_reader(self._folder)
        is_done = False  # an error may leave rows unread, and SQLite refuses some things as long as there are any
        try:
            yield LentConnection(db, times_replaced)
            is_done = True
        finally:
            with self.lock:
                keep = is_done and times_closed == self._times_closed
                keep = keep and len(self._idle) < _IDLE and not db.in_transaction
                if keep:
                    self._idle.append(db)
            if not keep:
                db.close()

    def close(self) -> None:
        """Close the connections; one that is lent is closed when it comes back."""
        with self.lock:
            idle = self._give_up()
        _close_all(idle)

    def _note_file(self, file: FileId | None) -> list[Connection]:
        """Note which file the database is now; the connections to another one, which are to be closed."""
        if file == self._file:
            return []
        before, self._file = self._file, file
        if before is None:
            return []
        self.times_replaced += 1
        return self._give_up()

    def _give_up(self) -> list[Connection]:
        """Keep none of the connections; the idle ones, which are to be closed."""
        self._times_closed += 1
        return [self._idle.pop() for _ in range(len(self._idle))]


_pools: WeakSet[ReaderPool] = WeakSet()


def _close_all_pools() -> None:
    """Before a fork: another process has none of the locks that SQLite believes these connections to have."""
    for pool in list(_pools):
        pool.close()


def _renew_locks() -> None:
    """In the child, where only the thread that forked goes on, and perhaps not the one that held a lock."""
    for pool in list(_pools):
        pool.lock = threading.Lock()


if hasattr(os, "register_at_fork"):  # not on Windows, where nothing is forked
    os.register_at_fork(before=_close_all_pools, after_in_child=_renew_locks)


def file_id(path: Path) -> FileId | None:
    """What tells a file from another one of its name; None if there is none."""
    try:
        status = os.stat(path)  # noqa: PTH116  # a quarter of Path's time, and every query pays it
    except (FileNotFoundError, NotADirectoryError):
        return None
    return status.st_dev, status.st_ino


def _close_all(connections: list[Connection]) -> None:
    for db in connections:
        db.close()
