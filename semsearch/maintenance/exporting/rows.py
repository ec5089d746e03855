"""What an index holds as rows: a plain dict for each document, passage or sentence, and its vector if it is wanted.

Documents have an `id` and a `text`, as `Index.add` takes them, and their passages as they are divided: an index that is
given these finds the same. The id of a file is its path as hits show it. Vectors are those that the index compares; of
a document, the direction of the sum of its passages' vectors.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import islice
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import numpy.typing as npt

from semsearch.maintenance.contents import text_of
from semsearch.search.filtering.filters import parse
from semsearch.search.filtering.sql import condition, teach
from semsearch.search.hits import shown
from semsearch.search.snapshot import Snapshot
from semsearch.sources.roots import Root
from semsearch.storage.catalogue import PassageRow, each_passage, get_spans
from semsearch.storage.documents.kept_documents import KeptDocument, each_kept, kept_ids
from semsearch.storage.roots import get_roots
from semsearch.system.working_folder import working_folder
from semsearch.text.passage_records import PassageRecord

if TYPE_CHECKING:
    import sqlite3

    from semsearch.dense.stored import StoredVectors

Unit = Literal["documents", "passages", "sentences"]
Float32 = npt.NDArray[np.float32]

_TOGETHER = 100  # documents whose vectors are fetched at once


@dataclass(frozen=True, slots=True)
class ExportRow:
    """A row, and its vector if it is wanted: zero where there is none."""

    columns: dict[str, Any]
    vector: Float32 | None = None


@dataclass(frozen=True, slots=True)
class _Named:
    """A document with the id that it is exported by, and its rows as the index reads them."""

    id: str
    root: str
    document: KeptDocument
    passages: Sequence[PassageRow]


def export_rows(
    db: sqlite3.Connection, unit: Unit, *, vectors: Snapshot | None, filters: Sequence[str]
) -> Iterator[ExportRow]:
    """Yield the rows of the documents that pass all filters, in the order in which they came into the index.

    `vectors`: the generation that has them, if they are wanted.
    """
    teach(db)
    where = condition([parse(text) for text in filters], here=working_folder().as_posix())
    named = _named(db, each_kept(db, kept_ids(db, where.sql, where.parameters)))
    fetch = None if vectors is None else _Vectors(db, vectors)
    while some := list(islice(named, _TOGETHER)):
        for each in some:
            yield from _ROWS[unit](each, fetch)


class _Vectors:
    """The stored vectors of an index."""

    def __init__(self, db: sqlite3.Connection, snapshot: Snapshot) -> None:
        self._db = db
        self._snapshot = snapshot

    def of_passages(self, first: int, count: int) -> Float32:
        """The vectors of passages with ids from the first on; zero where there is none. (n, d)"""
        return _in_place(self._snapshot.stored("passage", np.arange(first, first + count, dtype=np.int64)))

    def of_sentences(self, first_passage: int, count: int) -> Float32:
        """The vectors of the sentences of passages with ids from the first on; zero where there is none. (n, d)"""
        ids = np.arange(first_passage, first_passage + count, dtype=np.int64)
        return _in_place(self._snapshot.sentences(self._db, ids, get_spans(self._db, ids)))

    def of_document(self, first: int, count: int) -> Float32:
        """The direction of the sum of its passages' vectors. (d,)"""
        return self._snapshot.halves.direction(self.of_passages(first, count))


def _in_place(found: StoredVectors) -> Float32:
    """Fetched vectors, each at its position; zero where there is none. (n, d)"""
    rows: Float32 = np.zeros((found.n, found.rows.shape[1]), dtype=np.float32)
    rows[found.positions] = found.rows
    return rows


def _named(db: sqlite3.Connection, documents: Iterator[KeptDocument]) -> Iterator[_Named]:
    roots, here = {root.id: root for root in get_roots(db)}, working_folder().as_posix()
    for document in documents:
        root = roots.get(document.root_id)
        first = document.first_passage
        passages = list(each_passage(db, first, first + len(document.passages)))
        yield _Named(_id(document, root, here), root.path if root else "", document, passages)


def _id(document: KeptDocument, root: Root | None, here: str) -> str:
    if root is None:
        return document.path
    return shown(root.path if root.single else f"{root.path.rstrip('/')}/{document.file or document.path}", here)


def _documents(named: _Named, fetch: _Vectors | None) -> Iterator[ExportRow]:
    document = named.document
    columns = {
        "id": named.id,
        "root": named.root,
        "title": document.title,
        "format": document.format,
        "modified": _moment(document.mtime_ns) if named.root else None,
        "indexed": document.indexed,
        "characters": document.characters,
        "metadata": json.loads(document.metadata, parse_constant=lambda _: None),
        "text": text_of(named.passages),
        "passages": [_whole(passage) for passage in document.passages],
    }
    vector = None if fetch is None else fetch.of_document(document.first_passage, len(document.passages))
    yield ExportRow(columns, vector)


def _whole(record: PassageRecord) -> dict[str, Any]:
    """A passage as `semsearch.indexing.reading.exported_documents` reads it."""
    found = {
        "headings": json.loads(record.headings),
        "line": record.line,
        "page": record.page,
        "text": record.text,
        "sentences": np.frombuffer(record.offsets, dtype="<i4").reshape(-1, 5).tolist(),
    }
    if record.places:
        found["places"] = json.loads(record.places)
    if record.metadata:
        found["metadata"] = json.loads(record.metadata)
    return found


def _passages(named: _Named, fetch: _Vectors | None) -> Iterator[ExportRow]:
    document, count = named.document, len(named.passages)
    metadata = json.loads(document.metadata, parse_constant=lambda _: None)
    vectors = None if fetch is None else fetch.of_passages(document.first_passage, count)
    for number, (passage, record) in enumerate(zip(named.passages, document.passages, strict=True)):
        columns = {
            "passage_id": passage.id,
            "document": named.id,
            "title": document.title,
            "headings": list(passage.headings),
            "line": passage.line,
            "page": passage.page,
            "place": passage.place(0),
            "metadata": metadata | (json.loads(record.metadata) if record.metadata else {}),
            "text": passage.text,
        }
        yield ExportRow(columns, None if vectors is None else vectors[number])


def _sentences(named: _Named, fetch: _Vectors | None) -> Iterator[ExportRow]:
    first = named.document.first_sentence
    vectors = None if fetch is None else fetch.of_sentences(named.document.first_passage, len(named.passages))
    for passage in named.passages:
        for number, text in enumerate(passage.sentence_texts):
            id_ = passage.first_sentence + number
            columns = {
                "sentence_id": id_,
                "passage_id": passage.id,
                "document": named.id,
                "line": int(passage.sentences[number, 4]),
                "page": passage.page,
                "place": passage.place(number),
                "text": text,
            }
            yield ExportRow(columns, None if vectors is None else vectors[id_ - first])


_ROWS: dict[Unit, Callable[[_Named, _Vectors | None], Iterator[ExportRow]]] = {
    "documents": _documents,
    "passages": _passages,
    "sentences": _sentences,
}


def _moment(nanoseconds: int) -> str:
    return datetime.fromtimestamp(nanoseconds / 1e9).astimezone().strftime("%Y-%m-%dT%H:%M:%S%z")
