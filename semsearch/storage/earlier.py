"""Indexes of earlier versions, as readers see them: with the columns of today, empty.

A reader never changes an index, which may lie on a medium that cannot be written, so it cannot migrate one. It looks at
older tables through temporary views of their names, which only its own connection has. The next writer migrates.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator

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


def show_as_of_today(db: sqlite3.Connection) -> None:
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
