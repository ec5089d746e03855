"""Coverage: how much of each file an index has taken in, in characters, sentences, pages and words with vectors."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import TYPE_CHECKING

from semsearch.maintenance.problems import omissions_of
from semsearch.results.state.problems import FileCoverage, Omission
from semsearch.storage.catalogue import each_passage
from semsearch.text.tokens import hash_chunks
from semsearch.word_vectors.table import WordVectors

if TYPE_CHECKING:
    import sqlite3

_DOCUMENTS = """SELECT CASE WHEN roots.id IS NULL THEN documents.path WHEN roots.single THEN roots.path
    ELSE rtrim(roots.path, '/') || '/' || coalesce(documents.file, documents.path) END,
    format, characters, coalesce(omissions, '[]'), metadata, first_passage, passages, sentences
    FROM documents LEFT JOIN roots ON roots.id = root_id LEFT JOIN readings ON document_id = documents.id
    ORDER BY root_id, documents.path LIMIT ? OFFSET ?"""


def read_coverage(
    db: sqlite3.Connection, vectors: WordVectors, *, offset: int = 0, limit: int | None = None
) -> Iterator[FileCoverage]:
    """Read the coverage of each document, by root and path, from an offset on. Reads their text."""
    rows = db.execute(_DOCUMENTS, (-1 if limit is None else limit, offset)).fetchall()
    for path, format, characters, omissions, metadata, first, passages, sentences in rows:
        taken, words, known = _taken(db, first, first + passages, vectors)
        found = omissions_of(omissions)
        pages = json.loads(metadata).get("pages")
        pages = pages if isinstance(pages, int) and format == "pdf" else None
        empty = 0 if pages is None else _pages_without_text(found)
        with_text = None if pages is None else pages - empty
        yield FileCoverage(path, format, characters, taken, sentences, words, known, pages, with_text, found)


def _taken(db: sqlite3.Connection, first: int, last: int, vectors: WordVectors) -> tuple[int, int, int]:
    """The characters of a document's passages, their words, and how many of these are known."""
    characters = words = known = 0
    texts = []
    for passage in each_passage(db, first, last):
        characters += len(passage.text)
        texts.append(passage.text)
    for chunk in hash_chunks(texts):
        words += len(chunk.hashes)
        known += int((vectors.lookup(chunk.hashes) >= 0).sum())
    return characters, words, known


def _pages_without_text(omissions: tuple[Omission, ...]) -> int:
    return sum(omission.count for omission in omissions if omission.kind == "pages without text")
