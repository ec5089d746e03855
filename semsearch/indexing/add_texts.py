"""Add documents that a program gives instead of files: texts, tuples, records, tables, exported documents.

Documents as `Index.export` writes them, with their passages, are added as they were divided. `read_records` reads files
with one document per row (JSON Lines, CSV, Parquet, .npz). Texts are checked, and compared with those of the same ids
in the index.
"""

from __future__ import annotations

import csv
import hashlib
import io
import json
import struct
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext, suppress
from dataclasses import dataclass, replace
from itertools import chain
from pathlib import Path
from typing import IO, Any, Literal, Protocol

import numpy as np

from semsearch.errors import MissingExtra, SourceError, UsageError
from semsearch.indexing.generation import Generation
from semsearch.indexing.intake import DocumentSource
from semsearch.indexing.read_files import Prepared, prepared_of
from semsearch.readers.document import Document, Text
from semsearch.readers.front_matter import json_values
from semsearch.readers.read import read_text
from semsearch.sources.roots import ADDED
from semsearch.storage.document_rows import added_text
from semsearch.text.passage_records import PassageRecord, each_record, storable
from semsearch.text.text_lengths import heading_text

# -- Forms in which programs give documents ----------------------------------------------------------------------------

Given = Text | tuple[str, str] | tuple[str, str, Mapping[str, Any]] | Mapping[str, Any]

_WAYS = "give Text(id, text), (id, text), (id, text, metadata) or a record with the keys {id!r} and {text!r}"
_OWN = ("title", "format")  # fields of a record that are not metadata if they are strings


class DataTable(Protocol):
    """A table of pandas, Polars or Arrow, as far as the types say."""

    @property
    def columns(self) -> Any:
        """The columns, or their names."""


def as_texts(
    documents: Iterable[Given] | DataTable, *, id_key: str = "id", text_key: str = "text"
) -> Iterator[Text | ExportedDocument]:
    """Make a Text of each document: of a table (pandas, Polars, Arrow) each row, which is a record.

    A record that `Index.export` wrote has passages, which are taken as they are.

    All fields of a record besides its id, text, title and format are metadata, and so are those of its `metadata`, if
    that is a mapping. Raises UsageError for anything else.
    """
    ways = _WAYS.format(id=id_key, text=text_key)
    rows = _rows(documents)
    if isinstance(rows, str | Mapping) or not isinstance(rows, Iterable):
        raise UsageError(f"add takes several documents, not one {type(documents).__name__}; {ways}, in a list")
    for number, row in enumerate(rows):
        if isinstance(row, Text):
            yield row
        elif isinstance(row, tuple) and len(row) in (2, 3):
            yield Text(row[0], row[1], metadata=_mapping(row[2] if len(row) == 3 else {}, number))
        elif isinstance(row, Mapping):
            yield _of_record(row, number, id_key, text_key)
        else:
            raise UsageError(f"document {number} is {type(row).__name__}, not a text with its id; {ways}")


def _rows(documents: Any) -> Any:
    """The rows of a table as records; anything else as it is."""
    if hasattr(documents, "to_pylist"):  # Arrow
        return documents.to_pylist()
    if hasattr(documents, "iter_rows"):  # Polars
        return documents.iter_rows(named=True)
    if hasattr(documents, "notna") and hasattr(documents, "columns"):  # pandas, which has NaN for what is missing
        return documents.astype(object).where(documents.notna(), None).to_dict("records")
    return documents


def _of_record(record: Mapping[str, Any], number: int, id_key: str, text_key: str) -> Text | ExportedDocument:
    if id_key in record and is_exported(record):
        return exported_document(record, record[id_key])
    for key in (id_key, text_key):
        if key not in record:
            raise UsageError(f"record {number} has no {key!r}; it has {', '.join(map(str, record)) or 'nothing'}")
    fields = {key: record[key] for key in _OWN if isinstance(record.get(key), str)}
    rest = {key: value for key, value in record.items() if key not in (id_key, text_key, *fields)}
    if isinstance(rest.get("metadata"), Mapping):
        rest |= rest.pop("metadata")
    return Text(_id(record[id_key]), record[text_key], metadata=rest, **fields)


def _id(value: Any) -> Any:
    """Convert a whole number to a string: tables number their rows."""
    return str(value) if isinstance(value, int) and not isinstance(value, bool) else value


def _mapping(value: Any, number: int) -> Mapping[str, Any]:
    if not isinstance(value, Mapping):
        raise UsageError(f"the metadata of document {number} is {value!r}, not a mapping such as {{'year': 2024}}")
    return value


# -- Exported documents ------------------------------------------------------------------------------------------------

_LARGEST = (1 << 31) - 1  # offsets are stored in 32 bits


@dataclass(frozen=True, slots=True)
class ExportedDocument:
    """A document by its id, with its passages."""

    id: str
    digest: str
    file: Prepared


def is_exported(record: Mapping[str, Any]) -> bool:
    """Return whether a record has passages, with their sentences, besides its text."""
    passages = record.get("passages")
    return isinstance(passages, list | tuple) and all(
        isinstance(passage, Mapping) and "sentences" in passage for passage in passages
    )


def exported_document(record: Mapping[str, Any], id: Any) -> ExportedDocument:
    """Read a record with passages. Raises UsageError unless it has the form of an export."""
    title = storable(_of(record, "title", str, ""))
    metadata = json.dumps(json_values(_of(record, "metadata", Mapping, {})), allow_nan=False)
    format = _of(record, "format", str, "text")
    records = tuple(
        _passage(passage, title, format, f"{id}, passage {n}") for n, passage in enumerate(record["passages"])
    )
    characters = _of(record, "characters", int, 0)
    digest = _digest([title, format, metadata, [(passage.headings, passage.text) for passage in records]])
    file = Prepared(
        size=characters, title=title, format=format, metadata=metadata, records=records, reading=(characters, "[]")
    )
    return ExportedDocument(id, digest, file)


def _passage(passage: Mapping[str, Any], title: str, format: str, where: str) -> PassageRecord:
    text = storable(_of(passage, "text", str, where=where))
    headings = tuple(_each(_of(passage, "headings", Sequence, (), where=where), str, f"{where}, headings"))
    sentences = [_sentence(offsets, len(text), where) for offsets in _of(passage, "sentences", Sequence, where=where)]
    edges = [edge for sentence in sentences for edge in sentence[:2]]
    if edges != sorted(edges):
        raise UsageError(f"{where}: its sentences overlap or are out of order; export the document again")
    places = [_place(place, where) for place in _of(passage, "places", Sequence, (), where=where)]
    metadata = _of(passage, "metadata", Mapping, None, where=where)
    return PassageRecord(
        headings=json.dumps(headings),
        above=heading_text(title, headings),
        line=_offset(passage.get("line", 1), where),
        page=None if passage.get("page") is None else _offset(passage["page"], where),
        text=text,
        offsets=struct.pack(f"<{5 * len(sentences)}i", *chain.from_iterable(sentences)),
        sentences=len(sentences),
        places=json.dumps(places) if places else None,
        metadata=json.dumps(json_values(metadata), allow_nan=False) if metadata else None,
        format=format,
    )


def _sentence(span: Any, length: int, where: str) -> list[int]:
    numbers = [_offset(number, where) for number in span] if isinstance(span, Sequence) else []
    if len(numbers) != 5 or max(numbers[:2]) > length:
        raise UsageError(
            f"{where}: expected a sentence as start, end, start and end in the file, and line, within the passage, "
            f"not {span!r}"
        )
    return numbers


def _place(place: Any, where: str) -> list[Any]:
    if not isinstance(place, list | tuple) or len(place) != 2 or not isinstance(place[1], str | None):
        raise UsageError(f"{where}: expected a place as the number of a sentence and a text, not {place!r}")
    return [_offset(place[0], where), place[1]]


def _of(record: Mapping[str, Any], key: str, kind: Any, default: Any = ..., *, where: str = "a record") -> Any:
    value = record.get(key)
    if value is None and default is not ...:
        return default
    if not isinstance(value, kind) or (kind is Sequence and isinstance(value, str)):
        raise UsageError(f"{where}: {key} is {value!r}, which no export has; export it again")
    return value


def _each(values: Sequence[Any], kind: type, where: str) -> Sequence[Any]:
    for value in values:
        if not isinstance(value, kind):
            raise UsageError(f"{where}: expected {kind.__name__}, not {value!r}; export it again")
    return values


def _offset(number: Any, where: str) -> int:
    if isinstance(number, bool) or not isinstance(number, int) or not 0 <= number <= _LARGEST:
        raise UsageError(f"{where}: a position must be a whole number of at least 0, not {number!r}")
    return number


# -- Files with one document per row -----------------------------------------------------------------------------------

_OBJECTS = ("metadata", "passages")  # JSON in the cells of tables


def read_records(path: str | Path) -> Iterator[Mapping[str, Any]]:
    """Read the records of a file, by its ending; "-" is the standard input, as JSON Lines. Raises SourceError."""
    name = str(path)
    read = _READERS.get(Path(path).suffix.lower(), _jsonl) if name != "-" else _jsonl
    try:
        with _opened(name) as file:
            yield from read(file, name)
    except OSError as error:
        raise SourceError(f"{name} cannot be read: {error.strerror or error}") from error


def _opened(name: str) -> AbstractContextManager[IO[bytes]]:
    return nullcontext(sys.stdin.buffer) if name == "-" else Path(name).open("rb")


def _jsonl(file: IO[bytes], name: str) -> Iterator[Mapping[str, Any]]:
    for number, line in enumerate(file, start=1):
        if not line.strip():
            continue
        try:
            record = json.loads(line)
        except (ValueError, RecursionError) as error:
            raise SourceError(f"{name}, line {number}, is not JSON ({error}); give one JSON object per line") from error
        if not isinstance(record, dict):
            raise SourceError(f"{name}, line {number}, is {type(record).__name__}, not an object with an id and a text")
        yield record


def _csv(file: IO[bytes], name: str) -> Iterator[Mapping[str, Any]]:
    text = io.TextIOWrapper(file, encoding="utf-8-sig", newline="")
    limit = csv.field_size_limit(sys.maxsize if sys.maxsize < 1 << 31 else (1 << 31) - 1)
    try:
        for row in csv.DictReader(text, strict=True):
            if None in row or None in row.values():
                raise SourceError(f"{name}, row {row}: the number of cells differs from the header")
            yield _with_objects(row)
    except (csv.Error, UnicodeDecodeError) as error:
        raise SourceError(f"{name} is not CSV in UTF-8: {error}") from error
    finally:
        csv.field_size_limit(limit)
        text.detach()  # the caller closes the file


def _parquet(file: IO[bytes], name: str) -> Iterator[Mapping[str, Any]]:
    try:
        import pyarrow  # optional dependency
        import pyarrow.parquet
    except ImportError as error:
        raise MissingExtra("pyarrow", "arrow") from error
    try:
        table = pyarrow.parquet.ParquetFile(file)
        columns = [column for column in table.schema_arrow.names if column != "vector"]
        for batch in table.iter_batches(batch_size=100, columns=columns):
            yield from map(_with_objects, batch.to_pylist())
    except pyarrow.ArrowException as error:
        raise SourceError(f"{name} is not a Parquet file, or damaged: {error}") from error


def _npz(file: IO[bytes], name: str) -> Iterator[Mapping[str, Any]]:
    try:
        with np.load(file, allow_pickle=False) as arrays:
            lines = arrays["rows"].tobytes()
    except Exception as error:  # whatever zipfile and NumPy make of damaged bytes
        raise SourceError(f"{name} is not an export of an index, or damaged: {error}") from error
    yield from _jsonl(io.BytesIO(lines), name)


def _with_objects(row: Mapping[str, Any]) -> Mapping[str, Any]:
    """A row of a table, with the cells parsed in which an export has JSON."""
    columns = dict(row)
    for key in _OBJECTS:
        if isinstance(columns.get(key), str):
            with suppress(ValueError, RecursionError):
                columns[key] = json.loads(columns[key])
    return columns


_READERS: dict[str, Callable[[IO[bytes], str], Iterator[Mapping[str, Any]]]] = {
    ".csv": _csv,
    ".parquet": _parquet,
    ".npz": _npz,
}


# -- Adding them to an index -------------------------------------------------------------------------------------------

AddedDocument = Text | ExportedDocument
Taken = Literal["added", "changed", "unchanged"]


def checked(texts: Iterable[AddedDocument]) -> Iterator[AddedDocument]:
    """Check each text and yield it. Raises UsageError at the first that cannot be kept, or whose id comes twice."""
    seen: set[str] = set()
    for text in texts:
        _check(text)
        if text.id in seen:
            raise UsageError(f"the id {text.id!r} occurs twice; give each text its own id")
        seen.add(text.id)
        yield text


def _check(text: AddedDocument) -> None:
    if not isinstance(text, Text | ExportedDocument):
        raise UsageError(f"add takes texts as Text(id, text), not {type(text).__name__}")
    for name in ("id", "text", "title", "format") if isinstance(text, Text) else ("id",):
        if not isinstance(value := getattr(text, name), str):
            raise UsageError(f"the {name} of a Text must be a string, not {type(value).__name__}")
    if not text.id:
        raise UsageError("the id of a text is empty; give each text its own id")
    try:
        text.id.encode()
    except UnicodeEncodeError:
        raise UsageError(f"the id {text.id!r} is not valid Unicode; give another") from None


def take_added(generation: Generation, text: AddedDocument) -> Taken:
    """Put a text into the index, replacing the one that has its id. Raises UsageError for an unknown format."""
    if isinstance(text, Text):
        text = replace(text, metadata=json_values(text.metadata))
        digest = _digest([text.text, text.title, text.metadata, text.format], sort_keys=True)
    else:
        digest = text.digest
    known = added_text(generation.db, text.id)
    if known is not None and known.digest == digest:
        return "unchanged"
    if known is not None:
        generation.forget([known.document_id])
    if isinstance(text, Text):
        document = _document(text)
        source = DocumentSource(ADDED, text.id, text.id, digest, len(text.text))
        generation.intake.take(source, prepared_of(document), each_record(document))
    else:
        generation.intake.take(DocumentSource(ADDED, text.id, text.id, digest, text.file.size), text.file)
    return "added" if known is None else "changed"


def _document(text: Text) -> Document:
    document = read_text(storable(text.text), text.id, format=text.format)
    return replace(document, title=text.title or document.title, metadata={**document.metadata, **text.metadata})


def _digest(parts: list[Any], *, sort_keys: bool = False) -> str:
    data = json.dumps(parts, sort_keys=sort_keys, allow_nan=False).encode()
    return hashlib.blake2b(data, digest_size=16).hexdigest()
