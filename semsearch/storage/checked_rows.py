"""Rows of documents, passages and records, compared with their checksums each time they are read, in microseconds.

A document's row is written once, and changed when its file moves or its language is detected again. The metadata of
records (rows of a table and lines of JSON, some of whose columns were chosen as metadata) are in a table of their own,
by the id of the passage, since few passages are such records. Rows that an earlier version wrote have no checksums
until they are written again, or `--rebuild` adds them.
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
    first_summed_rows,
    is_marked,
    is_sound,
    numbers_sum,
    row_sums,
    told_of_passage,
    told_sum,
)

DOCUMENT_COLUMNS = (
    "id, first_passage, passages, root_id, path, file, title, format, metadata, size, mtime_ns, checked_ns, digest, "
    "first_sentence, sentences, words, indexed_at, language"
)
DOCUMENT_WITH_SUM = ", ".join(f"documents.{name}" for name in [*DOCUMENT_COLUMNS.split(", "), "sum"])
_DOCUMENT_NUMBERS = 3  # of these are in the upper half
_INSERT_DOCUMENT = f"INSERT INTO documents ({DOCUMENT_COLUMNS}, sum) VALUES ({', '.join('?' * 19)})"  # noqa: S608  # ours
DOCUMENT_BY_ID = f"SELECT {DOCUMENT_WITH_SUM} FROM documents WHERE id IN (SELECT value FROM json_each(?))"  # noqa: S608  # likewise
ALL_DOCUMENTS = f"SELECT {DOCUMENT_WITH_SUM} FROM documents"  # noqa: S608  # likewise
ALL_RECORDS = "SELECT passage_id, document_id, metadata, sum FROM record_metadata"
RECORDS_BY_ID = f"{ALL_RECORDS} WHERE passage_id IN (SELECT value FROM json_each(?))"  # noqa: S608  # likewise


def insert_documents(db: sqlite3.Connection, rows: Sequence[Sequence[Any]]) -> None:
    """Write rows of `COLUMNS` with their checksums."""
    sums = row_sums(rows, _DOCUMENT_NUMBERS)
    db.executemany(_INSERT_DOCUMENT, [(*row, own) for row, own in zip(rows, sums, strict=True)])


def insert_records(db: sqlite3.Connection, rows: Sequence[tuple[int, int, str]]) -> None:
    """Write the metadata of records with their checksums: passage id, document id, JSON."""
    db.executemany(
        "INSERT INTO record_metadata (passage_id, document_id, metadata, sum) VALUES (?, ?, ?, ?)",
        [(*row, own) for row, own in zip(rows, row_sums(rows, 2), strict=True)],
    )


def documents_by_id(db: sqlite3.Connection, ids: Iterable[int]) -> Iterator[Sequence[Any]]:
    """Read sound rows of `COLUMNS` by id; ids that are not in the index are left out. Raises IndexDamaged."""
    for row in db.execute(DOCUMENT_BY_ID, (json.dumps([int(id_) for id_ in ids]),)):
        check_document(db, row)
        yield row


def records_of(db: sqlite3.Connection, passage_ids: Iterable[int]) -> Iterator[tuple[int, str]]:
    """Read sound metadata of records by passage id; passages of no such record are left out. Raises IndexDamaged."""
    for row in db.execute(RECORDS_BY_ID, (json.dumps([*passage_ids]),)):
        check_record(db, row)
        yield row[0], row[2]


def check_document(db: sqlite3.Connection, row: Sequence[Any]) -> None:
    """Compare a row of `WITH_SUM`. Raises IndexDamaged."""
    if not is_sound(row) and not (row[-1] is None and row[0] < first_summed_rows(db).document):
        raise damaged_document(db, row[0])


def check_record(db: sqlite3.Connection, row: Sequence[Any]) -> None:
    """Compare a row of `RECORDS`. Raises IndexDamaged."""
    if not is_sound(row) and not (row[-1] is None and row[0] < first_summed_rows(db).passage):
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
    _add_sums(db, DOCUMENT_BY_ID, (json.dumps(wanted),))


def add_document_sums(db: sqlite3.Connection) -> None:
    """Give the rows of documents and records that have no checksum theirs."""
    _add_sums(db, f"{ALL_DOCUMENTS} WHERE sum IS NULL", ())
    rows = db.execute(f"{ALL_RECORDS} WHERE sum IS NULL").fetchall()
    sums = row_sums([row[:-1] for row in rows], 2)
    db.executemany(
        "UPDATE record_metadata SET sum = ? WHERE passage_id = ?",
        [(own, row[0]) for row, own in zip(rows, sums, strict=True)],
    )


def _add_sums(db: sqlite3.Connection, query: str, parameters: tuple[str, ...]) -> None:
    rows = [row[:-1] for row in db.execute(query, parameters)]
    db.executemany(
        "UPDATE documents SET sum = ? WHERE id = ?",
        [(own, row[0]) for row, own in zip(rows, row_sums(rows, _DOCUMENT_NUMBERS), strict=True)],
    )


# -- Passages ----------------------------------------------------------------------------------------------------------

PassageColumns = tuple[int, int, int, int, int, int | None, str, str, str | None, bytes]
PassageColumnsRead = tuple[int, int, int, int, int, int | None, str, str, str | None, bytes, bool]  # is it of a record

PASSAGE_COLUMNS = "id, document_id, first_sentence, sentence_count, line, page, headings, text, places, sentences"
_AT_ONCE = 2048
SENTENCE_BYTES = 20  # that a sentence takes in the column `sentences`
_PASSAGE_NUMBERS = 4  # of these are in the upper half
_PASSAGE_BY_ID = f"SELECT {PASSAGE_COLUMNS}, sum FROM passages WHERE id IN (SELECT value FROM json_each(?))"  # noqa: S608  # ours
_RANGE = f"SELECT {PASSAGE_COLUMNS}, sum FROM passages WHERE id >= ? AND id < ? ORDER BY id"  # noqa: S608  # likewise
_INSERT_PASSAGE = f"INSERT INTO passages ({PASSAGE_COLUMNS}, sum) VALUES ({', '.join('?' * 11)})"  # noqa: S608  # likewise
_OF_PASSAGE = numbers_sum(["passages.id", "document_id", "passages.first_sentence", "sentence_count"])
_OF_DOCUMENT = numbers_sum(["document_id", "first_passage", "documents.passages"])
_IS_TEST = """'/' || documents.path GLOB '*[-/_.][tT]est[-/_.s]*' OR documents.path GLOB '*[a-z]Test*.*'
    OR '/' || documents.path GLOB '*[-/_.]spec[-/_.s]*'"""
_SPANS = f"""SELECT passages.id, document_id, passages.first_sentence, sentence_count, first_passage,
    documents.passages,
    coalesce({_OF_PASSAGE} = {told_sum("passages.sum")} AND {_OF_DOCUMENT} = {told_sum("documents.sum")}, -1),
    length(passages.sentences), length(passages.headings) > 2,
    CASE WHEN documents.format NOT IN ('code', 'python') THEN 0 WHEN {_IS_TEST} THEN 2 ELSE 1 END
    FROM passages JOIN documents ON documents.id = document_id
    WHERE passages.id IN (SELECT value FROM json_each(?))"""  # noqa: S608  # our own names


def insert_passages(db: sqlite3.Connection, rows: Sequence[PassageColumns], records: Collection[int]) -> None:
    """Write rows of `COLUMNS` with their checksums. `records`: the ids of those of records with metadata."""
    sums = row_sums(rows, _PASSAGE_NUMBERS, marked=records)
    db.executemany(_INSERT_PASSAGE, [(*row, own) for row, own in zip(rows, sums, strict=True)])


def passages_by_id(db: sqlite3.Connection, ids: Iterable[int]) -> Iterator[PassageColumnsRead]:
    """Read sound rows by id; ids that are not in the index are left out. Raises IndexDamaged."""
    return _checked(db, db.execute(_PASSAGE_BY_ID, (json.dumps([int(id_) for id_ in ids]),)))


def needed_passages(db: sqlite3.Connection, ids: Sequence[int]) -> list[PassageColumnsRead]:
    """Read sound rows by id, which segments or documents say are there. Raises IndexDamaged if one is not."""
    rows = [*passages_by_id(db, ids)]
    if len(rows) < len({*ids}):
        raise damaged_passage(db, min({*ids} - {row[0] for row in rows}, default="of several"))
    return rows


def passages_between(db: sqlite3.Connection, first: int, last: int) -> Iterator[PassageColumnsRead]:
    """Read sound rows with ids from `first` to below `last`, rising. Raises IndexDamaged."""
    return _checked(db, db.execute(_RANGE, (first, last)))


def text_in(row: PassageColumnsRead) -> str:
    """The text of a passage, of its columns."""
    return row[7]


def sound_passages_between(db: sqlite3.Connection, first: int, last: int) -> Iterator[PassageColumnsRead]:
    """Read the rows with ids from `first` to below `last` that are as they were written; rising."""
    with decoding_anything(db):
        for row in db.execute(_RANGE, (first, last)):
            if row[-1] is None or is_sound(row):
                yield (*row[:-1], is_marked(row[-1]))


def _checked(db: sqlite3.Connection, rows: Iterable[Sequence[Any]]) -> Iterator[PassageColumnsRead]:
    """The columns of rows that end with their checksums. Raises IndexDamaged if they are not those of it."""
    since: int | None = None
    for row in rows:
        told = row[-1]
        if not is_sound(row):
            since = first_summed_rows(db).passage if since is None else since
            if told is not None or row[0] >= since:
                raise damaged_passage(db, row[0])
        yield (*row[:-1], told is not None and told < 0)


def spans_of(db: sqlite3.Connection, ids: Int64) -> Int64:
    """The numbers of passages with rising ids, and of their documents: document, first sentence, number of sentences,
    the document's first passage, its number of passages, 1 if there are headings, and 1 if it is source code, 2
    if that is a test. (n,) -> (n, 7). Raises IndexDamaged.
    """
    rows = db.execute(_SPANS, (json.dumps(ids.tolist()),)).fetchall()
    try:
        found = np.array(rows, dtype=np.int64).reshape(-1, 10)
    except (TypeError, ValueError, OverflowError):  # no numbers
        _tell(db, ids)
        raise
    if not (found[:, 6] == 1).all() and not _are_old(db, found):
        _tell(db, ids)
    if not np.array_equal(found[:, 0], ids):
        found = found[np.argsort(found[:, 0])]
        if not np.array_equal(found[:, 0], ids):
            _tell(db, ids)
            raise damaged_whole(db, "passages are missing")
    counted, rest = np.divmod(found[:, 7], SENTENCE_BYTES)
    others = np.flatnonzero((counted != found[:, 3]) | (rest != 0))
    if len(others):  # somebody's millions of sentences would take all memory
        raise damaged_passage(db, int(found[others[0], 0]))
    return found[:, [1, 2, 3, 4, 5, 8, 9]]


def _are_old(db: sqlite3.Connection, found: Int64) -> bool:
    """Return whether rows of `_SPANS` that are not as their checksums say have none, being of an earlier version."""
    since, other = first_summed_rows(db), found[found[:, 6] != 1]
    return bool(((other[:, 6] < 0) & (other[:, 0] < since.passage) & (other[:, 1] < since.document)).all())


def _tell(db: sqlite3.Connection, ids: Int64) -> None:
    """Raise IndexDamaged for passages of which one, or its document, has gone or is not as it was written.

    Rows of an earlier version, which have no checksum, are no damage.
    """
    rows = needed_passages(db, ids.tolist())
    documents = {row[1] for row in rows}
    for id_ in documents - {row[0] for row in documents_by_id(db, documents)}:
        raise damaged_document(db, id_)


def find_damaged_passages(db: sqlite3.Connection) -> Iterator[str]:
    """Yield which passages are not as they were written, a line each."""
    since = first_summed_rows(db).passage
    with decoding_anything(db):
        for row in db.execute(f"SELECT {PASSAGE_COLUMNS}, sum FROM passages ORDER BY id"):  # noqa: S608  # ours
            if not is_sound(row) and not (row[-1] is None and row[0] < since):
                yield told_of_passage(db, row[0])


def check_passages_below(db: sqlite3.Connection, last: int) -> None:
    """Compare all passages with ids below `last`, before something is made of all of them. Raises IndexDamaged."""
    for _ in passages_between(db, 0, last):
        pass


def add_passage_sums(db: sqlite3.Connection) -> None:
    """Give the rows that have no checksum theirs."""
    records = {id_ for (id_,) in db.execute("SELECT passage_id FROM record_metadata")}
    lacking = f"SELECT {PASSAGE_COLUMNS} FROM passages WHERE sum IS NULL AND id > ? ORDER BY id LIMIT {_AT_ONCE}"  # noqa: S608  # ours
    last = 0
    while rows := db.execute(lacking, (last,)).fetchall():
        sums = row_sums(rows, _PASSAGE_NUMBERS, marked=records)
        pairs = [(own, row[0]) for row, own in zip(rows, sums, strict=True)]
        db.executemany("UPDATE passages SET sum = ? WHERE id = ?", pairs)
        last = rows[-1][0]


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


# -- Held --------------------------------------------------------------------------------------------------------------

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
        row = db.execute(DOCUMENT_BY_ID, (json.dumps([document]),)).fetchone()
    if row is None:
        return None
    if row[-1] is None or is_sound(row):
        return DocumentExtent(row[1], row[2], row[13], row[14] or 0)
    return DocumentExtent(*db.execute(_BY_PASSAGES, (document,)).fetchone())  # all of them are looked through
