"""Find the texts that a program added, by the ids that it gave them, which are never taken for paths."""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from json import dumps

from semsearch.sources.roots import ADDED

_NAMED = """SELECT path, id FROM documents
    WHERE root_id = ? AND path IN (SELECT value FROM json_each(?))"""
_LISTED = "SELECT path, id FROM documents WHERE root_id = ? AND path > ? ORDER BY path LIMIT ?"


def added_texts(db: sqlite3.Connection, ids: Sequence[str]) -> dict[str, int]:
    """The rows of added texts, by their ids; ids that are not in the index are left out."""
    return dict(db.execute(_NAMED, (ADDED, dumps(ids))).fetchall())


def added_texts_after(db: sqlite3.Connection, last: str, *, limit: int) -> dict[str, int]:
    """The rows of the added texts whose ids follow one, by their ids, in order."""
    return dict(db.execute(_LISTED, (ADDED, last, limit)).fetchall())
