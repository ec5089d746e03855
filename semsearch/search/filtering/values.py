"""Values of metadata that match a filter: numbers, dates and texts."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from datetime import datetime
from functools import lru_cache
from typing import Any

from semsearch.search.filtering.operators import Operator, compare, is_negative, positive
from semsearch.search.filtering.paths import glob_pattern

_DATE = re.compile(r"\d{4}-\d\d(-\d\d([T ]\d\d:\d\d.*)?)?", re.DOTALL)
_LESS_PRECISE = re.compile(r"\d{4}(-\d\d(-\d\d)?)?")


def metadata_matches(metadata: str, key: str, operator: Operator, wanted: str) -> bool:
    """Return whether any value under a key matches; for !=, !~ and !.., whether none does. `key` is casefolded."""
    if metadata == "{}":  # of most documents
        return is_negative(operator)
    found = any(value_matches(value, positive(operator), wanted) for value in values_under(json.loads(metadata), key))
    return found != is_negative(operator)


def modified_matches(metadata: str, mtime_ns: int | None, operator: Operator, wanted: str) -> bool:
    """Return whether the time of a document's last change matches: as it says itself, or the time of its file."""
    if mtime_ns is None or says_modified(metadata):
        return metadata_matches(metadata, "modified", operator, wanted)
    return value_matches(file_time(mtime_ns), operator, wanted)


def says_modified(metadata: str) -> bool:
    """Return whether a document's metadata has a key `modified`."""
    return "odified" in metadata and any(key.casefold() == "modified" for key in json.loads(metadata))


def file_time(mtime_ns: int) -> str:
    """The time of a file as filters compare it: local date and time, to the second. Empty for one that no clock has."""
    try:
        return datetime.fromtimestamp(mtime_ns // 1_000_000_000).isoformat()  # local, as dates are written
    except (OverflowError, OSError, ValueError):
        return ""


def values_under(value: Any, key: str) -> Iterator[Any]:
    """Yield the single values under a key, which may lead into nested objects: author.name."""
    if isinstance(value, list):
        for item in value:
            yield from values_under(item, key)
    elif isinstance(value, dict):
        for name, item in value.items():
            name = name.casefold()
            if name == key:
                yield from item if isinstance(item, list) else [item]
            elif key.startswith(name + "."):
                yield from values_under(item, key[len(name) + 1 :])


def nested_values(key: str, item: Any) -> Iterator[tuple[str, Any]]:
    """The single values in the item of a key, with their keys, casefolded: author.name is the name inside author."""
    for each in item if isinstance(item, list) else [item]:
        if isinstance(each, dict):
            for name, inside in each.items():
                yield from nested_values(f"{key}.{name.casefold()}", inside)
        elif not isinstance(each, list):
            yield key, each


def value_matches(value: object, operator: Operator, wanted: str) -> bool:
    """Return whether one value of JSON matches. Null is compared as an empty text; lists and objects never match."""
    if isinstance(value, (dict, list)):
        return False
    if is_negative(operator):
        return not value_matches(value, positive(operator), wanted)
    text = text_of(value)
    if operator == "~":
        return bool(glob_pattern(wanted, names=True).fullmatch(text))
    if operator == "..":
        return _within(text, *wanted.split(".."))
    right, casefolded, is_date = _taken_apart(wanted)
    if is_date and _DATE.fullmatch(text):
        text = text[: len(wanted)]
    left = None if right is None else number_of(text)
    if left is not None and right is not None:
        return compare(left, right, operator)
    if operator == "=":
        return text.casefold() == casefolded
    return compare(text, wanted, operator)


@lru_cache(maxsize=256)
def _taken_apart(wanted: str) -> tuple[float | None, str, bool]:
    """A value that is wanted as a number, casefolded, and whether it is a year, a month or a day."""
    return number_of(wanted), wanted.casefold(), _LESS_PRECISE.fullmatch(wanted) is not None


def _within(text: str, first: str, last: str) -> bool:
    """Return whether a value lies between two others, either of which may be missing."""
    return (not first or value_matches(text, ">=", first)) and (not last or value_matches(text, "<=", last))


def text_of(value: object) -> str:
    """A single value of metadata as filters compare it."""
    if isinstance(value, bool):
        return "true" if value else "false"
    return "" if value is None else str(value)


def number_of(text: str) -> float | None:
    """The number that a text is; None if it is none."""
    try:
        number = float(text)
    except ValueError:
        return None
    return number if number == number else None
