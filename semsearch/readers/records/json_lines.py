"""JSON Lines: a record a line, given as lines "name: value".

Nested names are joined with a dot; empty values and nulls are left out. A line that is no JSON is taken as it is, since
a log may well have some.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import pairwise
from pathlib import PurePath

from semsearch.errors import SourceError
from semsearch.readers.document import Block, Document, line_starts
from semsearch.readers.records.chosen import PlacedRecord, chosen_blocks
from semsearch.readers.records.columns import NO_COLUMNS, Columns
from semsearch.readers.records.located_json import Located, Value, parse
from semsearch.readers.records.rows import RecordField, block_of


def read(source: str, name: str, columns: Columns = NO_COLUMNS) -> Document:
    """Read JSON Lines, a block for each record; of the `columns` that were chosen. The title is the file's name."""
    records: Iterable[PlacedRecord] = _records(source, name)
    names: tuple[str, ...] = ()
    if columns:
        records = list(records)
        names = tuple(dict.fromkeys(field.name for record in records for field in record.fields))
    blocks = chosen_blocks(records, columns) if columns.are_of(names) else _whole(records)
    return Document(source, list(blocks), "jsonl", PurePath(name).stem, columns=names)


def _records(source: str, name: str) -> Iterator[PlacedRecord]:
    starts = [*line_starts(source), len(source)]
    for number, (start, end) in enumerate(pairwise(starts), start=1):
        if line := source[start:end].strip():
            fields = _parsed(line, source.index(line, start), name)
            yield PlacedRecord(f"record {number}", fields)


def _parsed(line: str, start: int, name: str) -> list[RecordField]:
    """The fields of a record; of a line that is no JSON, all of it without a name."""
    try:
        return list(_fields(parse(line, name, base=start), ""))
    except (SourceError, RecursionError):
        return [RecordField("", line, ((0, start),))]


def _whole(records: Iterable[PlacedRecord]) -> Iterator[Block]:
    for record in records:
        if block := block_of(record.fields, record.place):
            yield block


def _fields(value: Value, name: str) -> Iterator[RecordField]:
    if isinstance(value, Located):
        yield RecordField(name, value.text, value.anchors(), value.value)
    elif isinstance(value, list):
        for item in value:
            yield from _fields(item, name)
    else:
        for key, item in value.items():
            yield from _fields(item, f"{name}.{key}" if name else key)
