"""Export an index for other programs: documents, passages or sentences as JSON Lines, optionally with vectors.

They are written row by row to an open file, or to a file that appears whole or not at all. Documents have an `id` (of a
file, its path as hits show it) and a `text`, as `Index.add` takes them, and their passages as they are divided: an
index that is given these finds the same. Vectors are those that the index compares; that of a document is the direction
of the sum of its passages' vectors.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, Literal, get_args

import numpy as np

from semsearch.arrays.types import Float32
from semsearch.errors import StorageError, UsageError
from semsearch.filters import all_match, parse
from semsearch.maintenance.read_documents import moment, text_of
from semsearch.search.index_reader import IndexReader, IndexView
from semsearch.storage.database import IndexDatabase
from semsearch.storage.document_rows import (
    BEGINNING,
    ListedDocument,
    check_all_documents,
    get_record_metadata,
    list_documents,
)
from semsearch.storage.find_document import path_of
from semsearch.storage.passage_rows import PassageRow, each_passage
from semsearch.system.durable import durable_file
from semsearch.system.locations import usable_path, working_folder
from semsearch.word_vectors.table import WordVectors

if TYPE_CHECKING:
    import sqlite3

Unit = Literal["documents", "passages", "sentences"]
ExportRow = dict[str, Any]  # with a `vector`, if that is wanted; zero if there is none


def export_index(
    database: IndexDatabase,
    word_vectors: Callable[[], WordVectors],
    target: str | Path | IO[bytes],
    *,
    unit: Unit,
    vectors: bool,
    filters: Sequence[str],
) -> int:
    """Write the rows of an index, as one generation has them, and return how many. `Index.export` says the rest."""
    if unit not in get_args(Unit):
        raise UsageError(f"unit must be one of {', '.join(get_args(Unit))}, not {unit!r}")

    def write_to(out: IO[bytes]) -> int:
        with database.reading() as db:
            reader = IndexReader(db, database, word_vectors) if vectors else None
            return _write_lines(export_rows(db, unit, vectors=reader, filters=filters), out)

    if not isinstance(target, str | Path) and hasattr(target, "write"):
        return write_to(target)
    path = usable_path(target)
    try:
        is_stream = path.exists() and not path.is_file()  # a device or a pipe, in whose place no file may be put
        with path.open("wb") if is_stream else durable_file(Path(os.path.realpath(path))) as out:
            return write_to(out)
    except OSError as error:
        raise StorageError(f"{target} cannot be written: {error.strerror or error}; choose another path") from error


# -- Rows --------------------------------------------------------------------------------------------------------------


def export_rows(
    db: sqlite3.Connection, unit: Unit, *, vectors: IndexReader | None, filters: Sequence[str]
) -> Iterator[ExportRow]:
    """Yield the rows of the documents that pass all filters, by root and path.

    `vectors`: the generation that has them, if they are wanted.
    """
    check_all_documents(db)
    here, after = working_folder().as_posix(), BEGINNING
    passes = partial(all_match, [parse(text) for text in filters])
    while listed := list_documents(db, passes, after=after, limit=_PAGE):
        for document in listed:
            row = document.row
            passages = list(each_passage(db, row.first_passage, row.first_passage + row.passages))
            id_ = path_of(row, here)
            rows = _rows(db, unit, id_, document, passages)
            if vectors is None:
                yield from rows
            else:
                of_rows = _vectors_of(db, unit, vectors, passages)
                yield from ({**row, "vector": vector} for row, vector in zip(rows, of_rows, strict=True))
        after = (row.root_id, row.path)


def _vectors_of(db: sqlite3.Connection, unit: Unit, reader: IndexReader, passages: Sequence[PassageRow]) -> Float32:
    """The vectors of a document's rows. (n, d)"""
    ids = np.array([passage.id for passage in passages], dtype=np.int64)
    if unit == "sentences":
        view = IndexView(db, reader)
        stored = view.sentences(ids, view.spans(ids))
    else:
        stored = reader.passage_vectors.fetch(ids)
    vectors = stored.filled(stored.rows.shape[1])
    return reader.halves.direction(vectors)[None] if unit == "documents" else vectors


def _rows(
    db: sqlite3.Connection, unit: Unit, id_: str, document: ListedDocument, passages: Sequence[PassageRow]
) -> Iterator[ExportRow]:
    """The rows of a document."""
    row = document.row
    if unit == "sentences":
        for passage in passages:
            for number, text in enumerate(passage.sentence_texts):
                yield {
                    "sentence_id": passage.first_sentence + number,
                    "passage_id": passage.id,
                    "document": id_,
                    "line": int(passage.sentences[number, 4]),
                    "page": passage.page,
                    "place": passage.place(number),
                    "text": text,
                }
        return
    metadata = json.loads(row.metadata_json, parse_constant=lambda _: None)  # numbers that JSON does not have are null
    of_records = get_record_metadata(db, [passage.id for passage in passages if passage.is_of_record])
    if unit == "documents":
        yield {
            "id": id_,
            "root": row.root,
            "title": row.title,
            "format": row.format,
            "modified": moment(row.mtime_ns) if row.root else None,
            "indexed": row.indexed_at,
            "characters": document.characters,
            "metadata": metadata,
            "text": text_of(passages),
            "passages": [_whole(passage, of_records.get(passage.id)) for passage in passages],
        }
        return
    for passage in passages:
        yield {
            "passage_id": passage.id,
            "document": id_,
            "title": row.title,
            "headings": list(passage.headings),
            "line": passage.line,
            "page": passage.page,
            "place": passage.place(0),
            "metadata": metadata | of_records.get(passage.id, {}),
            "text": passage.text,
        }


def _whole(passage: PassageRow, metadata: dict[str, Any] | None) -> dict[str, Any]:
    """A passage as `semsearch.indexing.add_texts` reads it."""
    fields = {
        "headings": list(passage.headings),
        "line": passage.line,
        "page": passage.page,
        "text": passage.text,
        "sentences": passage.sentences.tolist(),
    }
    if passage.places:
        fields["places"] = json.loads(passage.places)
    if metadata:
        fields["metadata"] = metadata
    return fields


_PAGE = 100  # documents that are listed at once


def _write_lines(rows: Iterable[ExportRow], out: IO[bytes]) -> int:
    count = 0
    for row in rows:
        if "vector" in row:
            row["vector"] = [round(float(number), 7) for number in row["vector"]]
        out.write(json.dumps(row, ensure_ascii=False).encode("utf-8", "replace") + b"\n")
        count += 1
    return count
