"""Front matter: the YAML between --- lines or the TOML between +++ lines that a Markdown file may begin with.

What cannot be parsed stays a part of the text, so that nothing is lost and the rest of the file is read as usual.
What is not a mapping is no front matter: a Markdown file may well begin with a rule.
"""

from __future__ import annotations

import datetime
import math
import re
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

_FENCED = re.compile(
    r"(?P<fence>---|\+\+\+)[ \t]*(?:\r\n?|\n)"
    r"(?P<body>(?:[^\r\n]*(?:\r\n?|\n))*?)"
    r"(?:(?P=fence)|\.\.\.)[ \t]*(?:\r\n?|\n|\Z)"
)
_MOST_CHARACTERS = 65_536
_MOST_VALUES = 10_000  # YAML's aliases can make a short file explode


@dataclass(frozen=True, slots=True)
class FrontMatter:
    """`metadata` as JSON values; the text goes on at `end`. What could not be parsed is at source[start:stop]."""

    metadata: Mapping[str, Any] = field(default_factory=dict)
    end: int = 0
    start: int = 0
    stop: int = 0


def front_matter(source: str) -> FrontMatter:
    """The front matter of a text; it ends at 0 if there is none."""
    found = _FENCED.match(source, 0, _MOST_CHARACTERS)
    if not found:
        return FrontMatter()
    try:
        values = _parse_toml(found["body"]) if found["fence"] == "+++" else _parse_yaml(found["body"])
        metadata = _JsonValues().convert(values)
    except ImportError:
        raise
    except Exception:  # PyYAML's own slips too: "!!timestamp x" is an AttributeError
        return FrontMatter({}, found.end(), *found.span("body"))
    if metadata is None:
        return FrontMatter({}, found.end())
    return FrontMatter(metadata, found.end()) if isinstance(metadata, dict) else FrontMatter()


def _parse_yaml(text: str) -> Any:
    import yaml  # here for start-up time: many folders have no front matter

    return yaml.load(text, Loader=getattr(yaml, "CSafeLoader", yaml.SafeLoader))


def _parse_toml(text: str) -> Any:
    if sys.version_info >= (3, 11):
        import tomllib
    else:
        import tomli as tomllib
    return tomllib.loads(text.replace("\r\n", "\n").replace("\r", "\n"))


class _JsonValues:
    """Makes YAML's and TOML's values JSON's: dates become ISO strings, keys strings, sets lists, NaN nothing."""

    def __init__(self) -> None:
        self._count = 0

    def convert(self, value: Any) -> Any:
        self._count += 1
        if self._count > _MOST_VALUES:
            raise ValueError("more values than any front matter has")
        if isinstance(value, dict):
            return {str(key): self.convert(item) for key, item in value.items()}
        if isinstance(value, (list, tuple, set)):
            return [self.convert(item) for item in value]
        if isinstance(value, (datetime.date, datetime.time)):
            return value.isoformat()
        if isinstance(value, float) and not math.isfinite(value):
            return None
        return value if value is None or isinstance(value, (str, bool, int, float)) else str(value)
