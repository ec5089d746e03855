"""Records: tables (.csv, .tsv) and JSON Lines, a block each; columns that are text, and columns that are metadata.

A chosen name means the column of that name, whatever its case, and in JSON everything in the value of that name.
Without text columns, all that are not metadata are text; `*` means that too. A file that has none of the text columns
(or of the metadata columns, if only those were chosen) is another kind of table, and is read as if none were chosen.

A block of a record has a line "name: value" for each of its fields. Where columns were chosen, each record is a passage
of its own, with the metadata kept beside it. Python's parsers give no offsets: cells are found by a pattern, values of
JSON are looked for, one after the other.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from functools import lru_cache
from itertools import islice
from pathlib import PurePath
from typing import Any, NamedTuple

from semsearch.readers.document import Anchors, Block, Document, LazyBlocks, each_line_span, stands_alone
from semsearch.readers.metadata import json_values
from semsearch.readers.registry import NO_COLUMNS, Columns

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


# -- Tables ------------------------------------------------------------------------------------------------------------

_DELIMITERS = ",;\t|"
_SAMPLE = 65_536  # characters, to tell the delimiter by
_LONGEST_NAME = 60  # characters of a column's name
_NUMBER = re.compile(r"[-+]?[\d.,:/ %€$£]+\Z")


def read_table(source: str, name: str, columns: Columns = NO_COLUMNS) -> Document:
    """Read a table, a block a row; of a table for which `columns` were chosen, these. The title is the file's name."""
    delimiter = _delimiter(source[:_SAMPLE], "\t" if name.lower().endswith((".tsv", ".tab")) else ",")
    first = next(_rows(source, delimiter), [])
    names = tuple(field.text.strip() for field in first)
    are_chosen = columns.are_of(names)
    names = names if are_chosen or _are_names(names) else ()

    def blocks() -> Iterator[Block]:
        rows = enumerate(_rows(source, delimiter, names), start=1)
        records = (PlacedRecord(f"row {number}", row) for number, row in islice(rows, len(names) and 1, None))
        return chosen_blocks(records, columns) if are_chosen else whole_blocks(records)

    row_blocks: Sequence[Block] = LazyBlocks(blocks)
    if names and not are_chosen and not row_blocks:  # a table of one row is no head without a body
        row_blocks = [*whole_blocks([PlacedRecord("row 1", first)])]
    return Document(source, row_blocks, "table", PurePath(name).stem, columns=names)


def _delimiter(sample: str, usual: str) -> str:
    """The delimiter that most lines have, and equally often; else the usual one."""
    lines = [line for line in re.sub(r'"[^"]*"', "", sample).splitlines() if line][:100]
    alike = dict.fromkeys(_DELIMITERS, 0)
    for delimiter in _DELIMITERS:
        counts = Counter(count for line in lines if (count := line.count(delimiter)))
        if counts.total() * 2 > len(lines):
            alike[delimiter] = max(counts.values())
    best = max(alike, key=lambda delimiter: (alike[delimiter], delimiter == usual))
    return best if alike[best] else usual


def _are_names(names: Sequence[str]) -> bool:
    return (
        len(names) > 1
        and all(names)
        and len({name.lower() for name in names}) == len(names)
        and all(len(name) <= _LONGEST_NAME and not _NUMBER.match(name) for name in names)
    )


@lru_cache(maxsize=len(_DELIMITERS))
def _cell_pattern(delimiter: str) -> re.Pattern[str]:
    """The pattern of a cell and its end. A quotation mark without its second is a character like others."""
    plain = rf"[^{re.escape(delimiter)}\r\n]*"
    quoted = r' *"([^"]*(?:""[^"]*)*)"'
    return re.compile(rf"(?:{quoted}({plain})|({plain}))({re.escape(delimiter)}|\r\n?|\n|\Z)")


def _rows(source: str, delimiter: str, names: Sequence[str] = ()) -> Iterator[list[RecordField]]:
    """The cells of each row, with the names of their columns; those beyond have none."""
    pattern, row, at = _cell_pattern(delimiter), list[RecordField](), 0
    while at < len(source):
        match = pattern.match(source, at)
        assert match is not None  # a plain cell of no characters is one
        quoted, after, plain, end = match.groups()
        name = names[len(row)] if len(row) < len(names) else ""
        if quoted is None:
            row.append(RecordField(name, plain, ((0, match.start(3)),)))
        else:
            inside = quoted.replace('""', '"')
            anchors: Anchors = _anchors(inside, match.start(1)) if '"' in inside else ((0, match.start(1)),)
            row.append(
                RecordField(name, inside + after, (*anchors, (len(inside), match.start(2))) if after else anchors)
            )
        at = match.end()
        if end != delimiter or at == len(source):
            yield row
            row = []


def _anchors(inside: str, start: int) -> Anchors:
    """The anchors of a text in quotation marks that begins at an offset: a mark in it is doubled in the source."""
    marks = [at for at, character in enumerate(inside) if character == '"']
    return (0, start), *((at + 1, start + at + 1 + count) for count, at in enumerate(marks, start=1))


# -- JSON Lines --------------------------------------------------------------------------------------------------------

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


def read_json_lines(source: str, name: str, columns: Columns = NO_COLUMNS) -> Document:
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
            fields = _parsed_line(line, source, source.index(line, start))
            yield PlacedRecord(f"record {number}", fields)


def _parsed_line(line: str, source: str, start: int) -> list[RecordField]:
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
