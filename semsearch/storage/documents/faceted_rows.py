"""The rows that facets are counted from: a row for each document, or for each record that has metadata of its own.

Each comes with the truth of some conditions for it.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Sequence

from semsearch.storage.documents.record_metadata import has_record_metadata

_COLUMNS = "CASE WHEN roots.single THEN '' ELSE coalesce(roots.path, '') END, documents.path, format, mtime_ns"
_OF_DOCUMENTS = "SELECT {columns}, documents.metadata{truths} FROM documents LEFT JOIN roots ON roots.id = root_id"
_NOT_OF_RECORDS = " WHERE documents.id NOT IN (SELECT document_id FROM record_metadata)"
_OF_RECORDS = """SELECT {columns}, {metadata}{truths} FROM documents
    JOIN passages ON passages.id >= documents.first_passage
    AND passages.id < documents.first_passage + documents.passages LEFT JOIN roots ON roots.id = documents.root_id
    LEFT JOIN record_metadata ON record_metadata.passage_id = passages.id
    WHERE documents.id IN (SELECT document_id FROM record_metadata)"""
WITH_RECORDS = "json_patch(documents.metadata, coalesce(record_metadata.metadata, '{}'))"  # a record's own win

FacetedRow = tuple[str, str, str, int | None, str]  # root or "", path, format, time of the file or None, metadata


def each_row(
    db: sqlite3.Connection,
    of_documents: Sequence[tuple[str, Sequence[str]]],
    of_records: Sequence[tuple[str, Sequence[str]]],
) -> Iterator[tuple[object, ...]]:
    """Yield a `FacetedRow` and the truth of each condition, which is SQL with its parameters."""
    sql = _OF_DOCUMENTS.format(columns=_COLUMNS, truths=_truths(of_documents))
    records = has_record_metadata(db)
    yield from db.execute(sql + _NOT_OF_RECORDS if records else sql, _parameters(of_documents))
    if records:
        sql = _OF_RECORDS.format(columns=_COLUMNS, metadata=WITH_RECORDS, truths=_truths(of_records))
        yield from db.execute(sql, _parameters(of_records))


def _truths(conditions: Sequence[tuple[str, Sequence[str]]]) -> str:
    return "".join(f", ({sql})" for sql, _ in conditions)


def _parameters(conditions: Sequence[tuple[str, Sequence[str]]]) -> list[str]:
    return [value for _, parameters in conditions for value in parameters]
