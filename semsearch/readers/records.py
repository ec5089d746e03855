"""Records of tables and JSON Lines as blocks: columns that are text, and columns that are metadata.

A chosen name means the column of that name, whatever its case, and in JSON everything in the value of that name.
Without text columns, all that are not metadata are text; `*` means that too. A file that has none of the text columns
(or of the metadata columns, if only those were chosen) is another kind of table, and is read as if none were chosen.

A block of a record has a line "name: value" for each of its fields. Where columns were chosen, each record is a passage
of its own, with the metadata kept beside it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

from semsearch.readers.document import Anchors, Block, stands_alone
from semsearch.readers.front_matter import json_values

ALL = "*"


@dataclass(frozen=True, slots=True)
class Columns:
    """The columns that are searched, and those that are kept as metadata of each record. False where none is chosen."""

    text: tuple[str, ...] = ()
    metadata: tuple[str, ...] = ()

    def __bool__(self) -> bool:
        return bool(self.text or self.metadata)

    @property
    def has_all_text(self) -> bool:
        """Return whether all columns are text, but for the metadata."""
        return not self.text or ALL in self.text

    def is_text(self, name: str) -> bool:
        """Return whether a column of this name is searched."""
        return not self.is_metadata(name) if self.has_all_text else self.text_rank(name) < len(self.text)

    def text_rank(self, name: str) -> int:
        """Return the position of a column among the text columns; after all of them if it is not one."""
        return next((rank for rank, column in enumerate(self.text) if _means(column, name)), len(self.text))

    def is_metadata(self, name: str) -> bool:
        """Return whether a column of this name is metadata."""
        return any(_means(column, name) for column in self.metadata)

    def are_of(self, names: Iterable[str]) -> bool:
        """Return whether a file with columns of these names is one that the columns were chosen for."""
        wanted = self.metadata if self.has_all_text else self.text
        return any(_means(column, name) for name in names for column in wanted)

    def missing(self, names: Iterable[str]) -> list[str]:
        """Return the chosen columns that are not among these names."""
        there = [*names]
        chosen = [column for column in (*self.text, *self.metadata) if column != ALL]
        return [column for column in chosen if not any(_means(column, name) for name in there)]


NO_COLUMNS = Columns()


def _means(column: str, name: str) -> bool:
    column, name = column.casefold(), name.casefold()
    return name == column or name.startswith(column + ".")


# -- Blocks of records -------------------------------------------------------------------------------------------------


class RecordField(NamedTuple):
    """A value of a record with its name, if it has one, and its anchors in the source.

    There are millions of them: a named tuple is made in a third of the time of a frozen dataclass.
    """

    name: str
    text: str
    anchors: Anchors  # at least one, the first for offset 0
    value: Any = None  # of JSON: a number, true or false; None: its text


class PlacedRecord(NamedTuple):
    """The fields of a record, and its place: "row 12"."""

    place: str
    fields: Sequence[RecordField]


def block_of(fields: Iterable[RecordField], place: str) -> Block | None:
    """Make the block of a record, without its empty fields; None if all are empty.

    A name is cited at the offset of its value: most files have it once, above all records, or in every one.
    """
    lines: list[str] = []
    anchors: list[tuple[int, int]] = []
    length = 0
    for name, value, places, _ in fields:
        if value and not value.isspace():
            if name:
                anchors.append((length, places[0][1]))
                length += len(name) + 2
            if len(places) == 1:
                anchors.append((length + places[0][0], places[0][1]))
            else:
                anchors += [(length + offset, source) for offset, source in places]
            length += len(value) + 1
            lines.append(f"{name}: {value}" if name else value)
    if not lines:
        return None
    text = "\n".join(lines)
    part = place if stands_alone(text) else None
    return Block(text, anchors[0][1], anchors=tuple(anchors), place=place, part=part)


def whole_blocks(records: Iterable[PlacedRecord]) -> Iterator[Block]:
    """Each record as a block; none of one that is empty."""
    for record in records:
        if block := block_of(record.fields, record.place):
            yield block


# -- Chosen columns ----------------------------------------------------------------------------------------------------


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
        if block := block_of([field._replace(name="")], record.place):
            yield block


def _metadata(fields: Iterable[RecordField], columns: Columns) -> dict[str, Any]:
    """The values of the metadata columns by name; several of one name as a list, empty ones left out."""
    values_by_name: dict[str, list[Any]] = {}
    for field in fields:
        if field.text.strip() and columns.is_metadata(field.name):
            values_by_name.setdefault(field.name, []).append(field.text if field.value is None else field.value)
    return json_values({name: values if len(values) > 1 else values[0] for name, values in values_by_name.items()})
