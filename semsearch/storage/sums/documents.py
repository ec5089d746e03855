"""Documents and the metadata of records, compared with their checksums as they are read.

A document's row is written once and changed when its file moves or its language is found anew.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from semsearch.storage.sums.damage import damaged_document, damaged_passage
from semsearch.storage.sums.row_sums import is_sound, row_sums
from semsearch.storage.sums.since import sums_since

COLUMNS = (
    "id, first_passage, passages, root_id, path, file, title, format, metadata, size, mtime_ns, checked_ns, digest, "
    "first_sentence, sentences, words, indexed_at, language"
)
WITH_SUM = ", ".join(f"documents.{name}" for name in [*COLUMNS.split(", "), "sum"])
_NUMBERS = 3  # of these are in the upper half
_INSERT = f"INSERT INTO documents ({COLUMNS}, sum) VALUES ({', '.join('?' * 19)})"  # noqa: S608  # ours
BY_ID = f"SELECT {WITH_SUM} FROM documents WHERE id IN (SELECT value FROM json_each(?))"  # noqa: S608  # likewise
ALL = f"SELECT {WITH_SUM} FROM documents"  # noqa: S608  # likewise
RECORDS = "SELECT passage_id, document_id, metadata, sum FROM record_metadata"
RECORDS_BY_ID = f"{RECORDS} WHERE passage_id IN (SELECT value FROM json_each(?))"  # noqa: S608  # likewise


def insert_documents(db: sqlite3.Connection, rows: Sequence[Sequence[Any]]) -> None:
    """Write rows of `COLUMNS` with their checksums."""
    sums = row_sums(rows, _NUMBERS)
    db.executemany(_INSERT, [(*row, own) for row, own in zip(rows, sums, strict=True)])


def insert_records(db: sqlite3.Connection, rows: Sequence[tuple[int, int, str]]) -> None:
    """Write the metadata of records with their checksums: passage id, document id, JSON."""
    db.executemany(
        "INSERT INTO record_metadata (passage_id, document_id, metadata, sum) VALUES (?, ?, ?, ?)",
        [(*row, own) for row, own in zip(rows, row_sums(rows, 2), strict=True)],
    )


def documents_by_id(db: sqlite3.Connection, ids: Iterable[int]) -> Iterator[Sequence[Any]]:
    """Read sound rows of `COLUMNS` by id; ids that are not in the index are left out. Raises IndexDamaged."""
    for row in db.execute(BY_ID, (json.dumps([int(id_) for id_ in ids]),)):
        check_document(db, row)
        yield row


def records_of(db: sqlite3.Connection, passage_ids: Iterable[int]) -> Iterator[tuple[int, str]]:
    """Read sound metadata of records by passage id; passages of no such record are left out. Raises IndexDamaged."""
    for row in db.execute(RECORDS_BY_ID, (json.dumps([*passage_ids]),)):
        check_record(db, row)
        yield row[0], row[2]


def check_document(db: sqlite3.Connection, row: Sequence[Any]) -> None:
    """Compare a row of `WITH_SUM`. Raises IndexDamaged."""
    if not is_sound(row) and not (row[-1] is None and row[0] < sums_since(db).document):
        raise damaged_document(db, row[0])


def check_record(db: sqlite3.Connection, row: Sequence[Any]) -> None:
    """Compare a row of `RECORDS`. Raises IndexDamaged."""
    if not is_sound(row) and not (row[-1] is None and row[0] < sums_since(db).passage):
        raise damaged_passage(db, row[0])


@contextmanager
def documents_changing(db: sqlite3.Connection, ids: Iterable[int]) -> Iterator[None]:
    """Compare documents before their rows are changed, and give them the checksums of what they are afterwards.

    Raises IndexDamaged.
    """
    wanted = [*ids]
    for _ in documents_by_id(db, wanted):
        pass
    yield
    _add_sums(db, BY_ID, (json.dumps(wanted),))


def add_document_sums(db: sqlite3.Connection) -> None:
    """Give the rows of documents and records that have no checksum theirs."""
    _add_sums(db, f"{ALL} WHERE sum IS NULL", ())
    rows = db.execute(f"{RECORDS} WHERE sum IS NULL").fetchall()
    sums = row_sums([row[:-1] for row in rows], 2)
    db.executemany(
        "UPDATE record_metadata SET sum = ? WHERE passage_id = ?",
        [(own, row[0]) for row, own in zip(rows, sums, strict=True)],
    )


def _add_sums(db: sqlite3.Connection, query: str, parameters: tuple[str, ...]) -> None:
    rows = [row[:-1] for row in db.execute(query, parameters)]
    db.executemany(
        "UPDATE documents SET sum = ? WHERE id = ?",
        [(own, row[0]) for row, own in zip(rows, row_sums(rows, _NUMBERS), strict=True)],
    )
