"""Documents as `Index.export` writes them, with their passages: taken in as they were, not divided anew."""

from __future__ import annotations

import hashlib
import json
import struct
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Any

from semsearch.errors import UsageError
from semsearch.indexing.reading.prepare import Prepared
from semsearch.readers.front_matter import json_values
from semsearch.text.headings import heading_text
from semsearch.text.passage_records import PassageRecord, storable

_LARGEST = (1 << 31) - 1  # offsets are stored in 32 bits


@dataclass(frozen=True, slots=True)
class ExportedDocument:
    """A document by its id, divided already."""

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
    """Read a record with passages. Raises UsageError for what no index has written."""
    title = storable(_of(record, "title", str, ""))
    metadata = json.dumps(json_values(_of(record, "metadata", Mapping, {})), allow_nan=False)
    records = tuple(_passage(passage, title, f"{id}, passage {n}") for n, passage in enumerate(record["passages"]))
    format = _of(record, "format", str, "text")
    characters = _of(record, "characters", int, 0)
    details = json.dumps([title, format, metadata, [(one.headings, one.text) for one in records]])
    digest = hashlib.blake2b(details.encode(), digest_size=16).hexdigest()
    file = Prepared(
        size=characters, title=title, format=format, metadata=metadata, records=records, reading=(characters, "[]")
    )
    return ExportedDocument(id, digest, file)


def _passage(given: Mapping[str, Any], title: str, where: str) -> PassageRecord:
    text = storable(_of(given, "text", str, where=where))
    headings = tuple(_each(_of(given, "headings", Sequence, (), where=where), str, f"{where}, headings"))
    sentences = [_sentence(each, len(text), where) for each in _of(given, "sentences", Sequence, where=where)]
    edges = [edge for sentence in sentences for edge in sentence[:2]]
    if edges != sorted(edges):
        raise UsageError(f"{where}: its sentences are not one after the other; export the document again")
    places = [_place(each, where) for each in _of(given, "places", Sequence, (), where=where)]
    metadata = _of(given, "metadata", Mapping, None, where=where)
    return PassageRecord(
        headings=json.dumps(headings),
        above=heading_text(title, headings),
        line=_offset(given.get("line", 1), where),
        page=None if given.get("page") is None else _offset(given["page"], where),
        text=text,
        offsets=struct.pack(f"<{5 * len(sentences)}i", *chain.from_iterable(sentences)),
        sentences=len(sentences),
        places=json.dumps(places) if places else None,
        metadata=json.dumps(json_values(metadata), allow_nan=False) if metadata else None,
    )


def _sentence(given: Any, length: int, where: str) -> list[int]:
    numbers = [_offset(number, where) for number in given] if isinstance(given, Sequence) else []
    if len(numbers) != 5 or max(numbers[:2]) > length:
        raise UsageError(
            f"{where}: a sentence is given as start, end, start and end in the file, and line, within the passage, "
            f"not as {given!r}"
        )
    return numbers


def _place(given: Any, where: str) -> list[Any]:
    if not isinstance(given, list | tuple) or len(given) != 2 or not isinstance(given[1], str | None):
        raise UsageError(f"{where}: a place is given as the number of a sentence and a text, not as {given!r}")
    return [_offset(given[0], where), given[1]]


def _of(record: Mapping[str, Any], key: str, kind: Any, default: Any = ..., *, where: str = "a record") -> Any:
    value = record.get(key, default)
    if value is None and default is not ...:
        return default
    if value is default:
        return value
    if not isinstance(value, kind) or (kind is Sequence and isinstance(value, str)):
        raise UsageError(f"{where}: {key} is {value!r}, not what an index exports; export it again")
    return value


def _each(values: Sequence[Any], kind: type, where: str) -> Sequence[Any]:
    for value in values:
        if not isinstance(value, kind):
            raise UsageError(f"{where}: {value!r} is no {kind.__name__}; export it again")
    return values


def _offset(number: Any, where: str) -> int:
    if isinstance(number, bool) or not isinstance(number, int) or not 0 <= number <= _LARGEST:
        raise UsageError(f"{where}: {number!r} is no position; a whole number from 0 on was expected")
    return number
