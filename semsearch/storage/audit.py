"""Audit an index: that each value has the type and range that semsearch writes, and that segments hold the right ids.

SQLite takes any value in any column, and an index folder may have been damaged, or made by someone else. Rows are used
without an audit; they are audited only by `verify`, and when something fails on them, to tell a damaged index from a
bug.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable, Iterator, Sequence
from itertools import chain
from typing import Any

import numpy as np

from semsearch.arrays.id_ranges import IdRanges
from semsearch.errors import UsageError
from semsearch.results.reports import Scan
from semsearch.storage.checked_rows import SENTENCE_BYTES
from semsearch.storage.segments import KINDS, Kind, get_removed, get_segments
from semsearch.text.languages import RULES


def find_stray_passages(db: sqlite3.Connection) -> Iterator[str]:
    """Compare the passages of the segments that the manifest names, as `find_stray_ids`, without opening any."""
    segments = get_segments(db)
    for kind in ("passage", "words"):
        yield from find_stray_ids(db, kind, [segment.id_ranges for segment in segments if segment.kind == kind])


def find_stray_ids(db: sqlite3.Connection, kind: Kind, held: Sequence[IdRanges]) -> Iterator[str]:
    """Check that every row is in exactly one of the segments that hold these ids, and that these hold nothing else but
    removed ids. Yields what is not so, a line each.
    """
    rowed, held_as = ("passage", "lexical entries") if kind == "words" else (kind, f"{kind} vectors")
    sentences = "SELECT first_sentence, sentence_count FROM passages"
    rows = IdRanges.of(db.execute(sentences if kind == "sentence" else "SELECT id, 1 FROM passages"))
    removed = get_removed(db, kind)
    if rows.overlap(removed):
        yield f"{rows.overlap(removed)} {rowed} rows are marked as removed"
    covered = IdRanges.of(pair for id_ranges in held for pair in id_ranges.ranges)
    twice = sum(map(len, held)) - _distinct(held)
    if twice:
        yield f"{twice} {held_as} are stored twice"
        return
    without = len(rows) - rows.overlap(covered)
    if without:
        yield f"{without} of {len(rows)} {rowed}s have no {held_as}"
    spare = len(covered) - covered.overlap(rows) - covered.overlap(removed)
    if spare:
        yield f"{spare} {held_as} belong to no row"


def _distinct(held: Sequence[IdRanges]) -> int:
    ids = [id_ranges.all_ids() for id_ranges in held]
    return len(np.unique(np.concatenate(ids))) if ids else 0


# -- Audit -------------------------------------------------------------------------------------------------------------

CURE = "; index or add it again"  # of a fault that does not require a new index
_WHOLE = "typeof({0}) = 'integer' AND {0} BETWEEN 0 AND 4503599627370496"
_TIME = "typeof({0}) = 'integer' AND {0} BETWEEN -4611686018427387904 AND 4611686018427387904"  # nanoseconds
_MOMENT = "typeof({0}) IN ('real', 'integer')"
_TEXT = "typeof({0}) = 'text'"
_PATH = "typeof({0}) = 'text' AND instr({0}, char(0)) = 0"
_NAME = _PATH + " AND length(CAST({0} AS BLOB)) BETWEEN 1 AND 200 AND {0} NOT GLOB '*[/\\]*' AND {0} NOT IN ('.', '..')"
_NUMBERS = "typeof({0}) = 'blob' AND length({0}) % 8 = 0 AND length({0}) > 0"
_BYTES = "typeof({0}) = 'blob'"
_OBJECT = "typeof({0}) = 'text' AND CASE WHEN json_valid({0}) THEN json_type({0}) = 'object' ELSE 0 END"
_LIST = "typeof({0}) = 'text' AND CASE WHEN json_valid({0}) THEN json_type({0}) = 'array' ELSE 0 END"
_EACH_TEXT = "NOT EXISTS (SELECT 1 FROM json_each({0}) WHERE type != 'text')"
_TEXTS = f"{_LIST} AND CASE WHEN json_valid({{0}}) THEN {_EACH_TEXT} ELSE 0 END"
_EACH_PAIR = "NOT EXISTS (SELECT 1 FROM json_each({0}) WHERE type != 'array' OR json_array_length(value) != 2)"
_PAIRS = f"{_LIST} AND CASE WHEN json_valid({{0}}) THEN {_EACH_PAIR} ELSE 0 END"
_KIND = f"{{0}} IN {(*KINDS, 'topics')}"
_LANGUAGE = f"{{0}} IN {('', *RULES)}"  # none, or one whose rules are known
_RUNS = "typeof({0}) = 'blob' AND length({0}) % 16 = 0"  # pairs of 64 bits
_SUMS = "typeof({0}) = 'blob' AND length({0}) % 8 = 0"
_SUM = "typeof({0}) = 'integer'"
_OF_SENTENCES = f"length({{0}}) = {SENTENCE_BYTES} * sentence_count"
_SENTENCES = f"typeof({{0}}) = 'blob' AND typeof(sentence_count) = 'integer' AND {_OF_SENTENCES}"
_OPTIONAL = "({0} IS NULL OR ({1}))"

_COLUMNS = {  # the condition of each column; one with ? may also be NULL
    "roots": {"id": _WHOLE, "path": _PATH, "single": _WHOLE, "include": _TEXTS, "exclude": _TEXTS},
    "documents": {
        "id": _WHOLE, "root_id": _WHOLE, "path": _TEXT, "file?": _TEXT, "title": _TEXT, "format": _TEXT,
        "metadata": _TEXT, "size?": _WHOLE, "mtime_ns?": _TIME, "checked_ns?": _TIME, "digest": _TEXT,
        "first_passage": _WHOLE, "passages": _WHOLE, "first_sentence?": _WHOLE, "sentences?": _WHOLE,
        "words?": _WHOLE, "indexed_at?": _TEXT, "language": _LANGUAGE, "sum?": _SUM,
    },
    "passages": {
        "id": _WHOLE, "document_id": _WHOLE, "first_sentence": _WHOLE, "sentence_count": _WHOLE, "line": _WHOLE,
        "page?": _WHOLE, "headings": _TEXTS, "text": _TEXT, "sentences": _SENTENCES, "places?": _PAIRS,
        "sum?": _SUM,
    },
    "segments": {
        "id": _WHOLE, "kind": _KIND, "file": _NAME, "size": _WHOLE, "count": _WHOLE, "runs": _RUNS, "digest": _TEXT,
        "generation": _WHOLE, "sums?": _SUMS,
    },
    "removed": {
        "first_passage": _WHOLE, "passages": _WHOLE, "first_sentence": _WHOLE, "sentences": _WHOLE,
        "generation?": _WHOLE,
    },
    "fit": {"card": _OBJECT, "state": _BYTES, "statistics": _NUMBERS, "generation": _WHOLE, "sums?": _SUMS},
    "retired": {"file": _TEXT, "retired_at?": _MOMENT},
    "unread": {
        "path": _TEXT, "size": _WHOLE, "mtime_ns": _TIME, "checked_ns": _TIME, "max_bytes": _WHOLE, "reader": _TEXT,
        "lasting": _WHOLE, "reason": _TEXT,
    },
    "readings": {"document_id": _WHOLE, "characters": _WHOLE, "omissions": _LIST},
    "record_metadata": {"passage_id": _WHOLE, "document_id": _WHOLE, "metadata": _TEXT, "sum?": _SUM},
}  # fmt: skip
_RELATIONS = {  # queries that must return no row
    "passages belong to no document": "SELECT 1 FROM passages WHERE document_id NOT IN (SELECT id FROM documents)",
    "documents have a wrong number of passages": (
        "SELECT 1 FROM documents d WHERE d.passages != (SELECT count(*) FROM passages p WHERE p.document_id = d.id "
        "AND p.id >= d.first_passage AND p.id < d.first_passage + d.passages)"
    ),
    "documents belong to no root": (
        "SELECT 1 FROM documents WHERE root_id != 0 AND root_id NOT IN (SELECT id FROM roots)"
    ),
    "documents of files have no size or time, or an invalid path": (
        "SELECT 1 FROM documents WHERE root_id != 0 AND (size IS NULL OR mtime_ns IS NULL OR checked_ns IS NULL "
        "OR instr(path, char(0)) OR coalesce(instr(file, char(0)), 0))"
    ),
    "roots have the same path": "SELECT 1 FROM roots GROUP BY path HAVING count(*) > 1",
    "roots are neither folders nor files": "SELECT 1 FROM roots WHERE single NOT IN (0, 1)",
    "ids in use are not below the next id": (
        "SELECT 1 FROM passages WHERE id >= (SELECT CAST(value AS INTEGER) FROM meta WHERE key = 'next_passage') "
        "UNION ALL "
        "SELECT 1 FROM documents WHERE id >= (SELECT CAST(value AS INTEGER) FROM meta WHERE key = 'next_document')"
    ),
}


def find_faults(db: sqlite3.Connection) -> Iterator[str]:
    """Yield the faults of the rows, a line each; values are not shown."""
    is_sound = True
    try:
        for fault in chain(find_wrong_values(db), _wrong_relations(db)):
            is_sound = False
            yield fault
        if is_sound:  # what follows takes the rows as they are
            yield from find_stray_passages(db)
    except (sqlite3.Error, OverflowError, ValueError) as error:
        yield f"the rows cannot be read: {error}"


def _wrong_relations(db: sqlite3.Connection) -> Iterator[str]:
    return (f"some {fault}" for fault, query in _RELATIONS.items() if db.execute(f"{query} LIMIT 1").fetchone())


def find_wrong_values(db: sqlite3.Connection) -> Iterator[str]:
    """Yield the columns and single values whose type or range is not what semsearch writes."""
    yield from _wrong_values(db)
    yield from _wrong_meta(db)
    yield from _wrong_metadata(db)


def _wrong_metadata(db: sqlite3.Connection) -> Iterator[str]:
    """Metadata that is not a JSON object; NaN, which Python writes and SQLite rejects, counts as a number."""
    query = (
        "SELECT id, path, metadata FROM documents WHERE NOT json_valid(metadata) UNION ALL "
        "SELECT d.id, d.path, r.metadata FROM record_metadata r JOIN documents d ON d.id = r.document_id "
        "WHERE NOT json_valid(r.metadata)"
    )
    for document, path, metadata in db.execute(query):
        if not _holds(_is_object, metadata):
            yield f"document {document} ({path}) has metadata that is not JSON{CURE}"
    for table in ("documents", "record_metadata"):
        odd = f"SELECT count(*) FROM {table} WHERE json_valid(metadata) AND substr(ltrim(metadata), 1, 1) != '{{'"  # noqa: S608  # our own names
        if wrong := db.execute(odd).fetchone()[0]:
            yield f"{wrong} rows of {table} have metadata that is not a JSON object"


def _wrong_values(db: sqlite3.Connection) -> Iterator[str]:
    there = {name for (name,) in db.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}
    for table, rules in _COLUMNS.items():
        for marked, rule in rules.items():
            column = marked.rstrip("?")
            if table not in there or not _has(db, table, column):
                continue  # of an earlier version
            wanted = rule.format(column)
            if marked != column:
                wanted = _OPTIONAL.format(column, wanted)
            query = f"SELECT count(*) FROM main.{table} WHERE NOT coalesce({wanted}, 0)"  # noqa: S608  # our own names
            if wrong := db.execute(query).fetchone()[0]:
                yield f"{wrong} rows of {table} have an invalid {column}"


def _has(db: sqlite3.Connection, table: str, column: str) -> bool:
    return any(row[1] == column for row in db.execute(f"PRAGMA main.table_info({table})"))


def _wrong_meta(db: sqlite3.Connection) -> Iterator[str]:
    values = dict(db.execute("SELECT key, value FROM meta"))
    for key, check in _META.items():
        if key in values and not (isinstance(values[key], str) and _holds(check, values[key])):
            yield f"its {key} is invalid"


def _holds(check: Callable[[str], object], value: str) -> bool:
    try:
        return bool(check(value))
    except (ValueError, TypeError, LookupError, AttributeError, ArithmeticError, RecursionError, UsageError):
        return False


def _is_count(value: str) -> bool:
    return 0 <= int(value) < 1 << 53


def _is_object(value: str) -> bool:
    return isinstance(json.loads(value), dict)


def _is_columns(value: str) -> bool:
    found: Any = json.loads(value)
    return all(int(key) >= 0 and set(each) <= {"text", "metadata"} for key, each in found.items())


def _is_texts_by_text(value: str) -> bool:
    found: Any = json.loads(value)
    return all(isinstance(key, str) and isinstance(each, str) for key, each in found.items())


def _is_texts_by_id(value: str) -> bool:
    return _is_texts_by_text(value) and all(int(key) >= 0 for key in json.loads(value))


def _is_counts(value: str) -> bool:
    found: Any = json.loads(value)
    return isinstance(found, list) and all(type(each) is int for each in found)


def _are_languages(value: str) -> bool:
    found: Any = json.loads(value)
    return all(key in RULES and type(count) is int and count >= 0 for key, count in found.items())


def _are_two_counts(value: str) -> bool:
    return _is_counts(value) and len(json.loads(value)) == 2


def _are_digests(value: str) -> bool:
    found: Any = json.loads(value)
    return isinstance(found, list) and [type(each) for each in found] == [str, str, int, int]


def _are_scans(value: str) -> bool:
    found: Any = json.loads(value)
    return all(isinstance(Scan.from_dict(card), Scan) for card in found.values())


def _are_pairs_of_texts(value: str) -> bool:
    found: Any = json.loads(value)
    return isinstance(found, list) and all([type(each) for each in pair] == [str, str] for pair in found)


_META: dict[str, Callable[[str], object]] = {
    "generation": _is_count,
    "next_document": _is_count,
    "next_passage": _is_count,
    "next_sentence": _is_count,
    "columns": _is_columns,
    "store_options": _is_texts_by_id,
    "reader_versions": _is_texts_by_text,
    "outdated_documents": _is_counts,
    "languages": _are_languages,
    "sums_since": _are_two_counts,
    "seals": _are_digests,
    "scans": _are_scans,
    "vector_stores_left": _are_pairs_of_texts,
}
