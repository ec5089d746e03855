"""Export an index for other programs: documents, passages or sentences as rows, optionally with vectors.

Formats: JSON Lines, CSV, Parquet and NumPy's .npz, written row by row to an open file, or to a file that appears whole
or not at all. Documents have an `id` (of a file, its path as hits show it) and a `text`, as `Index.add` takes them, and
their passages as they are divided: an index that is given these finds the same. Vectors are those that the index
compares; that of a document is the direction of the sum of its passages' vectors.
"""

from __future__ import annotations

import io
import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from csv import writer
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, Literal, cast, get_args

import numpy as np

from semsearch.arrays.types import Float32
from semsearch.errors import MissingExtra, StorageError, UsageError
from semsearch.maintenance.read_documents import moment, text_of
from semsearch.search.filter_sql import condition, teach
from semsearch.search.filters import parse
from semsearch.search.index_reader import IndexReader
from semsearch.sources.roots import Root
from semsearch.storage.catalogue import PassageRow, each_passage, get_roots, get_spans
from semsearch.storage.database import IndexDatabase
from semsearch.storage.document_rows import KeptDocument, each_kept, kept_ids
from semsearch.storage.find_document import shown
from semsearch.system.durable import write_durably
from semsearch.system.locations import working_folder
from semsearch.text.passage_records import PassageRecord
from semsearch.word_vectors.table import WordVectors

if TYPE_CHECKING:
    import sqlite3

    import pyarrow

    from semsearch.dense.stored_vectors import StoredVectors

# -- Rows --------------------------------------------------------------------------------------------------------------

Unit = Literal["documents", "passages", "sentences"]

_TOGETHER = 100  # documents whose vectors are fetched at once


@dataclass(frozen=True, slots=True)
class ExportRow:
    """A row, and its vector if requested; zero if it has none."""

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
    db: sqlite3.Connection, unit: Unit, *, vectors: IndexReader | None, filters: Sequence[str]
) -> Iterator[ExportRow]:
    """Yield the rows of the documents that pass all filters, in the order in which they came into the index.

    `vectors`: the generation that has them, if they are wanted.
    """
    teach(db)
    where = condition([parse(text) for text in filters], here=working_folder().as_posix())
    named = _named(db, each_kept(db, kept_ids(db, where.sql, where.parameters)))
    fetch = None if vectors is None else _Vectors(db, vectors)
    while some := list(islice(named, _TOGETHER)):
        for database in some:
            yield from _ROWS[unit](database, fetch)


class _Vectors:
    """The stored vectors of an index."""

    def __init__(self, db: sqlite3.Connection, reader: IndexReader) -> None:
        self._db = db
        self._reader = reader

    def of_passages(self, first: int, count: int) -> Float32:
        """The vectors of passages with ids from the first on; zero where there is none. (n, d)"""
        return _in_place(self._reader.passage_vectors.fetch(np.arange(first, first + count, dtype=np.int64)))

    def of_sentences(self, first_passage: int, count: int) -> Float32:
        """The vectors of the sentences of passages with ids from the first on; zero where there is none. (n, d)"""
        ids = np.arange(first_passage, first_passage + count, dtype=np.int64)
        return _in_place(self._reader.sentences(self._db, ids, get_spans(self._db, ids)))

    def of_document(self, first: int, count: int) -> Float32:
        """The direction of the sum of its passages' vectors. (d,)"""
        return self._reader.halves.direction(self.of_passages(first, count))


def _in_place(stored: StoredVectors) -> Float32:
    """Fetched vectors, each at its position; zero where there is none. (n, d)"""
    rows: Float32 = np.zeros((stored.n, stored.rows.shape[1]), dtype=np.float32)
    rows[stored.positions] = stored.rows
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
        "modified": moment(document.mtime_ns) if named.root else None,
        "indexed": document.indexed,
        "characters": document.characters,
        "metadata": json.loads(document.metadata, parse_constant=lambda _: None),
        "text": text_of(named.passages),
        "passages": [_whole(passage) for passage in document.passages],
    }
    vector = None if fetch is None else fetch.of_document(document.first_passage, len(document.passages))
    yield ExportRow(columns, vector)


def _whole(record: PassageRecord) -> dict[str, Any]:
    """A passage as `semsearch.indexing.add_texts` reads it."""
    fields = {
        "headings": json.loads(record.headings),
        "line": record.line,
        "page": record.page,
        "text": record.text,
        "sentences": np.frombuffer(record.offsets, dtype="<i4").reshape(-1, 5).tolist(),
    }
    if record.places:
        fields["places"] = json.loads(record.places)
    if record.metadata:
        fields["metadata"] = json.loads(record.metadata)
    return fields


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


# -- File formats ------------------------------------------------------------------------------------------------------

ExportFormat = Literal["jsonl", "csv", "parquet", "npz"]

_WHOLE = {"line", "page", "characters", "passage_id", "sentence_id"}  # columns of whole numbers; others are texts
_AT_ONCE = 1000  # rows of a group in a Parquet file


def format_of(path: Path) -> ExportFormat:
    """The format that a file's ending names. Raises UsageError."""
    for name in WRITERS:
        if path.suffix.lower() == f".{name}":
            return name
    endings = ", ".join(f".{name}" for name in WRITERS)
    raise UsageError(
        f"the export format cannot be determined from {path}; end the name with one of {endings}, or give the format"
    )


def _jsonl(rows: Iterable[ExportRow], out: IO[bytes], _unit: Unit, _vectors: bool) -> int:
    count = 0
    for row in rows:
        fields = row.columns if row.vector is None else {**row.columns, "vector": _numbers(row)}
        out.write(json.dumps(fields, ensure_ascii=False).encode("utf-8", "replace") + b"\n")
        count += 1
    return count


def _csv(rows: Iterable[ExportRow], out: IO[bytes], unit: Unit, vectors: bool) -> int:
    if vectors:
        raise UsageError("CSV cannot hold vectors; export them as jsonl, parquet or npz")
    text = io.StringIO()
    table = writer(text, lineterminator="\n")
    columns, count = [name for name in _COLUMNS[unit] if name != "passages"], 0
    table.writerow(columns)
    for row in rows:
        table.writerow([_cell(row.columns[name]) for name in columns])
        out.write(text.getvalue().encode("utf-8", "replace"))
        text.seek(0)
        text.truncate()
        count += 1
    out.write(text.getvalue().encode("utf-8", "replace"))  # the header alone, if there are no rows
    return count


def _parquet(rows: Iterable[ExportRow], out: IO[bytes], unit: Unit, vectors: bool) -> int:
    try:
        import pyarrow  # optional dependency
        import pyarrow.parquet
    except ImportError as error:
        raise MissingExtra("pyarrow", "arrow") from error
    kinds = [(name, pyarrow.int64() if name in _WHOLE else pyarrow.string()) for name in _COLUMNS[unit]]
    kinds += [("vector", pyarrow.list_(pyarrow.float32()))] if vectors else []
    schema, count = pyarrow.schema(kinds), 0
    with pyarrow.parquet.ParquetWriter(out, schema, compression="zstd") as file:
        for group in _groups(rows):
            file.write_table(_table(group, schema))
            count += len(group)
    return count


def _table(rows: list[ExportRow], schema: pyarrow.Schema) -> pyarrow.Table:
    import pyarrow  # optional dependency

    cells = [{**{name: _cell(value) for name, value in row.columns.items()}, "vector": row.vector} for row in rows]
    return pyarrow.Table.from_pylist(cells, schema=schema)


def _npz(rows: Iterable[ExportRow], out: IO[bytes], _unit: Unit, _vectors: bool) -> int:
    lines, vectors = list[str](), list[Any]()
    for row in rows:
        lines.append(json.dumps(row.columns, ensure_ascii=False))
        if row.vector is not None:
            vectors.append(row.vector)
    arrays = {"rows": np.frombuffer("\n".join(lines).encode("utf-8", "replace"), dtype=np.uint8)}
    if vectors:
        arrays["vectors"] = np.stack(vectors)
    buffer = io.BytesIO()
    np.savez(buffer, **arrays)  # type: ignore[arg-type]  # stubs see allow_pickle among the names
    out.write(buffer.getvalue())
    return len(lines)


def _groups(rows: Iterable[ExportRow]) -> Iterator[list[ExportRow]]:
    rest = iter(rows)
    while group := list(islice(rest, _AT_ONCE)):
        yield group


def _cell(value: Any) -> Any:
    """A value for one cell of a table: what has parts is JSON."""
    return json.dumps(value, ensure_ascii=False) if isinstance(value, dict | list) else value


def _numbers(row: ExportRow) -> list[float]:
    return [] if row.vector is None else [round(float(number), 7) for number in row.vector]


_COLUMNS: dict[Unit, tuple[str, ...]] = {
    "documents": (
        "id", "root", "title", "format", "modified", "indexed", "characters", "metadata", "text", "passages",
    ),
    "passages": ("passage_id", "document", "title", "headings", "line", "page", "place", "metadata", "text"),
    "sentences": ("sentence_id", "passage_id", "document", "line", "page", "place", "text"),
}  # fmt: skip
WRITERS: dict[ExportFormat, Callable[[Iterable[ExportRow], IO[bytes], Unit, bool], int]] = {
    "jsonl": _jsonl,
    "csv": _csv,
    "parquet": _parquet,
    "npz": _npz,
}


def export_index(
    database: IndexDatabase,
    word_vectors: Callable[[], WordVectors],
    target: str | Path | IO[bytes],
    *,
    unit: Unit,
    format: ExportFormat | None,
    vectors: bool,
    filters: Sequence[str],
) -> int:
    """Write the rows of an index, as one generation has them, and return how many. `Index.export` says the rest."""
    if unit not in get_args(Unit):
        raise UsageError(f"unit must be one of {', '.join(get_args(Unit))}, not {unit!r}")
    if format is not None and format not in WRITERS:
        raise UsageError(f"format must be one of {', '.join(WRITERS)}, not {format!r}")
    write = WRITERS[format or (format_of(Path(target)) if isinstance(target, str | Path) else "jsonl")]

    def source(db: sqlite3.Connection) -> IndexReader | None:
        return IndexReader(db, database, word_vectors) if vectors else None

    def write_to(out: IO[bytes]) -> int:
        with database.reading() as db:
            rows = export_rows(db, unit, vectors=source(db), filters=filters)
            return write(rows, out, unit, vectors)

    return _to_file(Path(target), write_to) if isinstance(target, str | Path) else write_to(target)


def _to_file(path: Path, write_to: Callable[[IO[bytes]], int]) -> int:
    done = [0]

    def fill(write: Callable[[Any], Any]) -> None:
        done[0] = write_to(cast(IO[bytes], _Sink(write)))

    try:
        write_durably(path, fill)
    except OSError as error:
        raise StorageError(f"{path} cannot be written: {error.strerror or error}; choose another path") from error
    return done[0]


class _Sink(io.RawIOBase):
    """A file that can only be written to, one piece after the other."""

    def __init__(self, write: Callable[[Any], Any]) -> None:
        self._write, self._size = write, 0

    def writable(self) -> bool:
        return True

    def write(self, data: Any) -> int:
        self._write(bytes(data))
        self._size += len(data)
        return len(data)

    def tell(self) -> int:
        return self._size
