"""Audit an index: that values are of the types that their columns take, and that segments hold the right ids.

Rows are used without an audit; they are audited only by `verify`, and when something fails on them, to tell an index
that was damaged from a bug.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Sequence
from itertools import chain

import numpy as np

from semsearch.arrays.id_ranges import IdRanges
from semsearch.storage.document_rows import find_damaged_documents
from semsearch.storage.passage_rows import find_damaged_passages
from semsearch.storage.schema import COLUMNS, condition_of
from semsearch.storage.segments import Kind, get_removed

_WRONG = {  # queries that must return no row
    "passages belong to no document": "SELECT 1 FROM passages WHERE document_id NOT IN (SELECT id FROM documents)",
    "documents have a wrong number of passages or sentences": (
        "SELECT 1 FROM documents d LEFT JOIN passages p ON p.document_id = d.id "
        "AND p.id >= d.first_passage AND p.id < d.first_passage + d.passages "
        "GROUP BY d.id HAVING count(p.id) != d.passages OR coalesce(sum(p.sentence_count), 0) != d.sentences"
    ),
    "documents belong to no root": (
        "SELECT 1 FROM documents WHERE root_id != 0 AND root_id NOT IN (SELECT id FROM roots)"
    ),
    "ids in use are not below the next id": (
        "SELECT 1 FROM passages WHERE id >= (SELECT CAST(value AS INTEGER) FROM meta WHERE key = 'next_passage') "
        "UNION ALL "
        "SELECT 1 FROM documents WHERE id >= (SELECT CAST(value AS INTEGER) FROM meta WHERE key = 'next_document')"
    ),
}


_WRONG_ELEMENTS = {  # of a JSON array, by the kind of its column
    "list": "0",
    "object": "0",
    "texts": "type != 'text'",
    "pairs": "type != 'array' OR json_array_length(value) != 2 OR json_type(value, '$[0]') != 'integer' "
    "OR json_type(value, '$[1]') != 'text'",
}


def find_wrong_relations(db: sqlite3.Connection) -> Iterator[str]:
    """Yield what is wrong between rows of different tables."""
    return (f"some {fault}" for fault, query in _WRONG.items() if db.execute(f"{query} LIMIT 1").fetchone())


def find_wrong_values(db: sqlite3.Connection) -> Iterator[str]:
    """Yield the columns with values that they may not hold: SQLite checks what it writes, not what it reads."""
    for table, columns in COLUMNS.items():
        for column, kind in columns.items():
            condition = condition_of(column, kind)
            if wrong_element := _WRONG_ELEMENTS.get(kind.rstrip("?")):
                is_json = f"({condition}) AND json_valid(coalesce({column}, '[]'))"
                wrong_elements = f"SELECT 1 FROM json_each({column}) WHERE {wrong_element}"
                condition = f"CASE WHEN {is_json} THEN NOT EXISTS ({wrong_elements}) ELSE 0 END"
            (wrong,) = db.execute(f"SELECT count(*) FROM {table} WHERE NOT coalesce({condition}, 0)").fetchone()
            if wrong:
                yield f"{wrong} rows of {table} have an invalid {column}"


def find_damaged_rows(db: sqlite3.Connection) -> Iterator[str]:
    """Yield the rows that do not match their checksums, a line each with the remedy. Reads all rows."""
    return chain(find_damaged_documents(db), find_damaged_passages(db))


def find_damaged_pages(db: sqlite3.Connection) -> list[str]:
    """The first problems that SQLite's own check finds in its pages and indexes."""
    return [line for (line,) in db.execute("PRAGMA integrity_check(5)") if line != "ok"]


def find_stray_ids(db: sqlite3.Connection, kind: Kind, held: Sequence[IdRanges]) -> Iterator[str]:
    """Check that every row is in exactly one of the segments that hold these ids, and that these hold nothing else but
    removed ids. Yields what is not so, a line each.
    """
    noun, held_as = ("passage", "lexical entries") if kind == "words" else (kind, f"{kind} vectors")
    sentences = "SELECT first_sentence, sentence_count FROM passages"
    rows = IdRanges.of(db.execute(sentences if kind == "sentence" else "SELECT id, 1 FROM passages"))
    removed = get_removed(db)[kind]
    if rows.overlap(removed):
        yield f"{rows.overlap(removed)} {noun} rows are marked as removed"
    covered = IdRanges.union(held)
    ids = [id_ranges.all_ids() for id_ranges in held]
    twice = sum(map(len, held)) - (len(np.unique(np.concatenate(ids))) if ids else 0)
    if twice:
        yield f"{twice} {held_as} are stored twice"
        return
    without = len(rows) - rows.overlap(covered)
    if without:
        yield f"{without} of {len(rows)} {noun}s have no {held_as}"
    spare = len(covered) - covered.overlap(rows) - covered.overlap(removed)
    if spare:
        yield f"{spare} {held_as} belong to no row"
