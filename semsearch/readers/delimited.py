"""Tables as text: .csv and .tsv, with any delimiter, a block a row.

A row is given as lines "column: value" if the first row looks like the columns' names: one for every column, all
different, short, and none a number; else as its values. Cells in quotation marks may contain delimiters and line ends.
Python's csv module does not give the offsets of cells, so they are found by a pattern.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from pathlib import PurePath

from semsearch.readers.align import Anchors
from semsearch.readers.document import Document
from semsearch.readers.records import NO_COLUMNS, Columns, PlacedRecord, RecordField, block_of, chosen_blocks

_DELIMITERS = ",;\t|"
_SAMPLE = 65_536  # characters, to tell the delimiter by
_LONGEST_NAME = 60  # characters of a column's name
_NUMBER = re.compile(r"[-+]?[\d.,:/ %€$£]+\Z")


@dataclass(frozen=True, slots=True)
class _Cell:
    text: str
    start: int  # of its text, past a quotation mark
    quoted: int = 0  # how many of its characters stand in quotation marks: the first ones
    after: int = 0  # where the others begin

    def anchors(self) -> Anchors:
        """The anchors of the cell's text; a quotation mark in quotation marks is written twice in the source."""
        marks = [at for at, character in enumerate(self.text[: self.quoted]) if character == '"']
        doubled = ((at + 1, self.start + at + 1 + count) for count, at in enumerate(marks, start=1))
        return (
            (0, self.start),
            *doubled,
            *([(self.quoted, self.after)] if self.quoted < len(self.text) and self.after else []),
        )


def read(source: str, name: str, columns: Columns = NO_COLUMNS) -> Document:
    """Read a table, a block a row; of a table for which `columns` were chosen, these. The title is the file's name."""
    delimiter = _delimiter(source[:_SAMPLE], "\t" if name.lower().endswith((".tsv", ".tab")) else ",")
    rows = _rows(source, delimiter)
    first = next(rows, [])
    names = [cell.text.strip() for cell in first]
    if columns.are_of(names):
        records = (PlacedRecord(f"row {n}", _fields(names, row)) for n, row in enumerate(rows, start=2))
        chosen = list(chosen_blocks(records, columns))
        return Document(source, chosen, "table", PurePath(name).stem, columns=tuple(names))
    has_names = _are_names(names)
    blocks = []
    for number, row in enumerate(rows if has_names else _rows(source, delimiter), start=2 if has_names else 1):
        if block := block_of(_fields(names if has_names else [], row), f"row {number}"):
            blocks.append(block)
    if has_names and not blocks:  # a table of one row is no head without a body
        blocks = [
            block for block in [block_of((RecordField("", c.text, c.anchors()) for c in first), "row 1")] if block
        ]
    return Document(source, blocks, "table", PurePath(name).stem, columns=tuple(names) if has_names else ())


def _fields(names: list[str], row: list[_Cell]) -> list[RecordField]:
    return [
        RecordField(names[column] if column < len(names) else "", cell.text, cell.anchors())
        for column, cell in enumerate(row)
    ]


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


def _are_names(names: list[str]) -> bool:
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


def _rows(source: str, delimiter: str) -> Iterator[list[_Cell]]:
    pattern = _cell_pattern(delimiter)
    row: list[_Cell] = []
    at = 0
    while at < len(source):
        found = pattern.match(source, at)
        if found is None:
            return  # cannot be: a plain cell of no characters is one
        if found[1] is not None:
            inside = found[1].replace('""', '"')
            row.append(_Cell(inside + found[2], found.start(1), len(inside), found.start(2)))
        else:
            row.append(_Cell(found[3], found.start(3)))
        at = found.end()
        if found[4] != delimiter:
            yield row
            row = []
    if row:
        yield row
