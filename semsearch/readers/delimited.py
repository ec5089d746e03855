"""Tables as text: .csv and .tsv, with any delimiter, a block a row.

A row is given as lines "column: value" if the first row looks like the columns' names: one for every column, all
different, short, and none a number; else as its values. Cells in quotation marks may contain delimiters and line ends.
Python's csv module does not give the offsets of cells, so they are found by a pattern.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from functools import lru_cache
from itertools import chain, islice, repeat
from pathlib import PurePath

from semsearch.readers.document import Anchors, Block, Document, LazyBlocks
from semsearch.readers.records import NO_COLUMNS, Columns, PlacedRecord, RecordField, chosen_blocks, whole_blocks

_DELIMITERS = ",;\t|"
_SAMPLE = 65_536  # characters, to tell the delimiter by
_END_OF_LINE = re.compile(r"\r\n?|\n")
_LONGEST_NAME = 60  # characters of a column's name
_NUMBER = re.compile(r"[-+]?[\d.,:/ %€$£]+\Z")


def read(source: str, name: str, columns: Columns = NO_COLUMNS) -> Document:
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
    at = 0
    while at < len(source):
        end_of_line = _END_OF_LINE.search(source, at)
        end, following = end_of_line.span() if end_of_line else (len(source), len(source))
        if source.find('"', at, end) < 0:
            texts, start = source[at:end].split(delimiter), at
            if not end_of_line and len(texts) > 1 and not texts[-1]:
                texts.pop()  # after the last delimiter of all is no cell
            row = []
            for text, name in zip(texts, chain(names, repeat(""))):  # noqa: B905  # as many as there are texts
                row.append(RecordField(name, text, ((0, start),)))
                start += len(text) + 1
            at = following
        else:
            row, at = _row_with_quotes(source, at, delimiter, names)
        yield row


def _row_with_quotes(source: str, at: int, delimiter: str, names: Sequence[str]) -> tuple[list[RecordField], int]:
    """The row that begins at an offset, and where the next one does."""
    pattern, row, end = _cell_pattern(delimiter), list[RecordField](), delimiter
    while at < len(source) and end == delimiter:
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
    return row, at


def _anchors(inside: str, start: int) -> Anchors:
    """The anchors of a text in quotation marks that begins at an offset: a mark in it is doubled in the source."""
    marks = [at for at, character in enumerate(inside) if character == '"']
    return (0, start), *((at + 1, start + at + 1 + count) for count, at in enumerate(marks, start=1))
