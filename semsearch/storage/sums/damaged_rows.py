"""All rows that are not as they were written: for `verify`, and to say of an error which row it comes of."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from itertools import chain

from semsearch.storage.sums.all_documents import find_damaged_documents
from semsearch.storage.sums.documents import add_document_sums
from semsearch.storage.sums.passages import add_passage_sums, find_damaged_passages
from semsearch.storage.sums.since import SumsSince, set_sums_since, sums_since

_ALL = SumsSince(0, 0)

_WITHOUT = (
    "SELECT (SELECT count(*) FROM passages WHERE sum IS NULL), (SELECT count(*) FROM documents WHERE sum IS NULL)"
)


def find_damaged(db: sqlite3.Connection) -> Iterator[str]:
    """Yield which rows are not as they were written, a line each with what to do. Reads them all."""
    return chain(find_damaged_documents(db), find_damaged_passages(db))


def first_damaged(db: sqlite3.Connection) -> str | None:
    """The first of them; None if all are as they were written."""
    return next(find_damaged(db), None)


def add_all_sums(db: sqlite3.Connection) -> None:
    """Give each row that has no checksum one. What an earlier version wrote is taken for sound."""
    if sums_since(db) != _ALL:
        add_document_sums(db)
        add_passage_sums(db)
        set_sums_since(db, _ALL)


def count_without_sums(db: sqlite3.Connection) -> int:
    """How many passages and documents have no checksum: those that an earlier version wrote."""
    return sum(db.execute(_WITHOUT).fetchone())
