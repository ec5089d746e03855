"""Which documents may answer: globs on paths, comparisons on title, format and metadata. Parsed here, tried by SQLite.

    guide/*.md      path: * and ? stay within a folder, ** crosses folders; without a slash: the name, in any folder
    guide/          everything below a folder
    key=value       key!=value  key<value  key<=value  key>value  key>=value  key~glob

A key is path, title, format, or a metadata key; author.name looks inside. Two numbers are compared as numbers, all else
as text, without regard to case for equality. Of a list, any element may match; != holds where none is equal.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal, cast

from semsearch.errors import UsageError

Operator = Literal["=", "!=", "<", "<=", ">", ">=", "~"]
_COMPARISON = re.compile(r"\s*([\w.\-]+)\s*(!=|<=|>=|=|<|>|~)\s*(.*?)\s*", re.DOTALL)
_COLUMNS = {"title": "documents.title", "format": "documents.format"}


@dataclass(frozen=True, slots=True)
class Filter:
    """One condition."""

    key: str
    operator: Operator
    value: str


@dataclass(frozen=True, slots=True)
class Condition:
    """SQL over `documents` joined with `roots`, and its parameters."""

    sql: str
    parameters: tuple[str, ...]


def parse(text: str) -> Filter:
    """Raises UsageError where nothing can be meant."""
    if not text.strip():
        raise UsageError("an empty filter; give a glob such as 'guide/*.md' or a condition such as 'author=Ada'")
    match = _COMPARISON.fullmatch(text)
    if match is None:
        return Filter("path", "~", text.strip())
    key, operator, value = match.groups()
    if not key.strip("."):
        raise UsageError(f"the filter {text!r} names no key; write it as in 'author=Ada'")
    return Filter(key, cast(Operator, operator), value)


def condition(filters: Sequence[Filter], *, here: str = "") -> Condition:
    """All of them must hold. Globs may also be meant from the current directory, `here`."""
    parts = [_condition(filter_, here) for filter_ in filters]
    sql = " AND ".join(f"({part.sql})" for part in parts) or "1"
    return Condition(sql, tuple(value for part in parts for value in part.parameters))


def _condition(filter_: Filter, here: str) -> Condition:
    wanted = (filter_.operator, filter_.value)
    if filter_.key == "path":
        return Condition("filter_path(documents.path, roots.path, ?, ?, ?)", (*wanted, here))
    if filter_.key in _COLUMNS:
        return Condition(f"filter_value('text', {_COLUMNS[filter_.key]}, ?, ?)", wanted)
    positive: Operator = "=" if filter_.operator == "!=" else filter_.operator
    paths = [f'$."{filter_.key}"']
    if "." in filter_.key.strip("."):
        paths.append("$" + "".join(f'."{part}"' for part in filter_.key.split(".")))
    found = " OR ".join(
        "EXISTS (SELECT 1 FROM json_each(documents.metadata, ?) AS e WHERE filter_value(e.type, e.value, ?, ?))"
        for _ in paths
    )
    parameters = tuple(value for path in paths for value in (path, positive, filter_.value))
    return Condition(f"NOT ({found})" if filter_.operator == "!=" else found, parameters)


def path_matches(path: str, root: str | None, operator: Operator, value: str, here: str) -> bool:
    """Whether a path is meant: as it stands below its root, from the current directory, or in full."""
    whole = f"{root}/{path}" if root else path
    value = unicodedata.normalize("NFC", value)
    if "\\" in value and "/" not in value:
        value = value.replace("\\", "/")  # as typed on Windows
    if operator == "~":
        pattern = glob_pattern(value)
        below = whole.removeprefix(here.rstrip("/") + "/")
        return any(pattern.fullmatch(spelling) for spelling in (path, below, whole))
    return value_matches("text", path, operator, value) or (
        operator == "=" and value_matches("text", whole, operator, value)
    )


def value_matches(kind: str, value: object, operator: Operator, wanted: str) -> bool:
    """Whether one value holds. `kind` as SQLite's json_each names it: text, integer, real, true, false, null, ..."""
    if kind in ("object", "array"):
        return False
    text = {"true": "true", "false": "false", "null": ""}.get(kind, str(value))
    if operator == "~":
        return bool(glob_pattern(wanted, names=True).fullmatch(text))
    left, right = _number(text), _number(wanted)
    if left is not None and right is not None:
        return _compare(left, right, operator)
    if operator in ("=", "!="):
        return (text.casefold() == wanted.casefold()) == (operator == "=")
    return _compare(text, wanted, operator)


def _compare(left: float | str, right: float | str, operator: Operator) -> bool:
    # both are numbers, or both are text
    if left == right:
        return operator in ("=", "<=", ">=")
    if operator in ("<", "<="):
        return left < right  # type: ignore[operator]  # mypy sees the mixed cases too
    return operator == "!=" or (operator in (">", ">=") and left > right)  # type: ignore[operator]


def _number(text: str) -> float | None:
    try:
        number = float(text)
    except ValueError:
        return None
    return number if number == number else None


@lru_cache(maxsize=256)
def glob_pattern(glob: str, *, names: bool = False) -> re.Pattern[str]:
    """A glob as a regular expression for whole paths; with `names`, for plain values, where a slash is a letter."""
    prefix = ""
    if not names:
        prefix = "" if "/" in glob.rstrip("/") else "(?:.*/)?"
        glob = glob.removeprefix("./") + ("**" if glob.endswith("/") else "")
    inner = ".*" if names else "[^/]*"
    parts = re.split(r"(\*\*/|\*\*|\*|\?|\[!?[^\]/]+\])", glob)
    made = [_piece(part, inner) for part in parts]
    return re.compile(prefix + "".join(made), re.IGNORECASE if names else 0)


def _piece(part: str, inner: str) -> str:
    if part == "**/":
        return "(?:.*/)?"
    if part == "**":
        return ".*"
    if part == "*":
        return inner
    if part == "?":
        return inner[:-1]
    if part.startswith("[") and part.endswith("]") and len(part) > 2:
        body = part[1:-1].replace("\\", r"\\")
        return "[^" + body[1:] + "]" if body.startswith("!") else "[" + body + "]"
    return re.escape(part)


FUNCTIONS: dict[str, tuple[int, Callable[..., bool]]] = {
    "filter_path": (5, path_matches),
    "filter_value": (4, value_matches),
}
