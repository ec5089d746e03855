"""The documents of an index as its database has them: listed, found by id, counted for facets, copied.

Facets count one row per document, or per record with metadata of its own. A copy has all that another index needs to
hold a document without reading its file.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from json import dumps

from semsearch.frozen import dataclass
from semsearch.sources.roots import ADDED
from semsearch.storage.checked_rows import (
    PassageColumnsRead,
    documents_by_id,
    get_record_metadata,
    has_record_metadata,
    passages_between,
)
from semsearch.storage.damaged_rows import check_all_documents
from semsearch.text.passage_records import PassageRecord
from semsearch.text.text_lengths import heading_text

_NAMED = """SELECT path, id FROM documents
    WHERE root_id = ? AND path IN (SELECT value FROM json_each(?))"""
_LISTED_AFTER = "SELECT path, id FROM documents WHERE root_id = ? AND path > ? ORDER BY path LIMIT ?"


def added_texts(db: sqlite3.Connection, ids: Sequence[str]) -> dict[str, int]:
    """The rows of added texts, by their ids; ids that are not in the index are left out."""
    return dict(db.execute(_NAMED, (ADDED, dumps(ids))).fetchall())


def added_texts_after(db: sqlite3.Connection, last: str, *, limit: int) -> dict[str, int]:
    """The rows of the added texts whose ids follow one, by their ids, in order."""
    return dict(db.execute(_LISTED_AFTER, (ADDED, last, limit)).fetchall())


# -- Listed documents --------------------------------------------------------------------------------------------------

_LISTED = """SELECT documents.root_id, documents.path, coalesce(roots.path, ''),
    CASE WHEN roots.id IS NULL THEN documents.path WHEN roots.single THEN roots.path
    ELSE rtrim(roots.path, '/') || '/' || coalesce(documents.file, documents.path) END,
    title, format, passages, coalesce(sentences, 0), coalesce(words, 0), coalesce(size, 0), coalesce(mtime_ns, 0),
    coalesce(indexed_at, ''), metadata
    FROM documents LEFT JOIN roots ON roots.id = documents.root_id
    WHERE (documents.root_id, documents.path) > (?, ?) AND ({condition})
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


def metadata_of(row: ListedRow) -> dict[str, object]:
    """The metadata of a document; NaN and infinities, which are not JSON, become None."""
    found: dict[str, object] = json.loads(row.metadata, parse_constant=lambda _: None)
    return found


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


# -- Kept documents ----------------------------------------------------------------------------------------------------

_IDS = """SELECT documents.id FROM documents LEFT JOIN roots ON roots.id = documents.root_id
    WHERE {condition} ORDER BY documents.id"""
_DOCUMENTS = """SELECT documents.id, root_id, path, file, title, format, metadata, size, mtime_ns, checked_ns, digest,
    coalesce(indexed_at, ''), first_passage, first_sentence, coalesce(characters, 0), coalesce(omissions, '[]')
    FROM documents LEFT JOIN readings ON readings.document_id = documents.id
    WHERE documents.id IN (SELECT value FROM json_each(?)) ORDER BY documents.id"""
_FIRST = 12  # the first passage among these
_AT_ONCE = 100  # documents


@dataclass(frozen=True, slots=True)
class KeptDocument:
    """A document with its passages: what `documents`, `readings` and `passages` have of it."""

    id: int
    root_id: int  # 0: a text that a program added
    path: str  # below the root, or the id
    file: str | None  # the path as the disk spells it, where that is another
    title: str
    format: str
    metadata: str  # JSON
    size: int
    mtime_ns: int
    checked_ns: int
    digest: str
    indexed: str
    first_passage: int  # the id of its first passage in this index; the others follow
    first_sentence: int  # likewise
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
        held = {row[0]: row[2] for row in documents_by_id(db, some)}
        for row in db.execute(_DOCUMENTS, (json.dumps(some),)).fetchall():
            yield KeptDocument(*(*row, _passages(db, row[_FIRST], held[row[0]], title=row[4], format=row[5])))


def _passages(db: sqlite3.Connection, first: int, count: int, *, title: str, format: str) -> tuple[PassageRecord, ...]:
    rows = [*passages_between(db, first, first + count)]
    metadata = get_record_metadata(db, [row[0] for row in rows], needed=[row[0] for row in rows if row[-1]])
    return tuple(_record(row, title, format, metadata.get(row[0])) for row in rows)


def _record(row: PassageColumnsRead, title: str, format: str, own: object) -> PassageRecord:
    _, _, _, count, line, page, headings, text, places, offsets, _ = row
    above = heading_text(title, json.loads(headings))
    metadata = None if own is None else json.dumps(own, allow_nan=False)
    return PassageRecord(headings, above, line, page, text, offsets, count, places, metadata, format)
