"""The rows of documents and of records' metadata: written with checksums, compared with them when they are read.

The metadata of records (rows of a table and lines of JSON, some of whose columns were chosen as metadata) are in a
table of their own, by the id of the passage, since few passages are such records.

Filters and facets read all rows of documents and of records' metadata, and would silently miss a document whose row is
damaged. So before the first of them in each generation, `check_all_documents` compares and counts all these rows.
"""

from __future__ import annotations

import json
import re
import sqlite3
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import PurePosixPath
from typing import Any, NamedTuple

from semsearch.arrays.id_ranges import IdRanges
from semsearch.sources.roots import ADDED
from semsearch.storage.checksums import (
    ABSOLUTE,
    damaged_document,
    damaged_index,
    damaged_passage,
    document_damage,
    get_digests,
    matches_checksum,
    replacing_invalid_utf8,
    with_checksums,
)

# two letters, or one of a script that needs no more
_WORD = re.compile(r"[^\W\d_]{2,}|[^\W\d_a-zA-Z]")

# -- Documents ---------------------------------------------------------------------------------------------------------


class DocumentRow(NamedTuple):
    """A row of the documents: its columns, see semsearch.storage.schema, and where its file lies."""

    id: int
    first_passage: int
    passages: int
    root_id: int  # 0: a text that a program added
    path: str  # below the root; or the id that the program gave
    file: str | None  # the path as the disk spells it, where that differs
    title: str
    format: str
    metadata_json: str
    size: int  # of the file, and
    mtime_ns: int  # its time, both as they were when it was last read or compared
    checked_ns: int
    digest: str  # of its bytes
    first_sentence: int
    sentences: int
    words: int
    indexed_at: str
    language: str  # "" if unknown
    reader: str
    root: str = ""  # the path of its root; "" for a text that a program added
    absolute: str = ""  # the path to open, with forward slashes; or the id

    @property
    def metadata(self) -> Mapping[str, Any]:
        """The metadata of its file, or from the program that added it."""
        metadata: dict[str, Any] = json.loads(self.metadata_json)
        return metadata

    @property
    def descriptive_title(self) -> str:
        """The title; "" if it has no words, or is the file's name for want of a title, and only one word."""
        words = len(_WORD.findall(self.title))
        says_something = words >= 2 or (words == 1 and self.title != PurePosixPath(self.path).stem)
        return self.title if says_something else ""


DOCUMENT_COLUMNS = (
    "id, first_passage, passages, root_id, path, file, title, format, metadata, size, mtime_ns, checked_ns, digest, "
    "first_sentence, sentences, words, indexed_at, language, reader"
)
_AT_ONCE = 1000  # documents that are read and compared together
DOCUMENT_NUMBERS = 3  # the first columns, which the upper half of the checksum covers
_WIDTH = DOCUMENT_COLUMNS.count(",") + 1
_OF_DOCUMENTS = ", ".join(f"documents.{name}" for name in DOCUMENT_COLUMNS.split(", "))
DOCUMENT_WITH_PATH = f"{_OF_DOCUMENTS}, documents.sum, coalesce(roots.path, ''), {ABSOLUTE}"  # as `checked` takes it
WITH_ROOT = "FROM documents LEFT JOIN roots ON roots.id = documents.root_id"
_ALL_DOCUMENTS = f"SELECT {DOCUMENT_COLUMNS}, sum FROM documents"
_DOCUMENTS_BY_ID = f"{_ALL_DOCUMENTS} WHERE id IN (SELECT value FROM json_each(?))"
_PLACED_BY_ID = f"SELECT {DOCUMENT_WITH_PATH} {WITH_ROOT} WHERE documents.id IN (SELECT value FROM json_each(?))"
_INSERT_DOCUMENT = f"INSERT INTO documents ({DOCUMENT_COLUMNS}, sum) VALUES ({', '.join('?' * (_WIDTH + 1))})"


def insert_documents(db: sqlite3.Connection, rows: Sequence[Sequence[Any]]) -> None:
    """Write rows of `DOCUMENT_COLUMNS` with their checksums."""
    db.executemany(_INSERT_DOCUMENT, with_checksums(rows, DOCUMENT_NUMBERS))


def insert_readings(db: sqlite3.Connection, rows: Sequence[tuple[int, int, str]]) -> None:
    """Write of each document the characters of its file's text, and its omissions as JSON."""
    db.executemany("INSERT INTO readings (document_id, characters, omissions) VALUES (?, ?, ?)", rows)


def get_documents(db: sqlite3.Connection, ids: Iterable[int]) -> dict[int, DocumentRow]:
    """Read documents by id; ids that are not in the index are left out. Raises IndexDamaged."""
    rows = db.execute(_PLACED_BY_ID, (json.dumps([int(id_) for id_ in ids]),)).fetchall()
    return {document.id: document for document in checked_documents(db, rows)}


def require_documents(db: sqlite3.Connection, ids: Collection[int]) -> dict[int, DocumentRow]:
    """Read documents by id, which passages say are there. Raises IndexDamaged if one is not."""
    documents = get_documents(db, ids)
    for id_ in ids:
        if id_ not in documents:
            raise damaged_document(db, id_)
    return documents


def checked_documents(db: sqlite3.Connection, rows: Sequence[Sequence[Any]]) -> list[DocumentRow]:
    """The documents of rows of `DOCUMENT_WITH_PATH`. Raises IndexDamaged."""
    for row in rows:
        if not matches_checksum(row[: _WIDTH + 1]):
            raise damaged_document(db, row[0])
    return [DocumentRow(*row[:_WIDTH], *row[_WIDTH + 1 :]) for row in rows]


@contextmanager
def documents_changing(db: sqlite3.Connection, ids: Iterable[int]) -> Iterator[None]:
    """Compare documents before their rows are changed, and give them the checksums of what they are afterwards.

    Raises IndexDamaged.
    """
    wanted = [*ids]
    if not wanted:
        yield
        return
    get_documents(db, wanted)
    yield
    rows = [row[:-1] for row in db.execute(_DOCUMENTS_BY_ID, (json.dumps(wanted),))]
    pairs = [(row[-1], row[0]) for row in with_checksums(rows, DOCUMENT_NUMBERS)]
    db.executemany("UPDATE documents SET sum = ? WHERE id = ?", pairs)


# -- Removal -----------------------------------------------------------------------------------------------------------

_IDS_OF_PASSAGES = """SELECT coalesce(min(id), 0), coalesce(max(id) + 1 - min(id), 0), coalesce(min(first_sentence), 0),
    coalesce(max(first_sentence + sentence_count) - min(first_sentence), 0) FROM passages WHERE document_id = ?"""


def delete_document(db: sqlite3.Connection, document: int, *, generation: int) -> bool:
    """Delete the rows of a document, also damaged ones; return whether there was one.

    Its passages and sentences count as removed from the generation on.
    """
    with replacing_invalid_utf8(db):
        row = db.execute(_DOCUMENTS_BY_ID, (json.dumps([document]),)).fetchone()
    if row is None:
        return False
    if matches_checksum(row):
        columns = DocumentRow(*row[:-1])
        ids = columns.first_passage, columns.passages, columns.first_sentence, columns.sentences
    else:
        ids = db.execute(_IDS_OF_PASSAGES, (document,)).fetchone()  # reads all passages
    first, passages, *_ = ids
    db.execute("DELETE FROM passages WHERE id >= ? AND id < ?", (first, first + passages))
    db.execute("DELETE FROM documents WHERE id = ?", (document,))
    db.execute("DELETE FROM readings WHERE document_id = ?", (document,))
    db.execute("DELETE FROM record_metadata WHERE document_id = ?", (document,))
    if passages:
        db.execute("INSERT INTO removed VALUES (?, ?, ?, ?, ?)", (*ids, generation))
    return True


# -- Metadata of records -----------------------------------------------------------------------------------------------

_ALL_RECORDS = "SELECT passage_id, document_id, metadata, sum FROM record_metadata"
_INSERT_RECORD = "INSERT INTO record_metadata (passage_id, document_id, metadata, sum) VALUES (?, ?, ?, ?)"
_RECORDS_BY_ID = f"{_ALL_RECORDS} WHERE passage_id IN (SELECT value FROM json_each(?))"


def insert_records(db: sqlite3.Connection, rows: Sequence[tuple[int, int, str]]) -> None:
    """Write the metadata of records with their checksums: passage id, document id, JSON."""
    db.executemany(_INSERT_RECORD, with_checksums(rows, 2))


def get_record_metadata(db: sqlite3.Connection, ids: Sequence[int]) -> dict[int, dict[str, Any]]:
    """Read the metadata of the records that passages are of (`is_of_record`), by passage id. Raises IndexDamaged."""
    rows = {row[0]: row for row in db.execute(_RECORDS_BY_ID, (json.dumps(ids),))}
    for id_ in ids:
        if id_ not in rows or not matches_checksum(rows[id_]):
            raise damaged_passage(db, id_)
    return {id_: json.loads(rows[id_][2]) for id_ in ids}


def has_record_metadata(db: sqlite3.Connection) -> bool:
    """Return whether any record has metadata."""
    return db.execute("SELECT 1 FROM record_metadata LIMIT 1").fetchone() is not None


# -- All rows ----------------------------------------------------------------------------------------------------------

_INCOMPLETE = """SELECT document_id FROM record_metadata r
    WHERE NOT EXISTS (SELECT 1 FROM record_metadata o WHERE o.passage_id = r.passage_id)
    UNION ALL SELECT d.id FROM documents d WHERE d.id IN (SELECT document_id FROM record_metadata) AND d.passages !=
    (SELECT count(*) FROM passages p WHERE p.id >= d.first_passage AND p.id < d.first_passage + d.passages)"""


_FOUND_BY_PATH = """SELECT count(*) FROM documents d NOT INDEXED WHERE EXISTS (SELECT 1 FROM documents o
    INDEXED BY documents_by_path WHERE o.root_id = d.root_id AND o.path = d.path AND o.id = d.id)"""


def check_all_documents(db: sqlite3.Connection) -> None:
    """Compare the rows of all documents and of all records' metadata, and count them; documents also by their paths, in
    whose order they are listed. Raises IndexDamaged."""
    documents = records = 0
    for row in db.execute(_ALL_DOCUMENTS):
        if not matches_checksum(row):
            raise damaged_document(db, row[0])
        documents += 1
    for row in db.execute(_ALL_RECORDS):
        if not matches_checksum(row):
            raise damaged_passage(db, row[0])
        records += 1
    stored = get_digests(db)
    if (documents, records) != (stored.documents, stored.records):  # a damaged B-tree may have lost some
        raise damaged_index(
            db, f"it has {documents} of {stored.documents} documents and {records} of {stored.records} records"
        )
    (paths,) = db.execute(_FOUND_BY_PATH).fetchone()
    if paths != documents:
        raise damaged_index(db, f"it finds {paths} of {documents} documents by their paths")
    if records:
        for (document,) in db.execute(_INCOMPLETE):
            raise damaged_document(db, document)


def find_damaged_documents(db: sqlite3.Connection) -> Iterator[str]:
    """Yield the rows of documents and records that do not match their checksums, a line each with the remedy."""
    with replacing_invalid_utf8(db):
        for row in db.execute(_ALL_DOCUMENTS):
            if not matches_checksum(row):
                yield document_damage(db, row[0])
        for row in db.execute(_ALL_RECORDS):
            if not matches_checksum(row):
                yield document_damage(db, row[1])


def documents_in_order(db: sqlite3.Connection) -> Iterator[DocumentRow]:
    """Yield all documents that have passages, in the order of these. Raises IndexDamaged."""
    rows = db.execute(f"SELECT {DOCUMENT_WITH_PATH} {WITH_ROOT} WHERE passages > 0 ORDER BY first_passage")
    while some := rows.fetchmany(_AT_ONCE):
        yield from checked_documents(db, some)


# -- Documents listed and counted --------------------------------------------------------------------------------------


_NAMED = """SELECT path, id FROM documents
    WHERE root_id = ? AND path IN (SELECT value FROM json_each(?))"""


class AddedText(NamedTuple):
    """A text that a program added: its row, and the digest of what it is."""

    document_id: int
    digest: str


def added_text(db: sqlite3.Connection, id: str) -> AddedText | None:
    """Find the text that a program added with an id."""
    row = db.execute("SELECT id, digest FROM documents WHERE root_id = ? AND path = ?", (ADDED, id)).fetchone()
    return None if row is None else AddedText(*row)


def added_texts(db: sqlite3.Connection, ids: Sequence[str]) -> dict[str, int]:
    """The rows of added texts, by their ids; ids that are not in the index are left out."""
    return dict(db.execute(_NAMED, (ADDED, json.dumps(ids))).fetchall())


class Contents(NamedTuple):
    """The counts of an index. `updated`: date and time of its newest document; "" without any."""

    documents: int
    passages: int
    sentences: int
    words: int
    updated: str


def count_contents(db: sqlite3.Connection) -> Contents:
    """Count what an index holds."""
    row = db.execute(
        "SELECT count(*), coalesce(sum(passages), 0), coalesce(sum(sentences), 0), coalesce(sum(words), 0), "
        "coalesce(max(indexed_at), '') FROM documents"
    ).fetchone()
    return Contents(*row)


def count_formats(db: sqlite3.Connection) -> dict[str, int]:
    """The number of documents of each format, most first."""
    return dict(db.execute("SELECT format, count(*) FROM documents GROUP BY format ORDER BY 2 DESC, 1"))


def passage_ids(db: sqlite3.Connection) -> IdRanges:
    """The ids of all passages."""
    return IdRanges.of(db.execute("SELECT first_passage, passages FROM documents"))


def passages_in_language(db: sqlite3.Connection, language: str, *, limit: int) -> list[int]:
    """The ids of the first passages of some documents in a language."""
    rows = db.execute(
        "SELECT first_passage FROM documents WHERE language = ? AND passages > 0 LIMIT ?", (language, limit)
    )
    return [id_ for (id_,) in rows]


def first_passages_of_languages(db: sqlite3.Connection) -> dict[str, int]:
    """The id of the first passage of each language."""
    return dict(db.execute("SELECT language, min(first_passage) FROM documents GROUP BY language"))


def evenly_spaced_passages(db: sqlite3.Connection, count: int) -> list[int]:
    """The ids of so many passages, or a few more, that lie evenly in the index."""
    (passages,) = db.execute("SELECT count(*) FROM passages").fetchone()
    step = max(1, passages // count)
    rows = db.execute("SELECT id FROM passages WHERE id % ? = 0 ORDER BY id LIMIT ?", (step, 2 * count))
    return [id_ for (id_,) in rows]


def count_partly_read(db: sqlite3.Connection) -> int:
    """The number of documents with unread or doubtful parts."""
    return int(db.execute("SELECT count(*) FROM readings WHERE omissions != '[]'").fetchone()[0])


def partly_read_documents(db: sqlite3.Connection) -> list[tuple[str, str]]:
    """The absolute path of each file with unread or doubtful parts, and these as JSON, by root and path."""
    return db.execute(
        f"SELECT {ABSOLUTE}, omissions FROM readings JOIN documents ON documents.id = document_id "
        "JOIN roots ON roots.id = root_id WHERE omissions != '[]' ORDER BY root_id, documents.path"
    ).fetchall()


# -- What filters compare ----------------------------------------------------------------------------------------------


class FilterRow(NamedTuple):
    """The fields of a document that filters and facets compare, or of one of its records, if these have metadata."""

    document_id: int
    first_passage: int
    passages: int
    path: str
    absolute: str
    title: str
    format: str
    mtime_ns: int
    metadata_json: str  # of a record, besides that of its document, which its own replaces


_COMPARED = f"documents.path, {ABSOLUTE}, documents.title, documents.format, documents.mtime_ns"
_PATCHED = """iif(record_metadata.metadata IS NULL, documents.metadata,
    json_patch(documents.metadata, record_metadata.metadata)) FROM"""
_WITH_RECORDS = """LEFT JOIN roots ON roots.id = documents.root_id
    LEFT JOIN record_metadata ON record_metadata.passage_id = passages.id WHERE"""
_OF_DOCUMENTS_ALONE = f"""SELECT documents.id, first_passage, passages, {_COMPARED}, metadata {WITH_ROOT}
    WHERE documents.id NOT IN (SELECT document_id FROM record_metadata)"""
_OF_RECORDS = f"""SELECT documents.id, passages.id, 1, {_COMPARED}, {_PATCHED}
    documents JOIN passages ON passages.id >= first_passage AND passages.id < first_passage + passages
    {_WITH_RECORDS} documents.id IN (SELECT document_id FROM record_metadata) ORDER BY documents.id"""
_OF_PASSAGES = f"""SELECT documents.id, passages.id, 1, {_COMPARED}, {_PATCHED}
    passages JOIN documents ON documents.id = passages.document_id
    {_WITH_RECORDS} passages.id IN (SELECT value FROM json_each(?)) ORDER BY passages.id"""


def filter_rows(db: sqlite3.Connection) -> Iterator[FilterRow]:
    """The fields of all documents that filters compare: a row for each, or for each of its records with metadata."""
    yield from map(FilterRow._make, db.execute(_OF_DOCUMENTS_ALONE))
    if has_record_metadata(db):
        yield from map(FilterRow._make, db.execute(_OF_RECORDS))


def filter_rows_of(db: sqlite3.Connection, passages: Iterable[int]) -> Iterator[FilterRow]:
    """The fields of passages that filters compare: a row for each that exists, by rising ids."""
    return map(FilterRow._make, db.execute(_OF_PASSAGES, (json.dumps([*passages]),)))


# -- Listed documents --------------------------------------------------------------------------------------------------

_COMPARED_IN_ORDER = f"""SELECT documents.id IN (SELECT document_id FROM record_metadata), documents.id, first_passage,
    passages, {_COMPARED}, metadata {WITH_ROOT} WHERE (documents.root_id, documents.path) > (?, ?)
    ORDER BY documents.root_id, documents.path"""
_LISTED = f"""SELECT coalesce(characters, 0), {DOCUMENT_WITH_PATH}
    {WITH_ROOT} LEFT JOIN readings ON document_id = documents.id
    WHERE documents.id IN (SELECT value FROM json_each(?)) ORDER BY documents.root_id, documents.path"""
BEGINNING = (-1, "")  # before all roots


class ListedDocument(NamedTuple):
    """A document, and what was read of its file."""

    characters: int  # of the file's text
    row: DocumentRow


def list_documents(
    db: sqlite3.Connection,
    passes: Callable[[FilterRow], bool] = lambda _: True,
    *,
    after: tuple[int, str] = BEGINNING,
    limit: int,
) -> list[ListedDocument]:
    """The documents that pass, or one of whose records does, from the one after (root id, path) on."""
    passing = list[int]()
    for has_records, *columns in db.execute(_COMPARED_IN_ORDER, after):
        row = FilterRow(*columns)
        passages = range(row.first_passage, row.first_passage + row.passages)
        if any(map(passes, filter_rows_of(db, passages))) if has_records else passes(row):
            passing.append(row.document_id)
            if len(passing) == limit:
                break
    rows = db.execute(_LISTED, (json.dumps(passing),)).fetchall()
    documents = checked_documents(db, [columns for _, *columns in rows])
    return [ListedDocument(row[0], document) for row, document in zip(rows, documents, strict=True)]
