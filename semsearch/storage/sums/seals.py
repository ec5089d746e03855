"""The seals of an index: digests of its small tables, by which a value that changed, or a row that went, is noticed.

One is of what was given: single values, roots, and how many documents and records there are. The other is of what was
derived: the manifest of segments, the ids removed from them, and the fit; `--rebuild` makes all of that again. A write
compares both before it begins, so that it never seals damage, and seals at its end; a reader compares them when it
opens a generation.
"""

from __future__ import annotations

import hashlib
import json
import sqlite3
from typing import NamedTuple

from semsearch.errors import IndexDamaged, rebuild_command
from semsearch.storage.meta import get_meta, set_meta
from semsearch.storage.sums.damage import damaged_whole, folder_of
from semsearch.storage.sums.since import SUMS

_KEY = "seals"
_GIVEN = (  # of the tables themselves, whatever stands before them for an earlier version
    "SELECT key, value FROM main.meta WHERE key != 'seals' ORDER BY key",
    "SELECT * FROM main.roots ORDER BY id",
)
_DERIVED = (
    "SELECT * FROM main.segments ORDER BY id",
    "SELECT * FROM main.removed ORDER BY first_passage",
    "SELECT card, generation, sums FROM main.fit",
)
_COUNTS = "SELECT (SELECT count(*) FROM main.documents), (SELECT count(*) FROM main.record_metadata)"


class Seals(NamedTuple):
    """The two digests, and the numbers of documents and of records with metadata."""

    given: str
    derived: str
    documents: int
    records: int


def seal(db: sqlite3.Connection) -> None:
    """Seal the small tables as they are, at the end of a write."""
    set_meta(db, _KEY, json.dumps(_seals(db)))


def check_seals(db: sqlite3.Connection, *, derived: bool = True) -> None:
    """Compare the small tables with their seals, without `derived` only what was given. Raises IndexDamaged.

    Tables of an earlier version have none.
    """
    told = get_seals(db)
    if told is None:
        return
    found = _seals(db, derived=derived)
    if (found.given, found.documents, found.records) != (told.given, told.documents, told.records):
        raise damaged_whole(db, "its settings, roots or numbers are not as they were written")
    if derived and found.derived != told.derived:
        cure = rebuild_command(folder_of(db))
        raise IndexDamaged(f"the list of segments in {folder_of(db)} is not as it was written; run: {cure}")


def is_manifest_sound(db: sqlite3.Connection) -> bool:
    """Return whether the list of segments and what belongs to it are as they were written."""
    told = get_seals(db)
    return told is None or told.derived == _seals(db).derived


def get_seals(db: sqlite3.Connection) -> Seals | None:
    """Read the seals; None in an index of an earlier version. Raises IndexDamaged if there should be some."""
    (version,) = db.execute("PRAGMA user_version").fetchone()
    text = get_meta(db, _KEY)
    if version < SUMS and text is None:
        return None
    try:
        return Seals(*json.loads(text or ""))
    except (ValueError, TypeError) as error:
        raise damaged_whole(db, "its seals are none") from error


def _seals(db: sqlite3.Connection, *, derived: bool = True) -> Seals:
    (version,) = db.execute("PRAGMA user_version").fetchone()
    return Seals(
        _digest(db, _GIVEN, version), _digest(db, _DERIVED, 0) if derived else "", *db.execute(_COUNTS).fetchone()
    )


def _digest(db: sqlite3.Connection, queries: tuple[str, ...], version: int) -> str:
    digest = hashlib.blake2b(str(version).encode(), digest_size=8)
    for query in queries:
        rows = db.execute(query).fetchall()
        for row in rows:
            for value in row:
                if type(value) is bytes:
                    digest.update(value)
        plain = [[len(value) if type(value) is bytes else value for value in row] for row in rows]
        digest.update(repr(plain).encode("utf-8", "surrogatepass"))
    return digest.hexdigest()
