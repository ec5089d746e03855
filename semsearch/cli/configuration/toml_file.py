"""A configuration file, read: its values, each with the line it stands on. Nothing in it is run."""

from __future__ import annotations

import re
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from semsearch.errors import UsageError

__all__ = ["TomlFile", "tomllib"]

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

_MOST = 1 << 20  # bytes; a configuration has some hundreds
_HEADER = re.compile(r"\s*\[\s*(.+?)\s*\]\s*(?:#.*)?")


@dataclass(frozen=True, slots=True)
class TomlFile:
    """The values of a TOML file."""

    path: Path
    text: str
    values: Mapping[str, Any]

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
            return cls(path, text, tomllib.loads(text))
        except (ValueError, RecursionError) as error:  # a number of thousands of digits is no TOMLDecodeError
            raise UsageError(f"{path} is not TOML: {error or 'it is too deep'}") from None

    def line_of(self, section: str, name: str) -> int:
        """The line that a key stands on; that of its section, or the first, where it is written in another way."""
        key = re.compile(rf"""\s*(["']?){re.escape(name)}\1\s*=""")
        current, found = "", 1
        for number, line in enumerate(self.text.splitlines(), start=1):
            if header := _HEADER.fullmatch(line):
                current = header[1].replace('"', "").replace("'", "").replace(" ", "")
                if current in (section, f"{section}.{name}".lstrip(".")):
                    found = number
            elif current == section and key.match(line):
                return number
        return found

    def at(self, section: str, name: str) -> str:
        """The file and line of a key, as errors and `config show` name them."""
        return f"{self.path}:{self.line_of(section, name)}"
