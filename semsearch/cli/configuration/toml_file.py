"""A configuration file, read: its values, each with the line it stands on. Nothing in it is run."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from semsearch.errors import UsageError
from semsearch.system.bounded_toml import read_toml

_MOST = 1 << 16  # bytes; a configuration has some hundreds
_HEADER = re.compile(r"\s*\[([^\]]+)\]\s*(?:#.*)?")
_KEY = re.compile(r"""\s*(?:"([^"]*)"|'([^']*)'|([\w-]+))\s*=""")


@dataclass(frozen=True, slots=True)
class TomlFile:
    """The values of a TOML file, and the lines of its sections' headers and of their keys."""

    path: Path
    values: Mapping[str, Any]
    headers: Mapping[str, int]
    keys: Mapping[tuple[str, str], int]

    @classmethod
    def read(cls, path: Path) -> TomlFile:
        """Read a file. Raises UsageError if it cannot be read, or is no TOML."""
        try:
            data = path.read_bytes()
            text = data.decode("utf-8-sig")
        except (OSError, ValueError) as error:
            raise UsageError(f"{path} cannot be read: {getattr(error, 'strerror', None) or error}") from None
        if len(data) > _MOST:
            raise UsageError(f"{path} has {len(data):,} bytes; a configuration has at most {_MOST:,}")
        try:
            values = read_toml(text)
        except (ValueError, RecursionError) as error:  # a number of thousands of digits is no TOMLDecodeError
            raise UsageError(f"{path} is not TOML: {error or 'it is too deep'}") from None
        return cls(path, values, *_lines_of(text))

    def line_of(self, section: str, name: str) -> int:
        """The line that a key stands on; that of its section, or the first, where it is written in another way."""
        of_headers = [self.headers.get(header, 1) for header in (section, f"{section}.{name}".lstrip("."))]
        return self.keys.get((section, name)) or max(of_headers)

    def at(self, section: str, name: str) -> str:
        """The file and line of a key, as errors and `config show` name them."""
        return f"{self.path}:{self.line_of(section, name)}"


def _lines_of(text: str) -> tuple[dict[str, int], dict[tuple[str, str], int]]:
    """The lines of headers, and of keys by their section: of a header the last, of a key the first."""
    headers: dict[str, int] = {}
    keys: dict[tuple[str, str], int] = {}
    current = ""
    for number, line in enumerate(text.splitlines(), start=1):
        if header := _HEADER.fullmatch(line):
            current = re.sub("[\"' ]", "", header[1])
            headers[current] = number
        elif key := _KEY.match(line):
            keys.setdefault((current, next(name for name in key.groups() if name is not None)), number)
    return headers, keys
