"""JSON Lines: a record a line, given as lines "name: value".

Nested names are joined with a dot; empty values and nulls are left out. A line that is not JSON is taken as it is,
since a log may have some. Python's parser gives no offsets, so values are looked for in the file, one after the other.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import PurePath
from typing import Any

from semsearch.readers.document import Anchors, Block, Document, LazyBlocks, each_line_span
from semsearch.readers.records import NO_COLUMNS, Columns, PlacedRecord, RecordField, chosen_blocks, whole_blocks

_ESCAPE = re.compile(r"\\(?:u[dD][89abAB][\da-fA-F]{2}\\u[dD][c-fC-F][\da-fA-F]{2}|u[\da-fA-F]{4}|.)", re.DOTALL)
_MISSES = 100  # after which nothing is looked for: each takes time by the length of what is searched


class _Number(str):
    """A number as it is written."""

    __slots__ = ()


def parsed(source: str) -> Any:
    """The value of a JSON text, numbers as they are written. Raises ValueError, RecursionError."""
    return json.loads(source, strict=False, parse_int=_Number, parse_float=_Number, parse_constant=_Number)


class ValuePlaces:
    """Finds the values of a JSON text in it; `at` is the end of the last one, from which the next is looked for."""

    def __init__(self, source: str, at: int = 0, end: int | None = None) -> None:
        self.at = at
        self._source, self._end, self._misses = source, end, 0

    def anchors(self, value: str, *, quoted: bool = True) -> Anchors:
        """(offset in the value, in the source) for each run without escapes; a value that is not found is at `at`."""
        quote = '"' if quoted else ""
        for raw in (json.dumps(value, ensure_ascii=ascii) for ascii in (False, True)) if quoted else (value,):
            start = self._source.find(raw, self.at, self._end) if self._misses < _MISSES else -1
            if start >= 0:
                self.at = start + len(raw)
                start += len(quote)
                anchors, shift = [(0, start)], 0  # by how much the raw text is longer
                for escape in _ESCAPE.finditer(raw, len(quote)) if quoted and "\\" in raw else ():
                    shift += len(escape[0]) - 1
                    anchors.append((escape.end() - 1 - shift, start + escape.end() - 1))
                return tuple(anchors)
        self._misses += 1
        return ((0, self.at),)


def read(source: str, name: str, columns: Columns = NO_COLUMNS) -> Document:
    """Read JSON Lines, a block for each record; of the `columns` that were chosen. The title is the file's name."""
    names: tuple[str, ...] = ()
    if columns:
        names = tuple(dict.fromkeys(field.name for record in _records(source) for field in record.fields))
    are_chosen = columns.are_of(names)

    def blocks() -> Iterator[Block]:
        records = _records(source)
        return chosen_blocks(records, columns) if are_chosen else whole_blocks(records)

    return Document(source, LazyBlocks(blocks), "jsonl", PurePath(name).stem, columns=names)


def _records(source: str) -> Iterator[PlacedRecord]:
    for number, (start, end) in enumerate(each_line_span(source), start=1):
        if line := source[start:end].strip():
            fields = _parsed(line, source, source.index(line, start))
            yield PlacedRecord(f"record {number}", fields)


def _parsed(line: str, source: str, start: int) -> list[RecordField]:
    """The fields of a record, which begins at `start`; of a line that is not JSON, all of it without a name."""
    try:
        return list(_fields(parsed(line), "", ValuePlaces(source, start, start + len(line))))
    except (ValueError, RecursionError):
        return [RecordField("", line, ((0, start),))]


def _fields(value: Any, name: str, places: ValuePlaces) -> Iterator[RecordField]:
    match value:
        case dict():
            for key, item in value.items():
                places.anchors(key)
                yield from _fields(item, f"{name}.{key}" if name else key, places)
        case list():
            for item in value:
                yield from _fields(item, name, places)
        case _Number():
            yield RecordField(name, value, places.anchors(value, quoted=False), json.loads(value))
        case str():
            yield RecordField(name, value, places.anchors(value))
        case bool():
            written = json.dumps(value)
            yield RecordField(name, written, places.anchors(written, quoted=False), value)
