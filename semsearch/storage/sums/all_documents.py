"""All rows of documents and of records' metadata, compared at once.

Filters and facets read all rows, and would miss in silence a document whose row is damaged. So before the first of them
in each generation all rows are compared, and counted: a damaged tree of SQLite may have lost some. So are the passages
of documents with records, among which filters choose.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator

from semsearch.storage.sums.damage import damaged_document, damaged_whole, decoding_anything, told_of_document
from semsearch.storage.sums.documents import ALL, RECORDS, check_document, check_record
from semsearch.storage.sums.row_sums import is_sound
from semsearch.storage.sums.seals import get_seals
from semsearch.storage.sums.since import sums_since

_LACKING = """SELECT document_id FROM record_metadata r
    WHERE document_id NOT IN (SELECT document_id FROM record_metadata)
    OR NOT EXISTS (SELECT 1 FROM record_metadata o WHERE o.passage_id = r.passage_id)
    UNION ALL SELECT d.id FROM documents d WHERE d.id IN (SELECT document_id FROM record_metadata) AND d.passages !=
    (SELECT count(*) FROM passages p WHERE p.id >= d.first_passage AND p.id < d.first_passage + d.passages)"""


def check_all_documents(db: sqlite3.Connection) -> None:
    """Compare the rows of all documents and of all records' metadata, and count them. Raises IndexDamaged."""
    documents = records = 0
    for row in db.execute(ALL):
        check_document(db, row)
        documents += 1
    for row in db.execute(RECORDS):
        check_record(db, row)
        records += 1
    told = get_seals(db)
    if told is not None and (documents, records) != (told.documents, told.records):
        raise damaged_whole(db, f"of {told.documents} documents and {told.records} records some have gone")
    if records:
        for (document,) in db.execute(_LACKING):
            raise damaged_document(db, document)


def find_damaged_documents(db: sqlite3.Connection) -> Iterator[str]:
    """Yield which documents' rows are not as they were written, a line each."""
    since = sums_since(db)
    with decoding_anything(db):
        for query, first in ((ALL, since.document), (RECORDS, since.passage)):
            for row in db.execute(query):
                if not is_sound(row) and not (row[-1] is None and row[0] < first):
                    yield told_of_document(db, row[0] if query == ALL else row[1])
