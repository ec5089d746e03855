"""The documents of an index as its database has them: listed, found by id, counted for facets.

Facets read one row per document, or per record with metadata of its own.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from semsearch.sources.roots import ADDED
from semsearch.storage.checksums import ABSOLUTE
from semsearch.storage.document_rows import (
    DOCUMENT_WITH_PLACE,
    WITH_ROOT,
    DocumentRow,
    checked_document,
    has_record_metadata,
)

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
    """How much an index holds. `updated`: date and time of its newest document; "" without any."""

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


# -- Listed documents --------------------------------------------------------------------------------------------------

_LISTED = f"""SELECT coalesce(characters, 0), {DOCUMENT_WITH_PLACE}
    {WITH_ROOT} LEFT JOIN readings ON document_id = documents.id
    WHERE (documents.root_id, documents.path) > (?, ?) AND ({{condition}})
    ORDER BY documents.root_id, documents.path LIMIT ?"""
BEGINNING = (-1, "")  # before all roots


class ListedDocument(NamedTuple):
    """A document, and what was read of its file."""

    characters: int  # of the file's text
    row: DocumentRow


def list_documents(
    db: sqlite3.Connection,
    condition: str = "1",
    parameters: Sequence[str] = (),
    *,
    after: tuple[int, str] = BEGINNING,
    limit: int,
) -> list[ListedDocument]:
    """The documents for which a condition over `documents` and `roots` holds, from the one after (root id, path) on."""
    rows = db.execute(_LISTED.format(condition=condition), (*after, *parameters, limit))
    return [ListedDocument(row[0], checked_document(db, row[1:])) for row in rows]


# -- Faceted rows ------------------------------------------------------------------------------------------------------

_FACETED = (
    "documents.id, CASE WHEN roots.single THEN '' ELSE coalesce(roots.path, '') END, documents.path, format, mtime_ns"
)
_OF_DOCUMENTS = "SELECT {columns}, documents.metadata{truths} FROM documents LEFT JOIN roots ON roots.id = root_id"
_NOT_OF_RECORDS = " WHERE documents.id NOT IN (SELECT document_id FROM record_metadata)"
_OF_RECORDS = """SELECT {columns}, {metadata}{truths} FROM documents
    JOIN passages ON passages.id >= documents.first_passage
    AND passages.id < documents.first_passage + documents.passages LEFT JOIN roots ON roots.id = documents.root_id
    LEFT JOIN record_metadata ON record_metadata.passage_id = passages.id
    WHERE documents.id IN (SELECT document_id FROM record_metadata) ORDER BY documents.id"""
WITH_RECORDS = "json_patch(documents.metadata, coalesce(record_metadata.metadata, '{}'))"  # a record's own win


def each_row(
    db: sqlite3.Connection,
    of_documents: Sequence[tuple[str, Sequence[str]]],
    of_records: Sequence[tuple[str, Sequence[str]]],
) -> Iterator[tuple[Any, ...]]:
    """Yield id, root or "", path, format, time of the file, metadata, and the truth of each condition, which is SQL
    with its parameters: of each document, or of each of its records if these have metadata."""
    sql = _OF_DOCUMENTS.format(columns=_FACETED, truths=_truths(of_documents))
    records = has_record_metadata(db)
    yield from db.execute(sql + _NOT_OF_RECORDS if records else sql, _parameters(of_documents))
    if records:
        sql = _OF_RECORDS.format(columns=_FACETED, metadata=WITH_RECORDS, truths=_truths(of_records))
        yield from db.execute(sql, _parameters(of_records))


def _truths(conditions: Sequence[tuple[str, Sequence[str]]]) -> str:
    return "".join(f", ({sql})" for sql, _ in conditions)


def _parameters(conditions: Sequence[tuple[str, Sequence[str]]]) -> list[str]:
    return [value for _, parameters in conditions for value in parameters]
