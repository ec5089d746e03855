"""Documents as an index keeps them: all that another index needs to hold them alike, without reading their files."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import islice

from semsearch.storage.documents.record_metadata import get_record_metadata
from semsearch.storage.sums.all_documents import check_all_documents
from semsearch.storage.sums.documents import documents_by_id
from semsearch.storage.sums.passages import PassageColumnsRead, passages_between
from semsearch.text.headings import heading_text
from semsearch.text.passage_records import PassageRecord

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
            yield KeptDocument(*(*row, _passages(db, row[_FIRST], held[row[0]], title=row[4])))


def _passages(db: sqlite3.Connection, first: int, count: int, *, title: str) -> tuple[PassageRecord, ...]:
    rows = [*passages_between(db, first, first + count)]
    metadata = get_record_metadata(db, [row[0] for row in rows], needed=[row[0] for row in rows if row[-1]])
    return tuple(_record(row, title, metadata.get(row[0])) for row in rows)


def _record(row: PassageColumnsRead, title: str, own: object) -> PassageRecord:
    _, _, _, count, line, page, headings, text, places, offsets, _ = row
    above = heading_text(title, json.loads(headings))
    metadata = None if own is None else json.dumps(own, allow_nan=False)
    return PassageRecord(headings, above, line, page, text, offsets, count, places, metadata)
