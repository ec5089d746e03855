"""List the documents of an index, page by page, in the order of their roots and paths."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Sequence
from dataclasses import dataclass

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
