"""The documents of an index as its database has them: listed, found by id, counted for facets, copied.

Facets count one row per document, or per record with metadata of its own. A copy has all that another index needs to
hold a document without reading its file.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import NamedTuple

from semsearch.sources.roots import ADDED
from semsearch.storage.checked_rows import (
    check_all_documents,
    documents_by_id,
    get_record_metadata,
    has_record_metadata,
    passages_between,
)
from semsearch.storage.checksums import ABSOLUTE
from semsearch.text.passage_records import PassageRecord
from semsearch.text.text_lengths import heading_text

_NAMED = """SELECT path, id FROM documents
    WHERE root_id = ? AND path IN (SELECT value FROM json_each(?))"""
_LISTED_AFTER = "SELECT path, id FROM documents WHERE root_id = ? AND path > ? ORDER BY path LIMIT ?"


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


def added_texts_after(db: sqlite3.Connection, last: str, *, limit: int) -> dict[str, int]:
    """The rows of the added texts whose ids follow one, by their ids, in order."""
    return dict(db.execute(_LISTED_AFTER, (ADDED, last, limit)).fetchall())


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


# -- Listed documents --------------------------------------------------------------------------------------------------

_LISTED = f"""SELECT documents.root_id, documents.path, coalesce(roots.path, ''), {ABSOLUTE},
    title, format, passages, sentences, words, size, mtime_ns, indexed_at, metadata
    FROM documents LEFT JOIN roots ON roots.id = documents.root_id
    WHERE (documents.root_id, documents.path) > (?, ?) AND ({{condition}})
    ORDER BY documents.root_id, documents.path LIMIT ?"""
BEGINNING = (-1, "")  # before all roots


@dataclass(frozen=True, slots=True)
class ListedRow:
    """A document as a list shows it. Lists are ordered by `root_id` and `path`."""

    root_id: int
    path: str
    root: str  # "" for a text that a program added
    absolute: str  # the path to open, with forward slashes; or the id
    title: str
    format: str
    passages: int
    sentences: int
    words: int
    size: int
    mtime_ns: int
    indexed_at: str
    metadata: str  # JSON


def list_documents(
    db: sqlite3.Connection, condition: str, parameters: Sequence[str], *, after: tuple[int, str], limit: int
) -> list[ListedRow]:
    """The documents for which a condition over `documents` and `roots` holds, from the one after (root id, path) on."""
    return [ListedRow(*row) for row in db.execute(_LISTED.format(condition=condition), (*after, *parameters, limit))]


# -- Faceted rows ------------------------------------------------------------------------------------------------------

_COLUMNS = "CASE WHEN roots.single THEN '' ELSE coalesce(roots.path, '') END, documents.path, format, mtime_ns"
_OF_DOCUMENTS = "SELECT {columns}, documents.metadata{truths} FROM documents LEFT JOIN roots ON roots.id = root_id"
_NOT_OF_RECORDS = " WHERE documents.id NOT IN (SELECT document_id FROM record_metadata)"
_OF_RECORDS = """SELECT {columns}, {metadata}{truths} FROM documents
    JOIN passages ON passages.id >= documents.first_passage
    AND passages.id < documents.first_passage + documents.passages LEFT JOIN roots ON roots.id = documents.root_id
    LEFT JOIN record_metadata ON record_metadata.passage_id = passages.id
    WHERE documents.id IN (SELECT document_id FROM record_metadata)"""
WITH_RECORDS = "json_patch(documents.metadata, coalesce(record_metadata.metadata, '{}'))"  # a record's own win

FacetedRow = tuple[str, str, str, int | None, str]  # root or "", path, format, time of the file, metadata


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


# -- Kept documents ----------------------------------------------------------------------------------------------------

_IDS = """SELECT documents.id FROM documents LEFT JOIN roots ON roots.id = documents.root_id
    WHERE {condition} ORDER BY documents.id"""
_READINGS = (
    "SELECT document_id, characters, omissions FROM readings WHERE document_id IN (SELECT value FROM json_each(?))"
)
_AT_ONCE = 100  # documents


@dataclass(frozen=True, slots=True)
class KeptDocument:
    """A document with its passages: what `documents`, `readings` and `passages` have of it."""

    id: int
    root_id: int  # 0: a text that a program added
    path: str  # below the root, or the id
    file: str  # the path as the disk spells it
    title: str
    format: str
    metadata: str  # JSON
    size: int
    mtime_ns: int
    checked_ns: int
    digest: str
    indexed: str
    reader: str
    first_passage: int  # the id of its first passage in this index; the others follow
    first_sentence: int  # and of its first sentence
    characters: int  # of the file's text
    omissions: str  # JSON
    passages: tuple[PassageRecord, ...]


def kept_ids(db: sqlite3.Connection, condition: str = "1", parameters: Iterable[str] = ()) -> list[int]:
    """The ids of the documents for which a condition over `documents` and `roots` holds, in the order they came in.

    Raises IndexDamaged.
    """
    check_all_documents(db)
    return [id_ for (id_,) in db.execute(_IDS.format(condition=condition), [*parameters])]


def each_kept(db: sqlite3.Connection, ids: Iterable[int]) -> Iterator[KeptDocument]:
    """Read documents by rising ids, with their passages. Raises IndexDamaged."""
    rest = iter(ids)
    while some := list(islice(rest, _AT_ONCE)):
        readings = {id_: reading for id_, *reading in db.execute(_READINGS, (json.dumps(some),))}
        for row in sorted(documents_by_id(db, some), key=lambda row: int(row[0])):
            id_, first_passage, count, root_id, path, file, title, format, metadata, size, mtime, checked, digest = row[
                :13
            ]
            characters, omissions = readings.get(id_, (0, "[]"))
            yield KeptDocument(
                id=id_,
                root_id=root_id,
                path=path,
                file=file or path,
                title=title,
                format=format,
                metadata=metadata,
                size=size,
                mtime_ns=mtime,
                checked_ns=checked,
                digest=digest,
                indexed=row[16],
                reader=row[18],
                first_passage=first_passage,
                first_sentence=row[13],
                characters=characters,
                omissions=omissions,
                passages=_passages(db, first_passage, count, title=title, format=format),
            )


def _passages(db: sqlite3.Connection, first: int, count: int, *, title: str, format: str) -> tuple[PassageRecord, ...]:
    rows = [*passages_between(db, first, first + count)]
    metadata = get_record_metadata(db, [row[0] for row in rows], needed=[row[0] for row in rows if row[-1]])
    records = []
    for id_, _, _, sentences, line, page, headings, text, places, offsets, _ in rows:
        records.append(
            PassageRecord(
                headings=headings,
                above=heading_text(title, json.loads(headings)),
                line=line,
                page=page,
                text=text,
                offsets=offsets,
                sentences=sentences,
                places=places,
                metadata=json.dumps(metadata[id_], allow_nan=False) if id_ in metadata else None,
                format=format,
            )
        )
    return tuple(records)
