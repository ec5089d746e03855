"""Which documents may answer: globs on paths, comparisons on title, format and metadata. Parsed here, tried by SQLite.

    guide/*.md      path: * and ? stay within a folder, ** crosses folders; without a slash: the name, in any folder
    guide/          everything below a folder
    key=value       key!=value  key<value  key<=value  key>value  key>=value  key~glob

A key is path, title, format, or a metadata key; author.name looks inside. Keys are found without regard to case. Two
numbers are compared as numbers, all else as text, without regard to case for equality. Of a list, any element may
match; != holds where none is equal. A path may be written as below its root, as from here, or in full.
"""

from __future__ import annotations

import json
import re
import unicodedata
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Literal, cast

from semsearch.errors import UsageError

Operator = Literal["=", "!=", "<", "<=", ">", ">=", "~"]
_COMPARISON = re.compile(r"\s*([\w.\-]+)\s*(!=|<=|>=|=|<|>|~)\s*(.*?)\s*", re.DOTALL)
_KEYLESS = re.compile(r"!=|[<>=~]")
_GLOB = re.compile(r"(\*\*/|\*\*|\*|\?|\[!?[^\]/]+\])")
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
        key, operator, value = "path", "~", text.strip()
    else:
        key, operator, value = match.groups()
    if not key.strip(".") or (match is None and _KEYLESS.match(value)):
        raise UsageError(f"the filter {text!r} names no key; write it as in 'author=Ada', and a path as in './=a.md'")
    if not value and operator not in ("=", "!="):
        raise UsageError(f"the filter {text!r} compares {key} with nothing; write a value after the {operator}")
    if operator == "~":
        _check_glob(text, value, names=key.casefold() != "path")
    return Filter(key, cast(Operator, operator), value)


def _check_glob(text: str, glob: str, *, names: bool) -> None:
    if "[" in _GLOB.sub("", glob):
        raise UsageError(f"the filter {text!r} has a [ without its ]; write [[] for the character itself")
    try:
        glob_pattern(glob, names=names)
    except re.error as error:
        raise UsageError(f"the filter {text!r} is no glob ({error.msg}); a range is written as in [a-z]") from None


def condition(filters: Sequence[Filter], *, here: str = "") -> Condition:
    """All of them must hold. Globs may also be meant from the current directory, `here`."""
    parts = [_condition(filter_, here) for filter_ in filters]
    sql = " AND ".join(f"({part.sql})" for part in parts) or "1"
    return Condition(sql, tuple(value for part in parts for value in part.parameters))


def _condition(filter_: Filter, here: str) -> Condition:
    wanted = (filter_.operator, filter_.value)
    key = filter_.key.casefold()
    if key == "path":
        return Condition("filter_path(documents.path, roots.path, ?, ?, ?)", (*wanted, here))
    if key in _COLUMNS:
        return Condition(f"filter_text({_COLUMNS[key]}, ?, ?)", wanted)
    # json() so that SQLite says of damaged metadata what it is
    return Condition("filter_metadata(json(documents.metadata), ?, ?, ?)", (key, *wanted))


def path_matches(path: str, root: str | None, operator: Operator, value: str, here: str) -> bool:
    """Whether a path is meant: as it stands below its root, from the current directory, or in full."""
    whole = f"{root}/{path}" if root else path
    spellings = {path, whole.removeprefix(here.rstrip("/") + "/"), whole}
    value = unicodedata.normalize("NFC", value)
    if "\\" in value and "/" not in value:
        value = value.replace("\\", "/")  # as typed on Windows
    if operator == "~":
        pattern = glob_pattern(value)
        return any(pattern.fullmatch(spelling) for spelling in spellings)
    if operator in ("=", "!="):
        value = value.removeprefix("./").casefold()
        return any(spelling.casefold() == value for spelling in spellings) == (operator == "=")
    return _compare(path, value, operator)


def metadata_matches(metadata: str, key: str, operator: Operator, wanted: str) -> bool:
    """Whether any value under a key holds; for !=, whether none is equal. `key` is casefolded."""
    if metadata == "{}":  # of most documents
        return operator == "!="
    positive: Operator = "=" if operator == "!=" else operator
    found = any(value_matches(value, positive, wanted) for value in _values(json.loads(metadata), key))
    return found != (operator == "!=")


def _values(value: Any, key: str) -> Iterator[Any]:
    """The single values under a key, which may lead into what is nested: author.name."""
    if isinstance(value, list):
        for item in value:
            yield from _values(item, key)
    elif isinstance(value, dict):
        for name, item in value.items():
            name = name.casefold()
            if name == key:
                yield from item if isinstance(item, list) else [item]
            elif key.startswith(name + "."):
                yield from _values(item, key[len(name) + 1 :])


def value_matches(value: object, operator: Operator, wanted: str) -> bool:
    """Whether one value of JSON holds. Null is compared as an empty text; lists and objects never match."""
    if isinstance(value, (dict, list)):
        return False
    text = _text(value)
    if operator == "~":
        return bool(glob_pattern(wanted, names=True).fullmatch(text))
    left, right = _number(text), _number(wanted)
    if left is not None and right is not None:
        return _compare(left, right, operator)
    if operator in ("=", "!="):
        return (text.casefold() == wanted.casefold()) == (operator == "=")
    return _compare(text, wanted, operator)


def _text(value: object) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    return "" if value is None else str(value)


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
    parts = _GLOB.split(glob)
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
        body = re.sub(r"([\\\[&|~])", r"\\\1", part[1:-1])
        return "[^" + body[1:] + "]" if body.startswith("!") else "[" + body + "]"
    return re.escape(part)


FUNCTIONS: dict[str, tuple[int, Callable[..., bool]]] = {
    "filter_path": (5, path_matches),
    "filter_text": (3, value_matches),
    "filter_metadata": (4, metadata_matches),
}
