"""Connections to the SQLite database of an index: opened, pooled, closed at a fork, with views of older schemas.

A reader never changes an index, which may lie on a read-only medium, so it cannot migrate one: it reads older tables
through temporary views that have today's columns, empty, and only in its own connection. The next writer migrates.

On a read-only medium, SQLite cannot keep its shared-memory file beside the index, and the database is opened as
immutable. SQLite keeps reading a file that was deleted or renamed, so each transaction first checks that the database
is still the file that the pooled connections have open. After a fork, as by `multiprocessing` on Linux, the child has
copies of memory, but neither the threads nor the locks on files, so it opens its own connections.

Plain sqlite3, not sqlite-utils: start-up is faster, and so is reading millions of rows.
"""

from __future__ import annotations

import os
import sqlite3
import threading
import weakref
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import NamedTuple, Protocol
from urllib.parse import quote
from weakref import WeakSet

from semsearch.errors import IndexDamaged, IndexNotFound
from semsearch.system.durable import has_locks

_UNLOCKED = "writer.json"  # a file of an index folder that nobody locks


class Forked(Protocol):
    """A thing that cannot just be copied into another process."""

    def before_fork(self) -> None:
        """Give up, in the parent, what another process must not inherit."""

    def after_fork(self) -> None:
        """Begin anew in the child, where only the thread that forked goes on."""


_told: WeakSet[Forked] = WeakSet()


def register_at_fork(thing: Forked) -> None:
    """Let a thing know of forks, as long as it lives."""
    _told.add(thing)


def _before() -> None:
    for thing in list(_told):
        thing.before_fork()


def _after() -> None:
    for thing in list(_told):
        thing.after_fork()


if hasattr(os, "register_at_fork"):  # not on Windows, where nothing is forked
    os.register_at_fork(before=_before, after_in_child=_after)


# -- Earlier -----------------------------------------------------------------------------------------------------------

_RECORDS = 4  # the version that brought records' metadata
_COLUMNS = (  # that came with a version: the table, what stands for it, its name
    (2, "passages", "NULL AS places"),
    (5, "segments", "NULL AS sums"),
    (6, "documents", "'' AS language"),
    (7, "documents", "NULL AS sum"),
    (7, "passages", "NULL AS sum"),
    (7, "record_metadata", "NULL AS sum"),
    (7, "fit", "NULL AS sums"),
)
_TABLES = (  # likewise
    (
        3,
        "CREATE TEMP VIEW unread AS SELECT '' AS path, 0 AS size, 0 AS mtime_ns, 0 AS checked_ns, 0 AS max_bytes, "
        "'' AS reader, 0 AS lasting, '' AS reason WHERE 0",
    ),
    (3, "CREATE TEMP VIEW readings AS SELECT 0 AS document_id, 0 AS characters, '[]' AS omissions WHERE 0"),
    (
        4,
        "CREATE TEMP VIEW record_metadata AS SELECT 0 AS passage_id, 0 AS document_id, '{}' AS metadata, "
        "NULL AS sum WHERE 0",
    ),
)


def create_compatibility_views(db: sqlite3.Connection) -> None:
    """Add what the tables of an earlier version lack, for this connection alone.

    SQLite looks for a table among the temporary ones first.
    """
    (version,) = db.execute("PRAGMA user_version").fetchone()
    views = [*_views(version)] if version > 0 else []
    if views:
        db.execute("PRAGMA temp_store = MEMORY")
    for view in views:
        db.execute(view)


def _views(version: int) -> Iterator[str]:
    lacking: dict[str, list[str]] = {}
    for since, table, column in _COLUMNS:
        if version < since:
            lacking.setdefault(table, []).append(column)
    if version < _RECORDS:
        del lacking["record_metadata"]  # all of it is lacking
    for table, columns in lacking.items():
        yield f"CREATE TEMP VIEW {table} AS SELECT *, {', '.join(columns)} FROM main.{table}"  # noqa: S608  # our own names
    yield from (view for since, view in _TABLES if version < since)


# -- Connections -------------------------------------------------------------------------------------------------------

DATABASE = "index.sqlite"
_PROGRAMS = (  # what could compute something when rows are read or written
    "SELECT CASE WHEN type = 'table' THEN 'computed table' ELSE type END, name FROM sqlite_master "
    "WHERE type IN ('view', 'trigger') OR sql LIKE 'CREATE VIRTUAL%' OR (type = 'table' AND sql LIKE '% AS (%')"
)
_PATIENCE = 10.0  # seconds
_CACHE = -65536  # kilobytes of pages a connection may keep


def connect(path: Path, mode: str, *, patience: float = _PATIENCE) -> sqlite3.Connection:
    """A connection of one's own, in which a transaction is what is begun. `mode`: as in the address of an SQLite file;
    `patience`: seconds to wait for another process that has it locked.

    To read or to write rows, use `IndexDatabase`.
    """
    address = f"file:{quote(str(path.absolute()).replace(chr(92), '/'))}?{mode if '=' in mode else 'mode=' + mode}"
    if mode == "rwc" and not path.exists():
        with suppress(OSError):  # which SQLite will meet again
            os.close(os.open(path, os.O_RDWR | os.O_CREAT, 0o666))  # for whom the umask says; SQLite says 0644 at most
    connection = sqlite3.connect(address, uri=True, isolation_level=None, check_same_thread=False, timeout=patience)
    try:
        connection.execute(f"PRAGMA cache_size = {_CACHE}")  # the first to fail where files cannot be opened
        connection.execute("PRAGMA trusted_schema = OFF")
        for kind, name in connection.execute(_PROGRAMS):
            raise IndexDamaged(
                f"{path} has the {kind} {name!r}, which semsearch never creates; use an index that semsearch wrote"
            )
    except BaseException:
        connection.close()
        raise
    return connection


def open_reader(folder: Path) -> sqlite3.Connection:
    """A connection that reads the database of an index folder, and never locks it."""
    path = folder / DATABASE
    try:
        return _tried(connect(path, "ro") if has_locks(folder / _UNLOCKED) else connect(path, "ro", patience=0))
    except sqlite3.OperationalError:
        log = path.with_name(DATABASE + "-wal")
        if log.exists() and log.stat().st_size:
            raise  # what was committed last stands in the log, and only a writable folder lets SQLite read it
        return _tried(connect(path, "immutable=1"))


def _tried(connection: sqlite3.Connection) -> sqlite3.Connection:
    """Read something with a connection and return it: SQLite opens the file only then."""
    try:
        connection.execute("SELECT count(*) FROM sqlite_master").fetchone()
        create_compatibility_views(connection)
    except BaseException:
        connection.close()
        raise
    return connection


# -- Reader pool -------------------------------------------------------------------------------------------------------

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
        register_at_fork(self)

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
            raise IndexNotFound(f"the index at {self._folder} was deleted or moved")
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
