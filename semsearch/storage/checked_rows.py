"""Rows of documents, passages and records, written with checksums and compared with them each time they are read.

The metadata of records (rows of a table and lines of JSON, some of whose columns were chosen as metadata) are in a
table of their own, by the id of the passage, since few passages are such records.

Filters and facets read all rows of documents and of records' metadata, and would silently miss a document whose row is
damaged. So before the first of them in each generation, `check_all_documents` compares and counts all these rows.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Collection, Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, NamedTuple

import numpy as np

from semsearch.arrays.types import Int64
from semsearch.storage.checksums import (
    damaged_document,
    damaged_passage,
    damaged_whole,
    decoding_anything,
    document_damage,
    get_digests,
    is_sound,
    numbers_sum,
    passage_damage,
    row_sums,
    stored_numbers_sum,
)

# -- Documents and records ---------------------------------------------------------------------------------------------


class DocumentColumns(NamedTuple):
    """The columns of a document but for its checksum: see semsearch.storage.schema."""

    id: int
    first_passage: int
    passages: int
    root_id: int  # 0: a text that a program added
    path: str  # below the root, or the id
    file: str | None  # the path as the disk spells it, where that differs
    title: str
    format: str
    metadata: str  # JSON
    size: int
    mtime_ns: int
    checked_ns: int
    digest: str
    first_sentence: int
    sentences: int
    words: int
    indexed_at: str
    language: str
    reader: str


DOCUMENT_COLUMNS = ", ".join(DocumentColumns._fields)
DOCUMENT_NUMBERS = 3  # the first columns, which the upper half of the checksum covers
DOCUMENT_WITH_SUM = ", ".join(f"documents.{name}" for name in [*DOCUMENT_COLUMNS.split(", "), "sum"])
_INSERT_DOCUMENT = f"INSERT INTO documents ({DOCUMENT_COLUMNS}, sum) VALUES ({', '.join('?' * 20)})"
_ALL_DOCUMENTS = f"SELECT {DOCUMENT_WITH_SUM} FROM documents"
_DOCUMENTS_BY_ID = f"{_ALL_DOCUMENTS} WHERE id IN (SELECT value FROM json_each(?))"
_ALL_RECORDS = "SELECT passage_id, document_id, metadata, sum FROM record_metadata"
_RECORDS_BY_ID = f"{_ALL_RECORDS} WHERE passage_id IN (SELECT value FROM json_each(?))"
_INCOMPLETE = """SELECT document_id FROM record_metadata r
    WHERE NOT EXISTS (SELECT 1 FROM record_metadata o WHERE o.passage_id = r.passage_id)
    UNION ALL SELECT d.id FROM documents d WHERE d.id IN (SELECT document_id FROM record_metadata) AND d.passages !=
    (SELECT count(*) FROM passages p WHERE p.id >= d.first_passage AND p.id < d.first_passage + d.passages)"""


def insert_documents(db: sqlite3.Connection, rows: Sequence[Sequence[Any]]) -> None:
    """Write rows of `DOCUMENT_COLUMNS` with their checksums."""
    sums = row_sums(rows, DOCUMENT_NUMBERS)
    db.executemany(_INSERT_DOCUMENT, [(*row, checksum) for row, checksum in zip(rows, sums, strict=True)])


def insert_records(db: sqlite3.Connection, rows: Sequence[tuple[int, int, str]]) -> None:
    """Write the metadata of records with their checksums: passage id, document id, JSON."""
    db.executemany(
        "INSERT INTO record_metadata (passage_id, document_id, metadata, sum) VALUES (?, ?, ?, ?)",
        [(*row, checksum) for row, checksum in zip(rows, row_sums(rows, 2), strict=True)],
    )


def insert_readings(db: sqlite3.Connection, rows: Sequence[tuple[int, int, str]]) -> None:
    """Write of each document the characters of its file's text, and its omissions as JSON."""
    db.executemany("INSERT INTO readings (document_id, characters, omissions) VALUES (?, ?, ?)", rows)


def documents_by_id(db: sqlite3.Connection, ids: Iterable[int]) -> Iterator[DocumentColumns]:
    """Read sound documents by id; ids that are not in the index are left out. Raises IndexDamaged."""
    for row in db.execute(_DOCUMENTS_BY_ID, (json.dumps([int(id_) for id_ in ids]),)):
        check_document(db, row)
        yield DocumentColumns(*row[:-1])


def check_document(db: sqlite3.Connection, row: Sequence[Any]) -> None:
    """Compare a row of `DOCUMENT_WITH_SUM`. Raises IndexDamaged."""
    if not is_sound(row):
        raise damaged_document(db, row[0])


@contextmanager
def documents_changing(db: sqlite3.Connection, ids: Iterable[int]) -> Iterator[None]:
    """Compare documents before their rows are changed, and give them the checksums of what they are afterwards.

    Raises IndexDamaged.
    """
    wanted = [*ids]
    for _ in documents_by_id(db, wanted):
        pass
    yield
    rows = [row[:-1] for row in db.execute(_DOCUMENTS_BY_ID, (json.dumps(wanted),))]
    sums = row_sums(rows, DOCUMENT_NUMBERS)
    db.executemany(
        "UPDATE documents SET sum = ? WHERE id = ?",
        [(checksum, row[0]) for row, checksum in zip(rows, sums, strict=True)],
    )


def get_record_metadata(
    db: sqlite3.Connection, passage_ids: Iterable[int], *, needed: Iterable[int]
) -> dict[int, dict[str, Any]]:
    """Read the metadata of the records that passages are of, by passage id; passages of no such record are left out.

    `needed`: the passages that are known to be of one. Raises IndexDamaged.
    """
    metadata: dict[int, dict[str, Any]] = {}
    for row in db.execute(_RECORDS_BY_ID, (json.dumps([*passage_ids]),)):
        if not is_sound(row):
            raise damaged_passage(db, row[0])
        metadata[row[0]] = json.loads(row[2])
    for id_ in needed:
        if id_ not in metadata:
            raise damaged_passage(db, id_)
    return metadata


def has_record_metadata(db: sqlite3.Connection) -> bool:
    """Return whether any record has metadata."""
    return db.execute("SELECT 1 FROM record_metadata LIMIT 1").fetchone() is not None


def check_all_documents(db: sqlite3.Connection) -> None:
    """Compare the rows of all documents and of all records' metadata, and count them. Raises IndexDamaged."""
    documents = records = 0
    for row in db.execute(_ALL_DOCUMENTS):
        check_document(db, row)
        documents += 1
    for row in db.execute(_ALL_RECORDS):
        if not is_sound(row):
            raise damaged_passage(db, row[0])
        records += 1
    stored = get_digests(db)
    if (documents, records) != (stored.documents, stored.records):  # a damaged B-tree may have lost some
        raise damaged_whole(
            db, f"it has {documents} of {stored.documents} documents and {records} of {stored.records} records"
        )
    if records:
        for (document,) in db.execute(_INCOMPLETE):
            raise damaged_document(db, document)


# -- Passages ----------------------------------------------------------------------------------------------------------


class PassageColumns(NamedTuple):
    """The columns of a passage: see semsearch.storage.schema. Its checksum says whether it is of a record."""

    id: int
    document_id: int
    first_sentence: int
    sentence_count: int
    line: int
    page: int | None
    headings: str  # JSON
    text: str
    places: str | None  # JSON
    sentences: bytes
    is_of_record: bool  # which has metadata of its own


PASSAGE_COLUMNS = ", ".join(PassageColumns._fields[:-1])
PASSAGE_NUMBERS = 4  # the first columns, which the upper half of the checksum covers
SENTENCE_BYTES = 20  # that a sentence takes in the column `sentences`
_INSERT_PASSAGE = f"INSERT INTO passages ({PASSAGE_COLUMNS}, sum) VALUES ({', '.join('?' * 11)})"
_PASSAGES = f"SELECT {PASSAGE_COLUMNS}, sum FROM passages"
_PASSAGES_BY_ID = f"{_PASSAGES} WHERE id IN (SELECT value FROM json_each(?))"
_PASSAGES_BETWEEN = f"{_PASSAGES} WHERE id >= ? AND id < ? ORDER BY id"
_OF_PASSAGE = numbers_sum(["passages.id", "document_id", "passages.first_sentence", "sentence_count"])
_OF_DOCUMENT = numbers_sum(["document_id", "first_passage", "documents.passages"])
_IS_TEST = """'/' || documents.path GLOB '*[-/_.][tT]est[-/_.s]*' OR documents.path GLOB '*[a-z]Test*.*'
    OR '/' || documents.path GLOB '*[-/_.]spec[-/_.s]*'"""
_SPANS = f"""SELECT passages.id, document_id, passages.first_sentence, sentence_count, first_passage,
    documents.passages, {_OF_PASSAGE} = {stored_numbers_sum("passages.sum")}
    AND {_OF_DOCUMENT} = {stored_numbers_sum("documents.sum")},
    length(passages.sentences), length(passages.headings) > 2,
    CASE WHEN documents.format NOT IN ('code', 'python') THEN 0 WHEN {_IS_TEST} THEN 2 ELSE 1 END
    FROM passages JOIN documents ON documents.id = document_id
    WHERE passages.id IN (SELECT value FROM json_each(?))"""


def insert_passages(db: sqlite3.Connection, rows: Sequence[Sequence[Any]], records: Collection[int]) -> None:
    """Write rows of `PASSAGE_COLUMNS` with their checksums. `records`: the ids of those of records with metadata."""
    sums = row_sums(rows, PASSAGE_NUMBERS, marked=records)
    db.executemany(_INSERT_PASSAGE, [(*row, checksum) for row, checksum in zip(rows, sums, strict=True)])


def passages_by_id(db: sqlite3.Connection, ids: Iterable[int]) -> Iterator[PassageColumns]:
    """Read sound rows by id; ids that are not in the index are left out. Raises IndexDamaged."""
    return _checked(db, db.execute(_PASSAGES_BY_ID, (json.dumps([int(id_) for id_ in ids]),)))


def needed_passages(db: sqlite3.Connection, ids: Sequence[int]) -> list[PassageColumns]:
    """Read sound rows by id, which segments or documents say are there. Raises IndexDamaged if one is not."""
    rows = [*passages_by_id(db, ids)]
    if len(rows) < len({*ids}):
        raise damaged_passage(db, min({*ids} - {row.id for row in rows}, default="of several"))
    return rows


def passages_between(db: sqlite3.Connection, first: int, last: int) -> Iterator[PassageColumns]:
    """Read sound rows with ids from `first` to below `last`, rising. Raises IndexDamaged."""
    return _checked(db, db.execute(_PASSAGES_BETWEEN, (first, last)))


def sound_passages_between(db: sqlite3.Connection, first: int, last: int) -> Iterator[PassageColumns]:
    """Read the rows with ids from `first` to below `last` that are as they were written; rising."""
    with decoding_anything(db):
        for row in db.execute(_PASSAGES_BETWEEN, (first, last)):
            if is_sound(row):
                yield PassageColumns._make((*row[:-1], row[-1] < 0))


def _checked(db: sqlite3.Connection, rows: Iterable[Sequence[Any]]) -> Iterator[PassageColumns]:
    """The columns of rows that end with their checksums. Raises IndexDamaged if they are not those of it."""
    for row in rows:
        if not is_sound(row):
            raise damaged_passage(db, row[0])
        yield PassageColumns._make((*row[:-1], row[-1] < 0))


def spans_of(db: sqlite3.Connection, ids: Int64) -> Int64:
    """The numbers of passages with rising ids, and of their documents: document, first sentence, number of sentences,
    the document's first passage, its number of passages, 1 if there are headings, and 1 if it is source code, 2
    if that is a test. (n,) -> (n, 7). Raises IndexDamaged.
    """
    rows = db.execute(_SPANS, (json.dumps(ids.tolist()),)).fetchall()
    try:
        numbers = np.array(rows, dtype=np.int64).reshape(-1, 10)
    except (TypeError, ValueError, OverflowError):  # no numbers
        _raise_damage(db, ids)
        raise
    if not (numbers[:, 6] == 1).all():
        _raise_damage(db, ids)
    if not np.array_equal(numbers[:, 0], ids):
        numbers = numbers[np.argsort(numbers[:, 0])]
        if not np.array_equal(numbers[:, 0], ids):
            _raise_damage(db, ids)
            raise damaged_whole(db, "passages are missing")
    count, rest = np.divmod(numbers[:, 7], SENTENCE_BYTES)
    wrong = np.flatnonzero((count != numbers[:, 3]) | (rest != 0))
    if len(wrong):  # somebody's millions of sentences would take all memory
        raise damaged_passage(db, int(numbers[wrong[0], 0]))
    return numbers[:, [1, 2, 3, 4, 5, 8, 9]]


def _raise_damage(db: sqlite3.Connection, ids: Int64) -> None:
    """Raise IndexDamaged for passages of which one, or its document, has gone or is not as it was written."""
    rows = needed_passages(db, ids.tolist())
    documents = {row.document_id for row in rows}
    for id_ in documents - {row.id for row in documents_by_id(db, documents)}:
        raise damaged_document(db, id_)


# -- Removal, and verifying all ----------------------------------------------------------------------------------------

_BY_PASSAGES = """SELECT coalesce(min(id), 0), coalesce(max(id) + 1 - min(id), 0), coalesce(min(first_sentence), 0),
    coalesce(max(first_sentence + sentence_count) - min(first_sentence), 0) FROM passages WHERE document_id = ?"""


class DocumentExtent(NamedTuple):
    """The passages and sentences of a document: first id, and number, of each."""

    first_passage: int
    passages: int
    first_sentence: int
    sentences: int


def extent_of(db: sqlite3.Connection, document: int) -> DocumentExtent | None:
    """Find what a document has, also if its row is damaged; None if there is no such document."""
    with decoding_anything(db):
        row = db.execute(_DOCUMENTS_BY_ID, (json.dumps([document]),)).fetchone()
    if row is None:
        return None
    if is_sound(row):
        columns = DocumentColumns(*row[:-1])
        return DocumentExtent(columns.first_passage, columns.passages, columns.first_sentence, columns.sentences)
    return DocumentExtent(*db.execute(_BY_PASSAGES, (document,)).fetchone())  # all of them are looked through


def delete_document(db: sqlite3.Connection, document: int, extent: DocumentExtent, *, generation: int) -> None:
    """Delete the rows of a document; its passages and sentences count as removed from a generation on."""
    first, passages, *_ = extent
    db.execute("DELETE FROM passages WHERE id >= ? AND id < ?", (first, first + passages))
    db.execute("DELETE FROM documents WHERE id = ?", (document,))
    db.execute("DELETE FROM readings WHERE document_id = ?", (document,))
    db.execute("DELETE FROM record_metadata WHERE document_id = ?", (document,))
    if passages:
        db.execute("INSERT INTO removed VALUES (?, ?, ?, ?, ?)", (*extent, generation))


def find_damaged_rows(db: sqlite3.Connection) -> Iterator[str]:
    """Yield the rows that do not match their checksums, a line each with the remedy. Reads all rows."""
    with decoding_anything(db):
        for row in db.execute(_ALL_DOCUMENTS):
            if not is_sound(row):
                yield document_damage(db, row[0])
        for row in db.execute(_ALL_RECORDS):
            if not is_sound(row):
                yield document_damage(db, row[1])
        for row in db.execute(f"{_PASSAGES} ORDER BY id"):
            if not is_sound(row):
                yield passage_damage(db, row[0])
