"""Records of which some columns are text and some are metadata: a passage each, with the metadata kept beside it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

from semsearch.readers.document import Block
from semsearch.readers.front_matter import json_values
from semsearch.readers.records.columns import Columns
from semsearch.readers.records.rows import RecordField, block_of


@dataclass(frozen=True, slots=True)
class PlacedRecord:
    """The fields of a record, and its place: "row 12"."""

    place: str
    fields: Sequence[RecordField]


def chosen_blocks(records: Iterable[PlacedRecord], columns: Columns) -> Iterator[Block]:
    """The text of each record as blocks of a part of their own; a record without text has none.

    Chosen text columns are a block each, in the order in which they were chosen, without their names; all columns are
    one block of lines "name: value".
    """
    for record in records:
        metadata = _metadata(record.fields, columns)
        for block in _text(record, columns):
            yield replace(block, part=record.place, metadata=metadata)


def _text(record: PlacedRecord, columns: Columns) -> Iterator[Block]:
    fields = [field for field in record.fields if columns.is_text(field.name)]
    if columns.has_all_text:
        whole = block_of(fields, record.place)
        yield from [whole] if whole else []
        return
    for field in sorted(fields, key=lambda field: columns.text_rank(field.name)):
        if block := block_of([replace(field, name="")], record.place):
            yield block


def _metadata(fields: Iterable[RecordField], columns: Columns) -> dict[str, Any]:
    """The values of the metadata columns by name; several of one name as a list, empty ones left out."""
    found: dict[str, list[Any]] = {}
    for field in fields:
        if field.text.strip() and columns.is_metadata(field.name):
            found.setdefault(field.name, []).append(field.text if field.value is None else field.value)
    return json_values({name: values if len(values) > 1 else values[0] for name, values in found.items()})
