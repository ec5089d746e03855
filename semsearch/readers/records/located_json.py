"""JSON with the offset of every value, so that a value can be cited where it is in the file, escapes and all."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from typing import Any, NoReturn

from semsearch.errors import SourceError

_TOKEN = re.compile(r'\s*(?:("[^"\\]*(?:\\.[^"\\]*)*")|([{}\[\],:])|([^\s{}\[\],:"]+))', re.DOTALL)
_ESCAPE = re.compile(r"\\(?:u[dD][89abAB][\da-fA-F]{2}\\u[dD][c-fC-F][\da-fA-F]{2}|u[\da-fA-F]{4}|.)", re.DOTALL)


_MOST_VALUES = 3_000_000  # of one text, at some 200 bytes each


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
        found = [(0, self.start)]
        if isinstance(self.value, str) and "\\" in self.raw:
            shift = 0  # by how much the raw text is longer
            for escape in _ESCAPE.finditer(self.raw):
                shift += len(escape[0]) - 1
                found.append((escape.end() - shift, self.start + escape.end()))
        return tuple(found)


Value = Located | list[Any] | dict[str, Any]


def parse(source: str, name: str, *, base: int = 0) -> Value:
    """Parse JSON: lists and objects become Python's, all else Located, with offsets counted from `base`.

    Raises SourceError, with the line, for a text that is no JSON or has millions of values, and RecursionError if it
    is nested too deeply.
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
        self._count = 0

    def value(self, at: int) -> tuple[Value, int]:
        self._count += 1
        if self._count > _MOST_VALUES:
            raise SourceError(f"{self._name} has more than {_MOST_VALUES:,} values; split it")
        found = self._token(at)
        if found[2] == "{":
            return self._object(found.end())
        if found[2] == "[":
            return self._list(found.end())
        if found[2]:
            self.fail(found.start(2))
        group = 1 if found[1] else 3
        value = self._loaded(found, group)
        start = self._base + found.start(group)
        return Located(value, start + 1, found[1][1:-1]) if group == 1 else Located(value, start, found[3]), found.end()

    def _list(self, at: int) -> tuple[Value, int]:
        values: list[Value] = []
        if (found := self._token(at))[2] == "]":
            return values, found.end()
        while True:
            value, at = self.value(at)
            values.append(value)
            found = self._token(at)
            at = found.end()
            if found[2] == "]":
                return values, at
            if found[2] != ",":
                self.fail(found.start(found.lastindex or 0))

    def _object(self, at: int) -> tuple[Value, int]:
        values: dict[str, Value] = {}
        if (found := self._token(at))[2] == "}":
            return values, found.end()
        while True:
            key = self._token(at)
            colon = self._token(key.end())
            if not key[1] or colon[2] != ":":
                self.fail(key.start(key.lastindex or 0))
            value, at = self.value(colon.end())
            values[self._loaded(key, 1)] = value
            found = self._token(at)
            at = found.end()
            if found[2] == "}":
                return values, at
            if found[2] != ",":
                self.fail(found.start(found.lastindex or 0))

    def _loaded(self, token: re.Match[str], group: int) -> Any:
        try:
            return json.loads(token[group], strict=False)
        except ValueError:  # also of a number of more digits than Python takes
            self.fail(token.start(group))

    def _token(self, at: int) -> re.Match[str]:
        found = _TOKEN.match(self._source, at)
        if found is None:
            self.fail(at)
        return found

    def fail(self, at: int) -> NoReturn:
        line = self._source.count("\n", 0, at) + 1
        raise SourceError(f"{self._name} is not the JSON that it should be: line {line} cannot be understood")
