"""Single values that belong to the index as a whole: format, settings, generation, next ids, documents per language."""

from __future__ import annotations

import json
import sqlite3

DIGESTS = "digests"  # semsearch.storage.checksums
DESCRIPTION = "description"  # a sentence that says what an index holds
LONGEST_DESCRIPTION = 300  # characters
LANGUAGES = "languages"
IDENTITY = "identity"  # a random id, which tells an index from any other, but for its copies


def get_meta(db: sqlite3.Connection, key: str) -> str | None:
    """Read a value by its key; None if it was never set."""
    row = db.execute("SELECT value FROM meta WHERE key = ?", (key,)).fetchone()
    return None if row is None else str(row[0])


def set_meta(db: sqlite3.Connection, key: str, value: object) -> None:
    """Set the value of a key, in place of an earlier one."""
    db.execute(
        "INSERT INTO meta VALUES (?, ?) ON CONFLICT (key) DO UPDATE SET value = excluded.value", (key, str(value))
    )


def delete_meta(db: sqlite3.Connection, *keys: str) -> None:
    """Delete the values of keys."""
    db.executemany("DELETE FROM meta WHERE key = ?", [(key,) for key in keys])


def get_count(db: sqlite3.Connection, key: str) -> int:
    """Read a number by its key; 0 if it was never set."""
    return int(get_meta(db, key) or 0)


def get_stamp(db: sqlite3.Connection) -> tuple[int, str]:
    """The identity of a generation, also among other indexes at this path: its number and digests."""
    values = dict(db.execute("SELECT key, value FROM meta WHERE key IN ('generation', ?)", (DIGESTS,)))
    return int(values.get("generation") or 0), str(values.get(DIGESTS))


def set_languages(db: sqlite3.Connection) -> None:
    """Store the number of documents in each language."""
    rows = db.execute("SELECT language, count(*) FROM documents WHERE language != '' GROUP BY language").fetchall()
    set_meta(db, LANGUAGES, json.dumps(dict(rows)))


def get_languages(db: sqlite3.Connection) -> dict[str, int]:
    """The number of documents of each language, most first."""
    counts: dict[str, int] = json.loads(get_meta(db, LANGUAGES) or "{}")
    return dict(sorted(counts.items(), key=lambda item: (-item[1], item[0])))
