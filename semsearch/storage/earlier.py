"""Indexes of earlier versions, as readers see them: with the columns of today, empty.

A reader never changes an index, which may lie on a medium that cannot be written, so it cannot migrate one. It looks at
older tables through temporary views of their names, which only its own connection has. The next writer migrates.
"""

from __future__ import annotations

import sqlite3

_VIEWS = (  # each with the version that it came with; SQLite looks for a table among the temporary ones first
    (2, "CREATE TEMP VIEW passages AS SELECT *, NULL AS places FROM main.passages"),
    (
        3,
        "CREATE TEMP VIEW unread AS SELECT '' AS path, 0 AS size, 0 AS mtime_ns, 0 AS checked_ns, 0 AS max_bytes, "
        "'' AS reader, 0 AS lasting, '' AS reason WHERE 0",
    ),
    (3, "CREATE TEMP VIEW readings AS SELECT 0 AS document_id, 0 AS characters, '[]' AS omissions WHERE 0"),
    (4, "CREATE TEMP VIEW record_metadata AS SELECT 0 AS passage_id, 0 AS document_id, '{}' AS metadata WHERE 0"),
    (5, "CREATE TEMP VIEW segments AS SELECT *, NULL AS sums FROM main.segments"),
    (6, "CREATE TEMP VIEW documents AS SELECT *, '' AS language FROM main.documents"),
)


def show_as_of_today(db: sqlite3.Connection) -> None:
    """Add what the tables of an earlier version lack, for this connection alone."""
    (version,) = db.execute("PRAGMA user_version").fetchone()
    views = [view for since, view in _VIEWS if 0 < version < since]
    if views:
        db.execute("PRAGMA temp_store = MEMORY")
    for view in views:
        db.execute(view)
