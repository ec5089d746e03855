"""The metadata of records: rows of a table, and lines of JSON, of which some columns were chosen as metadata.

Kept apart from the passages, of which few are of such records, by the id of the passage.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterable
from typing import Any

from semsearch.storage.sums.damage import damaged_passage
from semsearch.storage.sums.documents import records_of


def forget_record_metadata(db: sqlite3.Connection, document_id: int) -> None:
    """Delete the metadata of all records of a document."""
    db.execute("DELETE FROM record_metadata WHERE document_id = ?", (document_id,))


def get_record_metadata(
    db: sqlite3.Connection, passage_ids: Iterable[int], *, needed: Iterable[int]
) -> dict[int, dict[str, Any]]:
    """Read the metadata of the records that passages are of, by passage id; passages of no such record are left out.

    `needed`: the passages that are known to be of one. Raises IndexDamaged.
    """
    found = {id_: json.loads(metadata) for id_, metadata in records_of(db, passage_ids)}
    for id_ in needed:
        if id_ not in found:
            raise damaged_passage(db, id_)
    return found


def has_record_metadata(db: sqlite3.Connection) -> bool:
    """Return whether any record has metadata."""
    return db.execute("SELECT 1 FROM record_metadata LIMIT 1").fetchone() is not None
