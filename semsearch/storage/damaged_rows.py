"""Compare all rows of an index with their checksums, and report those that are damaged.

Filters and facets read all rows of documents and of records' metadata, and would silently miss a document whose row is
damaged. So before the first of them in each generation, all these rows are compared and counted (a damaged B-tree of
SQLite may have lost some), and so are the passages of documents with records. `verify` compares all rows; after an
error, the first damaged row is reported.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from itertools import chain

from semsearch.storage.checked_rows import (
    ALL_DOCUMENTS,
    ALL_RECORDS,
    add_document_sums,
    add_passage_sums,
    check_document,
    check_record,
    find_damaged_passages,
)
from semsearch.storage.checksums import (
    FirstSummedRows,
    damaged_document,
    damaged_whole,
    decoding_anything,
    document_damage,
    first_summed_rows,
    get_digests,
    is_sound,
    set_first_summed_rows,
)

_LACKING = """SELECT document_id FROM record_metadata r
    WHERE document_id NOT IN (SELECT document_id FROM record_metadata)
    OR NOT EXISTS (SELECT 1 FROM record_metadata o WHERE o.passage_id = r.passage_id)
    UNION ALL SELECT d.id FROM documents d WHERE d.id IN (SELECT document_id FROM record_metadata) AND d.passages !=
    (SELECT count(*) FROM passages p WHERE p.id >= d.first_passage AND p.id < d.first_passage + d.passages)"""


def check_all_documents(db: sqlite3.Connection) -> None:
    """Compare the rows of all documents and of all records' metadata, and count them. Raises IndexDamaged."""
    documents = records = 0
    for row in db.execute(ALL_DOCUMENTS):
        check_document(db, row)
        documents += 1
    for row in db.execute(ALL_RECORDS):
        check_record(db, row)
        records += 1
    stored = get_digests(db)
    if stored is not None and (documents, records) != (stored.documents, stored.records):
        raise damaged_whole(
            db, f"it has {documents} of {stored.documents} documents and {records} of {stored.records} records"
        )
    if records:
        for (document,) in db.execute(_LACKING):
            raise damaged_document(db, document)


def find_damaged_documents(db: sqlite3.Connection) -> Iterator[str]:
    """Yield the documents whose rows do not match their checksums, a line each."""
    since = first_summed_rows(db)
    with decoding_anything(db):
        for query, first in ((ALL_DOCUMENTS, since.document), (ALL_RECORDS, since.passage)):
            for row in db.execute(query):
                if not is_sound(row) and not (row[-1] is None and row[0] < first):
                    yield document_damage(db, row[0] if query == ALL_DOCUMENTS else row[1])


# -- Damaged rows ------------------------------------------------------------------------------------------------------

_ALL = FirstSummedRows(0, 0)

_WITHOUT = (
    "SELECT (SELECT count(*) FROM passages WHERE sum IS NULL), (SELECT count(*) FROM documents WHERE sum IS NULL)"
)


def find_damaged(db: sqlite3.Connection) -> Iterator[str]:
    """Yield the rows that do not match their checksums, a line each with the remedy. Reads all rows."""
    return chain(find_damaged_documents(db), find_damaged_passages(db))


def first_damaged(db: sqlite3.Connection) -> str | None:
    """The first of `find_damaged`; None if there is none."""
    return next(find_damaged(db), None)


def add_all_sums(db: sqlite3.Connection) -> None:
    """Give each row that has no checksum one. Rows that an earlier version wrote are assumed to be sound."""
    if first_summed_rows(db) != _ALL:
        add_document_sums(db)
        add_passage_sums(db)
        set_first_summed_rows(db, _ALL)


def count_without_sums(db: sqlite3.Connection) -> int:
    """The number of passages and documents without a checksum, which an earlier version wrote."""
    return sum(db.execute(_WITHOUT).fetchone())
