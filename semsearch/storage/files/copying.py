"""A copy of an index's database as one transaction sees it, with each page in its place.

Unlike VACUUM INTO, the backup of SQLite moves no page: what a write has not touched is the same bytes in the next copy.
"""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path


def copy_database(db: sqlite3.Connection, target: Path) -> None:
    """Write what a read transaction sees into a new file without a log, replacing an earlier one.

    It is not flushed to the disk: whoever keeps it has to do that.
    """
    for suffix in ("", "-journal", "-wal", "-shm"):
        target.with_name(target.name + suffix).unlink(missing_ok=True)
    with closing(sqlite3.connect(target, isolation_level=None)) as copy:
        copy.execute("PRAGMA synchronous = OFF")
        db.backup(copy)
        copy.execute("PRAGMA journal_mode = DELETE")  # so that it can be read without writing beside it
