"""The metadata of documents: as values of JSON, whatever a program or a file gives; and front matter.

Front matter is the YAML between --- lines or the TOML between +++ lines that a Markdown file may begin with. What
cannot be parsed stays a part of the text, so that nothing is lost and the rest of the file is read as usual. Anything
but a mapping is not front matter: a Markdown file may well begin with a rule.
"""

from __future__ import annotations

import datetime
import re
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from decimal import Decimal
from pathlib import PurePath
from typing import Any
from uuid import UUID

from semsearch.errors import UsageError
from semsearch.system.bounded_toml import read_toml

_FENCED = re.compile(
    r"(?P<fence>---|\+\+\+)[ \t]*(?:\r\n?+|\n)"
    r"(?P<body>(?:[^\r\n]*(?:\r\n?+|\n))*?)"
    r"(?:(?P=fence)|\.\.\.)[ \t]*(?:\r\n?+|\n|\Z)"
)
_MOST_CHARACTERS = 65_536
_MOST_VALUES = 10_000  # YAML's aliases can make a short file explode
_MOST_GIVEN = 1_000_000  # by a program: more, and a mapping contains itself
_DEEPEST = 100  # SQLite gives up at 1,000
_AS_TEXT = (str, int, float, type(None), datetime.date, datetime.time, Decimal, PurePath, UUID)  # also as keys


@dataclass(frozen=True, slots=True)
class FrontMatter:
    """Front matter: `metadata` as JSON values, and the offset where it ends; source[start:stop] could not be parsed."""

    metadata: Mapping[str, Any] = field(default_factory=dict)
    end: int = 0
    start: int = 0
    stop: int = 0


def front_matter(source: str) -> FrontMatter:
    """Parse the front matter of a text; it ends at 0 if there is none."""
    match = _FENCED.match(source, 0, _MOST_CHARACTERS)
    if not match:
        return FrontMatter()
    try:
        body = match["body"].replace("\r\n", "\n").replace("\r", "\n")
        values = read_toml(body) if match["fence"] == "+++" else _parse_yaml(body)
        metadata = _JsonValues(_MOST_VALUES).convert(values)
    except ImportError:
        raise
    except Exception:  # PyYAML's own slips too: "!!timestamp x" is an AttributeError
        return FrontMatter({}, match.end(), *match.span("body"))
    if metadata is None:
        return FrontMatter({}, match.end())
    return FrontMatter(metadata, match.end()) if isinstance(metadata, dict) else FrontMatter()


def _parse_yaml(text: str) -> Any:
    import yaml  # as long to import as a search takes, and many folders have no front matter

    return yaml.load(text, Loader=getattr(yaml, "CSafeLoader", yaml.SafeLoader))


def json_values(mapping: Mapping[Any, Any]) -> dict[str, Any]:
    """Convert the metadata that a program gives to a document to values of JSON.

    Keys become strings, dates and times ISO strings, tuples and sets lists (a set's in order), NumPy's values Python's,
    paths, UUIDs and decimal numbers strings; a number that is not finite becomes None. Raises UsageError for any other
    value, and for metadata that is no mapping, is nested more than 100 deep, or contains itself.
    """
    if not isinstance(mapping, Mapping):
        raise UsageError(f"metadata must be a mapping of keys to values, not {mapping!r}")
    try:
        return {**_JsonValues(_MOST_GIVEN).convert(mapping)}
    except ValueError as error:
        raise UsageError(f"the metadata cannot be stored: {error}") from error


class _JsonValues:
    """Converts Python values to those of JSON, and counts them."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._count = 0

    def convert(self, value: Any, depth: int = 0) -> Any:
        self._count += 1
        if self._count > self._most:
            raise ValueError(f"it has more than {self._most:,} values")
        if depth > _DEEPEST:
            raise ValueError(f"it is nested more than {_DEEPEST} deep")
        if isinstance(value, Mapping):
            return {_text(key): self.convert(item, depth + 1) for key, item in value.items()}
        if isinstance(value, (set, frozenset)):
            value = sorted(value, key=str)  # the same each time, or a text would seem to have changed
        if isinstance(value, (list, tuple)):
            return [self.convert(item, depth + 1) for item in value]
        if hasattr(value, "tolist"):  # NumPy's scalars and arrays
            return self.convert(value.tolist(), depth + 1)
        if isinstance(value, (int, float)):
            return value if abs(value) <= sys.float_info.max else None  # nor what is no number
        return None if value is None else _text(value)


def _text(value: Any) -> str:
    if not isinstance(value, _AS_TEXT):
        raise ValueError(
            f"{value!r:.80} is of the type {type(value).__name__}; expected a string, number, date, true, false, null, "
            "or a list or mapping of these"
        )
    text = value.isoformat() if isinstance(value, (datetime.date, datetime.time)) else str(value)
    return text if text.isascii() else text.encode("utf-8", "replace").decode()  # lone surrogates are not characters
