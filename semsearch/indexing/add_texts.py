"""Add documents that a program gives instead of files: texts, tuples, records, tables, exported documents.

Documents as `Index.export` writes them, with their passages, are added as they were divided. `read_records` reads files
with one document per line. Texts are checked, and compared with those of the same ids in the index.
"""

from __future__ import annotations

import json
import struct
import sys
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from contextlib import nullcontext
from dataclasses import dataclass, replace
from itertools import chain
from pathlib import Path
from typing import Annotated, Any, Literal, Protocol

from msgspec import Meta, Struct, ValidationError, convert

from semsearch.errors import SourceError, UsageError
from semsearch.indexing.generation import Generation, new_generation
from semsearch.indexing.index_writer import IndexWriter, timed
from semsearch.indexing.read_files import PreparedFile, prepared_file
from semsearch.readers.document import Document, Text
from semsearch.readers.metadata import json_values
from semsearch.readers.read import read_text
from semsearch.results.reports import Progress, SyncReport
from semsearch.sources.roots import ADDED
from semsearch.sources.unchanged import PresentFile
from semsearch.storage.document_rows import added_text
from semsearch.system.source_files import content_digest, opened_input
from semsearch.text.passage_words import PassageRecord
from semsearch.text.text_lengths import heading_text
from semsearch.text.tokens import storable

# -- Forms in which programs give documents ----------------------------------------------------------------------------

DocumentInput = Text | tuple[str, str] | tuple[str, str, Mapping[str, Any]] | Mapping[str, Any]

_ACCEPTED = "give Text(id, text), (id, text), (id, text, metadata) or a record with the keys {id!r} and {text!r}"
_TEXT_FIELDS = ("title", "format")  # fields of a record that are not metadata if they are strings


class DataTable(Protocol):
    """A table of pandas, Polars or Arrow, as far as the types say."""

    @property
    def columns(self) -> Any:
        """The columns, or their names."""


def as_texts(
    documents: Iterable[DocumentInput] | DataTable, *, id_key: str = "id", text_key: str = "text"
) -> Iterator[Text | ExportedDocument]:
    """Make a Text of each document: of a table (pandas, Polars, Arrow) each row, which is a record.

    A record that `Index.export` wrote has passages, which are taken as they are.

    All fields of a record besides its id, text, title and format are metadata, and so are those of its `metadata`, if
    that is a mapping. Raises UsageError for anything else.
    """
    accepted = _ACCEPTED.format(id=id_key, text=text_key)
    rows = _rows(documents)
    if isinstance(rows, str | Mapping) or not isinstance(rows, Iterable):
        raise UsageError(f"add takes several documents, not one {type(documents).__name__}; {accepted}, in a list")
    for number, row in enumerate(rows):
        if isinstance(row, Text):
            yield row
        elif isinstance(row, tuple) and len(row) in (2, 3):
            yield Text(row[0], row[1], metadata=_mapping(row[2] if len(row) == 3 else {}, number))
        elif isinstance(row, Mapping):
            yield _text_of_record(row, number, id_key, text_key)
        else:
            raise UsageError(f"document {number} is {type(row).__name__}, not a text with its id; {accepted}")


def _rows(documents: Any) -> Any:
    """The rows of a table as records; anything else as it is."""
    if hasattr(documents, "to_pylist"):  # Arrow
        return documents.to_pylist()
    if hasattr(documents, "iter_rows"):  # Polars
        return documents.iter_rows(named=True)
    if hasattr(documents, "notna") and hasattr(documents, "columns"):  # pandas, which has NaN for what is missing
        return documents.astype(object).where(documents.notna(), None).to_dict("records")
    return documents


def _text_of_record(record: Mapping[str, Any], number: int, id_key: str, text_key: str) -> Text | ExportedDocument:
    if id_key in record and is_exported(record):
        return exported_document(record, record[id_key])
    for key in (id_key, text_key):
        if key not in record:
            raise UsageError(f"record {number} has no {key!r}; it has {', '.join(map(str, record)) or 'nothing'}")
    fields = {key: record[key] for key in _TEXT_FIELDS if isinstance(record.get(key), str)}
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

_Position = Annotated[int, Meta(ge=0, le=(1 << 31) - 1)]  # offsets are stored in 32 bits


class _Passage(Struct):
    """A passage as an export has it."""

    text: str
    sentences: list[tuple[_Position, _Position, _Position, _Position, _Position]]
    headings: list[str] = []
    line: _Position = 1
    page: _Position | None = None
    places: list[tuple[_Position, str | None]] = []
    metadata: dict[str, Any] | None = None


class _Document(Struct):
    """A document as an export has it, without its text."""

    passages: list[_Passage]
    title: str | None = None
    metadata: dict[str, Any] | None = None
    format: str = "text"
    characters: int = 0


@dataclass(frozen=True, slots=True)
class ExportedDocument:
    """A document by its id, with its passages."""

    id: str
    prepared: PreparedFile


def is_exported(record: Mapping[str, Any]) -> bool:
    """Return whether a record has passages, with their sentences, besides its text."""
    passages = record.get("passages")
    return isinstance(passages, list | tuple) and all(
        isinstance(passage, Mapping) and "sentences" in passage for passage in passages
    )


def exported_document(record: Mapping[str, Any], id: Any) -> ExportedDocument:
    """Read a record with passages. Raises UsageError unless it has the form of an export."""
    try:
        document = convert(record, _Document)
    except (ValidationError, UnicodeEncodeError) as error:
        raise UsageError(f"the passages of {id} are not as an export has them ({error}); export it again") from error
    title, format = storable(document.title or ""), document.format
    metadata = json.dumps(json_values(document.metadata or {}), allow_nan=False)
    records = tuple(
        _record(passage, title, format, f"{id}, passage {number}") for number, passage in enumerate(document.passages)
    )
    prepared = PreparedFile(
        digest=_digest([title, format, metadata, [(passage.headings, passage.text) for passage in records]]),
        size=document.characters,
        title=title,
        format=format,
        metadata=metadata,
        records=records,
        reading=(document.characters, "[]"),
    )
    return ExportedDocument(id, prepared)


def _record(passage: _Passage, title: str, format: str, where: str) -> PassageRecord:
    text = storable(passage.text)
    edges = [edge for sentence in passage.sentences for edge in sentence[:2]]
    if edges != sorted(edges) or (edges and edges[-1] > len(text)):
        raise UsageError(
            f"{where}: its sentences overlap, are out of order or not within the passage; export the document again"
        )
    return PassageRecord(
        headings=json.dumps(passage.headings),
        above=heading_text(title, passage.headings),
        line=passage.line,
        page=passage.page,
        text=text,
        offsets=struct.pack(f"<{5 * len(passage.sentences)}i", *chain.from_iterable(passage.sentences)),
        sentences=len(passage.sentences),
        places=json.dumps(passage.places) if passage.places else None,
        metadata=json.dumps(json_values(passage.metadata), allow_nan=False) if passage.metadata else None,
        format=format,
    )


# -- Files with one document per line ---------------------------------------------------------------------------------


def read_records(path: str | Path) -> Iterator[Mapping[str, Any]]:
    """Read the records of a file of JSON Lines; "-" is the standard input. Raises SourceError."""
    name = str(path)
    try:
        with nullcontext(sys.stdin.buffer) if name == "-" else opened_input(Path(name)) as file:
            for number, line in enumerate(file, start=1):
                if line.strip():
                    yield _parsed(line, f"{name}, line {number},")
    except OSError as error:
        raise SourceError(f"{name} cannot be read: {error.strerror or error}") from error


def _parsed(line: bytes, where: str) -> Mapping[str, Any]:
    try:
        record = json.loads(line)
    except (ValueError, RecursionError) as error:
        raise SourceError(f"{where} is not JSON ({error}); give one JSON object per line") from error
    if not isinstance(record, dict):
        raise SourceError(f"{where} is {type(record).__name__}, not an object with an id and a text")
    return record


# -- Adding them to an index -------------------------------------------------------------------------------------------

AddedDocument = Text | ExportedDocument
AddOutcome = Literal["added", "changed", "unchanged"]


def checked_texts(texts: Iterable[AddedDocument]) -> Iterator[AddedDocument]:
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
    if not text.id or "\0" in text.id:
        raise UsageError(f"the id {text.id!r} is empty or has a NUL character; give each text its own id")
    try:
        text.id.encode()
    except UnicodeEncodeError:
        raise UsageError(f"the id {text.id!r} is not valid Unicode; give another") from None


@timed
def add_documents(writer: IndexWriter, texts: Iterable[AddedDocument]) -> SyncReport:
    """Add texts that are in no file, as one write. A text whose id is known replaces the earlier one.

    Raises UsageError for anything but a Text, for an empty or repeated id, for an unknown format, and for
    metadata that cannot be stored; nothing is then changed.
    """
    done = Counter[str]()
    with new_generation(writer) as generation:
        intake = generation.intake
        for number, text in enumerate(checked_texts(texts)):
            writer.on_progress(Progress("reading", number, sentences=intake.sentences, path=text.id))
            done[add_text(generation, text)] += 1
        refitted = generation.finish()
    return SyncReport(
        added=done["added"],
        changed=done["changed"],
        unchanged=done["unchanged"],
        passages=intake.passages,
        sentences=intake.sentences,
        refitted=refitted,
    )


def add_text(generation: Generation, text: AddedDocument) -> AddOutcome:
    """Put a text into the index, replacing the one that has its id. Raises UsageError for an unknown format."""
    if isinstance(text, Text):
        text = replace(text, metadata=json_values(text.metadata))
        digest = _digest([text.text, text.title, text.metadata, text.format], sort_keys=True)
    else:
        digest = text.prepared.digest
    known = added_text(generation.db, text.id)
    if known is not None and known.digest == digest:
        return "unchanged"
    if known is not None:
        generation.remove([known.document_id])
    if isinstance(text, Text):
        prepared = prepared_file(_document(text), with_passages=True, digest=digest, size=len(text.text))
    else:
        prepared = text.prepared
    id_ = text.id
    generation.intake.take(PresentFile(ADDED, id_, id_, id_, id_, prepared.size, mtime_ns=0), prepared)
    return "added" if known is None else "changed"


def _document(text: Text) -> Document:
    document = read_text(storable(text.text), text.id, format=text.format)
    return replace(document, title=text.title or document.title, metadata={**document.metadata, **text.metadata})


def _digest(parts: list[Any], *, sort_keys: bool = False) -> str:
    data = json.dumps(parts, sort_keys=sort_keys, allow_nan=False).encode()
    return content_digest(data)
