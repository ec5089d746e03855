"""What a document holds, for its rows to be deleted: by its own row, or by its passages if that row is damaged."""

from __future__ import annotations

import json
import sqlite3
from typing import NamedTuple

from semsearch.storage.sums.damage import decoding_anything
from semsearch.storage.sums.documents import BY_ID
from semsearch.storage.sums.row_sums import is_sound

_BY_PASSAGES = """SELECT coalesce(min(id), 0), coalesce(max(id) + 1 - min(id), 0), coalesce(min(first_sentence), 0),
    coalesce(max(first_sentence + sentence_count) - min(first_sentence), 0) FROM passages WHERE document_id = ?"""


class DocumentExtent(NamedTuple):
    """The passages and sentences of a document: first id, and number, of each."""

    first_passage: int
    passages: int
    first_sentence: int
    sentences: int


def held_by(db: sqlite3.Connection, document: int) -> DocumentExtent | None:
    """What a document holds; None if there is no such document."""
    with decoding_anything(db):
        row = db.execute(BY_ID, (json.dumps([document]),)).fetchone()
    if row is None:
        return None
    if row[-1] is None or is_sound(row):
        return DocumentExtent(row[1], row[2], row[13], row[14] or 0)
    return DocumentExtent(*db.execute(_BY_PASSAGES, (document,)).fetchone())  # all of them are looked through
