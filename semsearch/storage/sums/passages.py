"""Passages, compared with their checksums as they are read. Each row is compared each time: it costs some microseconds.

Rows that an earlier version wrote have none until they are written again, or `--rebuild` makes them.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Collection, Iterable, Iterator, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from semsearch.storage.sums.damage import (
    damaged_document,
    damaged_passage,
    damaged_whole,
    decoding_anything,
    told_of_passage,
)
from semsearch.storage.sums.documents import documents_by_id
from semsearch.storage.sums.row_sums import is_marked, is_sound, numbers_sum, row_sums, told_sum
from semsearch.storage.sums.since import sums_since

Int64 = npt.NDArray[np.int64]
PassageColumns = tuple[int, int, int, int, int, int | None, str, str, str | None, bytes]
PassageColumnsRead = tuple[int, int, int, int, int, int | None, str, str, str | None, bytes, bool]  # is it of a record

COLUMNS = "id, document_id, first_sentence, sentence_count, line, page, headings, text, places, sentences"
_AT_ONCE = 2048
SENTENCE_BYTES = 20  # that a sentence takes in the column `sentences`
_NUMBERS = 4  # of these are in the upper half
_BY_ID = f"SELECT {COLUMNS}, sum FROM passages WHERE id IN (SELECT value FROM json_each(?))"  # noqa: S608  # ours
_RANGE = f"SELECT {COLUMNS}, sum FROM passages WHERE id >= ? AND id < ? ORDER BY id"  # noqa: S608  # likewise
_INSERT = f"INSERT INTO passages ({COLUMNS}, sum) VALUES ({', '.join('?' * 11)})"  # noqa: S608  # likewise
_OF_PASSAGE = numbers_sum(["passages.id", "document_id", "passages.first_sentence", "sentence_count"])
_OF_DOCUMENT = numbers_sum(["document_id", "first_passage", "documents.passages"])
_SPANS = f"""SELECT passages.id, document_id, passages.first_sentence, sentence_count, first_passage,
    documents.passages,
    coalesce({_OF_PASSAGE} = {told_sum("passages.sum")} AND {_OF_DOCUMENT} = {told_sum("documents.sum")}, -1),
    length(passages.sentences)
    FROM passages JOIN documents ON documents.id = document_id
    WHERE passages.id IN (SELECT value FROM json_each(?))"""  # noqa: S608  # our own names


def insert_passages(db: sqlite3.Connection, rows: Sequence[PassageColumns], records: Collection[int]) -> None:
    """Write rows of `COLUMNS` with their checksums. `records`: the ids of those of records with metadata."""
    sums = row_sums(rows, _NUMBERS, marked=records)
    db.executemany(_INSERT, [(*row, own) for row, own in zip(rows, sums, strict=True)])


def passages_by_id(db: sqlite3.Connection, ids: Iterable[int]) -> Iterator[PassageColumnsRead]:
    """Read sound rows by id; ids that are not in the index are left out. Raises IndexDamaged."""
    return _checked(db, db.execute(_BY_ID, (json.dumps([int(id_) for id_ in ids]),)))


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
            since = sums_since(db).passage if since is None else since
            if told is not None or row[0] >= since:
                raise damaged_passage(db, row[0])
        yield (*row[:-1], told is not None and told < 0)


def spans_of(db: sqlite3.Connection, ids: Int64) -> Int64:
    """The numbers of passages with rising ids, and of their documents: document, first sentence, number of sentences,
    the document's first passage and its number of passages. (n,) -> (n, 5). Raises IndexDamaged.
    """
    rows = db.execute(_SPANS, (json.dumps(ids.tolist()),)).fetchall()
    try:
        found = np.array(rows, dtype=np.int64).reshape(-1, 8)
    except (TypeError, ValueError, OverflowError):  # no numbers
        _tell(db, ids)
        raise
    if not (found[:, 6] == 1).all() and not _are_old(db, found):
        _tell(db, ids)
    if not np.array_equal(found[:, 0], ids):
        found = found[np.argsort(found[:, 0])]
        if not np.array_equal(found[:, 0], ids):
            _tell(db, ids)
            raise damaged_whole(db, "it has lost passages")
    counted, rest = np.divmod(found[:, 7], SENTENCE_BYTES)
    others = np.flatnonzero((counted != found[:, 3]) | (rest != 0))
    if len(others):  # somebody's millions of sentences would take all memory
        raise damaged_passage(db, int(found[others[0], 0]))
    return found[:, 1:6]


def _are_old(db: sqlite3.Connection, found: Int64) -> bool:
    """Return whether rows of `_SPANS` that are not as their checksums say have none, being of an earlier version."""
    since, other = sums_since(db), found[found[:, 6] != 1]
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
    since = sums_since(db).passage
    with decoding_anything(db):
        for row in db.execute(f"SELECT {COLUMNS}, sum FROM passages ORDER BY id"):  # noqa: S608  # ours
            if not is_sound(row) and not (row[-1] is None and row[0] < since):
                yield told_of_passage(db, row[0])


def check_passages_below(db: sqlite3.Connection, last: int) -> None:
    """Compare all passages with ids below `last`, before something is made of all of them. Raises IndexDamaged."""
    for _ in passages_between(db, 0, last):
        pass


def add_passage_sums(db: sqlite3.Connection) -> None:
    """Give the rows that have no checksum theirs."""
    records = {id_ for (id_,) in db.execute("SELECT passage_id FROM record_metadata")}
    lacking = f"SELECT {COLUMNS} FROM passages WHERE sum IS NULL AND id > ? ORDER BY id LIMIT {_AT_ONCE}"  # noqa: S608  # ours
    last = 0
    while rows := db.execute(lacking, (last,)).fetchall():
        sums = row_sums(rows, _NUMBERS, marked=records)
        pairs = [(own, row[0]) for row, own in zip(rows, sums, strict=True)]
        db.executemany("UPDATE passages SET sum = ? WHERE id = ?", pairs)
        last = rows[-1][0]
