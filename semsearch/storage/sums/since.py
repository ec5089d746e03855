"""From which rows on each has a checksum: an index of an earlier version has rows without."""

from __future__ import annotations

import json
import sqlite3
from typing import NamedTuple

from semsearch.storage.meta import get_meta, set_meta

SUMS = 7  # the version of the tables that brought them
_KEY = "sums_since"
_NEVER = 1 << 62


class SumsSince(NamedTuple):
    """The least ids of a document and of a passage whose rows must have a checksum."""

    document: int
    passage: int


def sums_since(db: sqlite3.Connection) -> SumsSince:
    """From which rows on each has a checksum."""
    (version,) = db.execute("PRAGMA user_version").fetchone()
    if version < SUMS:
        return SumsSince(_NEVER, _NEVER)
    return SumsSince(*json.loads(get_meta(db, _KEY) or "[0, 0]"))


def set_sums_since(db: sqlite3.Connection, since: SumsSince) -> None:
    """Note from which rows on each has a checksum."""
    set_meta(db, _KEY, json.dumps(since))
