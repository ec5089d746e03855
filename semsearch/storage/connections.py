"""Connections to the SQLite database of an index: to read, where even the medium is read-only, and to write.

Where the medium itself is read-only, SQLite cannot keep its shared-memory file beside the index and is told that
nothing will change. Plain sqlite3, not sqlite-utils, for the sake of start-up time and of millions of rows.
"""

from __future__ import annotations

import sqlite3
from pathlib import Path
from urllib.parse import quote

from semsearch.errors import IndexDamaged
from semsearch.storage.earlier import show_as_of_today

DATABASE = "index.sqlite"
_PROGRAMS = (  # what could compute something when rows are read or written
    "SELECT CASE WHEN type = 'table' THEN 'computed table' ELSE type END, name FROM sqlite_master "
    "WHERE type IN ('view', 'trigger') OR sql LIKE 'CREATE VIRTUAL%' OR (type = 'table' AND sql LIKE '% AS (%')"
)
_CACHE = -65536  # kilobytes of pages a connection may keep


def connect(path: Path, mode: str, *, patience: float = 10) -> sqlite3.Connection:
    """A connection of one's own, in which a transaction is what is begun. `mode`: as in the address of an SQLite file;
    `patience`: seconds to wait for another process that has it locked.

    To read or to write rows, use `IndexDatabase`.
    """
    address = f"file:{quote(str(path.absolute()).replace(chr(92), '/'))}?{mode if '=' in mode else 'mode=' + mode}"
    connection = sqlite3.connect(address, uri=True, isolation_level=None, check_same_thread=False, timeout=patience)
    try:
        connection.execute(f"PRAGMA cache_size = {_CACHE}")  # the first to fail where files cannot be opened
        connection.execute("PRAGMA trusted_schema = OFF")
        for kind, name in connection.execute(_PROGRAMS):
            raise IndexDamaged(f"{path} has a {kind}, {name!r}, and no index has one; it is not of semsearch's making")
    except BaseException:
        connection.close()
        raise
    return connection


def open_reader(folder: Path) -> sqlite3.Connection:
    """A connection that reads the database of an index folder, and never locks it."""
    path = folder / DATABASE
    try:
        return _tried(connect(path, "ro"))
    except sqlite3.OperationalError:
        log = path.with_name(DATABASE + "-wal")
        if log.exists() and log.stat().st_size:
            raise  # what was committed last stands in the log, and only a writable folder lets SQLite read it
        return _tried(connect(path, "immutable=1"))


def _tried(connection: sqlite3.Connection) -> sqlite3.Connection:
    """Read something with a connection and return it: SQLite opens the file only then."""
    try:
        connection.execute("SELECT count(*) FROM sqlite_master").fetchone()
        show_as_of_today(connection)
    except BaseException:
        connection.close()
        raise
    return connection
