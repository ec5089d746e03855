"""JSON Lines: a record a line, given as lines "name: value".

Nested names are joined with a dot; empty values and nulls are left out. A line that is not JSON is taken as it is,
since a log may have some. `parse` gives the offset of every value, so that it can be cited where it is in the file.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import PurePath
from typing import Any, NoReturn

from semsearch.errors import SourceError
from semsearch.readers.document import Block, Document, LazyBlocks, each_line_span
from semsearch.readers.records import NO_COLUMNS, Columns, PlacedRecord, RecordField, chosen_blocks, whole_blocks

_TOKEN = re.compile(r'\s*(?:("[^"\\]*(?:\\.[^"\\]*)*")|([{}\[\],:])|([^\s{}\[\],:"]+))', re.DOTALL)
_ESCAPE = re.compile(r"\\(?:u[dD][89abAB][\da-fA-F]{2}\\u[dD][c-fC-F][\da-fA-F]{2}|u[\da-fA-F]{4}|.)", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Located:
    """A string, number, true, false or null, with the offset of the first character of its text."""

    value: Any
    start: int
    raw: str = ""  # as it is written; a string without its quotes

    @property
    def text(self) -> str:
        """The text of the value: a string itself, "" for null, else as it is written."""
        if self.value is None:
            return ""
        return self.value if isinstance(self.value, str) else self.raw

    def anchors(self) -> tuple[tuple[int, int], ...]:
        """The anchors of the text: (offset in the text, offset in the source) for each run without escapes."""
        anchors = [(0, self.start)]
        if isinstance(self.value, str) and "\\" in self.raw:
            shift = 0  # by how much the raw text is longer
            for escape in _ESCAPE.finditer(self.raw):
                shift += len(escape[0]) - 1
                anchors.append((escape.end() - shift, self.start + escape.end()))
        return tuple(anchors)


Value = Located | list[Any] | dict[str, Any]


def parse(source: str, name: str, *, base: int = 0) -> Value:
    """Parse JSON: lists and objects become Python's, all else Located, with offsets counted from `base`.

    Raises SourceError, with the line, for a text that is not JSON, and RecursionError if it is nested too deeply.
    """
    parser = _JsonParser(source, name, base)
    value, end = parser.value(0)
    if source[end:].strip():
        parser.fail(end)
    return value


class _JsonParser:
    def __init__(self, source: str, name: str, base: int) -> None:
        self._source = source
        self._name = name
        self._base = base

    def value(self, at: int) -> tuple[Value, int]:
        match = self._token(at)
        if match[2] == "{":
            return self._object(match.end())
        if match[2] == "[":
            return self._list(match.end())
        if match[2]:
            self.fail(match.start(2))
        group = 1 if match[1] else 3
        value = self._loaded(match, group)
        start = self._base + match.start(group)
        return Located(value, start + 1, match[1][1:-1]) if group == 1 else Located(value, start, match[3]), match.end()

    def _list(self, at: int) -> tuple[Value, int]:
        values: list[Value] = []
        if (match := self._token(at))[2] == "]":
            return values, match.end()
        while True:
            value, at = self.value(at)
            values.append(value)
            match = self._token(at)
            at = match.end()
            if match[2] == "]":
                return values, at
            if match[2] != ",":
                self.fail(match.start(match.lastindex or 0))

    def _object(self, at: int) -> tuple[Value, int]:
        values: dict[str, Value] = {}
        if (match := self._token(at))[2] == "}":
            return values, match.end()
        while True:
            key = self._token(at)
            colon = self._token(key.end())
            if not key[1] or colon[2] != ":":
                self.fail(key.start(key.lastindex or 0))
            value, at = self.value(colon.end())
            values[self._loaded(key, 1)] = value
            match = self._token(at)
            at = match.end()
            if match[2] == "}":
                return values, at
            if match[2] != ",":
                self.fail(match.start(match.lastindex or 0))

    def _loaded(self, token: re.Match[str], group: int) -> Any:
        try:
            return json.loads(token[group], strict=False)
        except ValueError:  # also of a number of more digits than Python takes
            self.fail(token.start(group))

    def _token(self, at: int) -> re.Match[str]:
        match = _TOKEN.match(self._source, at)
        if match is None:
            self.fail(at)
        return match

    def fail(self, at: int) -> NoReturn:
        line = self._source.count("\n", 0, at) + 1
        raise SourceError(f"{self._name} is not valid JSON: line {line} cannot be parsed")


def read(source: str, name: str, columns: Columns = NO_COLUMNS) -> Document:
    """Read JSON Lines, a block for each record; of the `columns` that were chosen. The title is the file's name."""
    names: tuple[str, ...] = ()
    if columns:
        names = tuple(dict.fromkeys(field.name for record in _records(source, name) for field in record.fields))
    are_chosen = columns.are_of(names)

    def blocks() -> Iterator[Block]:
        records = _records(source, name)
        return chosen_blocks(records, columns) if are_chosen else whole_blocks(records)

    return Document(source, LazyBlocks(blocks), "jsonl", PurePath(name).stem, columns=names)


def _records(source: str, name: str) -> Iterator[PlacedRecord]:
    for number, (start, end) in enumerate(each_line_span(source), start=1):
        if line := source[start:end].strip():
            fields = _parsed(line, source.index(line, start), name)
            yield PlacedRecord(f"record {number}", fields)


def _parsed(line: str, start: int, name: str) -> list[RecordField]:
    """The fields of a record; of a line that is not JSON, all of it without a name."""
    try:
        return list(_fields(parse(line, name, base=start), ""))
    except (SourceError, RecursionError):
        return [RecordField("", line, ((0, start),))]


def _fields(value: Value, name: str) -> Iterator[RecordField]:
    if isinstance(value, Located):
        yield RecordField(name, value.text, value.anchors(), value.value)
    elif isinstance(value, list):
        for item in value:
            yield from _fields(item, name)
    else:
        for key, item in value.items():
            yield from _fields(item, f"{name}.{key}" if name else key)
