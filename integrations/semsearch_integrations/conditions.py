"""Conditions on metadata, as other frameworks write them, translated into filters of a search.

    {"year": 2024, "author": "Ada"}                      both must hold
    {"year": {"$gte": 2020, "$lt": 2024}}                $eq $ne $gt $gte $lt $lte $in $nin
    {"$or": [{"year": 2024}, {"author": "Ada"}]}         and $and

All filters of a search must hold, and each may have alternatives. So conditions are brought into conjunctive normal
form: negations move to the comparisons, and "or" of "and" is multiplied out. What filters cannot express is refused:
a dropped filter would return documents that the caller must not see.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any, Literal, TypeAlias

from semsearch.errors import UsageError

_PLAIN_KEY, _QUOTED_KEY = re.compile(r"[\w.\-]+"), re.compile(r'[^"|]*[^"|.\s][^"|]*')
_RANGE, _GLOB = re.compile(r"[\d.T :+-]*\.\.[\d.T :+-]*"), re.compile(r"([*?[])")
_SIGNS = {"==": "=", "!=": "!=", ">": ">", ">=": ">=", "<": "<", "<=": "<="}
_OPPOSITE = {"==": "!=", "!=": "=="}
_NAMED = {"$eq": "==", "$ne": "!=", "$gt": ">", "$gte": ">=", "$lt": "<", "$lte": "<=", "$in": "in", "$nin": "not in"}
_JOINING: Mapping[str, Literal["and", "or"]] = {"$and": "and", "$or": "or"}
_MOST = 100  # filters of one condition


@dataclass(frozen=True, slots=True)
class Compared:
    """A comparison of the values under a key: ==, !=, >, >=, <, <=, "in" and "not in"."""

    key: str
    operator: str
    value: object


@dataclass(frozen=True, slots=True)
class Joined:
    """Conditions of which all must hold ("and"), or one ("or"), or not all ("not")."""

    operator: Literal["and", "or", "not"]
    conditions: Sequence[Compared | Joined]


MetadataCondition: TypeAlias = Compared | Joined
_Clauses: TypeAlias = list[list[str]]  # all must hold, each by one alternative


def filters_of(given: Mapping[str, Any] | Iterable[str] | str | None) -> tuple[str, ...]:
    """Filters from a mapping as above, or in semsearch's form: "year>=2024", one or several."""
    if given is None:
        return ()
    if isinstance(given, str):
        return (given,)
    return tuple(filters_where(_of_mapping(given))) if isinstance(given, Mapping) else tuple(given)


def filters_where(condition: MetadataCondition) -> list[str]:
    """The filters equivalent to a condition. Raises UsageError for what they cannot express."""
    return [_alternatives(clause) for clause in _clauses(condition, is_negated=False)]


def _clauses(condition: MetadataCondition, *, is_negated: bool) -> _Clauses:
    if isinstance(condition, Compared):
        return _compared(condition, is_negated)
    is_negated ^= condition.operator == "not"
    parts = [_clauses(each, is_negated=is_negated) for each in condition.conditions]
    if (condition.operator == "or") == is_negated:  # all must hold; of nothing, too
        return [clause for part in parts for clause in part]
    many = 1
    for part in parts:
        many *= len(part)
    if not parts or many > _MOST:
        raise UsageError(f"a condition with 'or' expands to {many if parts else 'no'} filters; simplify it")
    return [[text for clause in chosen for text in clause] for chosen in product(*parts)]


def _compared(given: Compared, is_negated: bool) -> _Clauses:
    if given.operator in ("in", "not in"):
        values = _several(given)
        if is_negated == (given.operator == "in"):
            return [[_written(given.key, "!=", value)] for value in values]
        return [[_written(given.key, "=", value) for value in values]]
    if given.operator not in _SIGNS:
        raise UsageError(f"unknown comparison {given.operator!r}; known: {', '.join(_SIGNS)}, in, not in")
    if is_negated and given.operator not in _OPPOSITE:
        return [["!" + _written(given.key, _SIGNS[given.operator], given.value)]]  # holds where there is no value
    operator = _OPPOSITE[given.operator] if is_negated else given.operator
    return [[_written(given.key, _SIGNS[operator], given.value)]]


def _several(given: Compared) -> list[Any]:
    if not isinstance(given.value, list | tuple | set | frozenset) or not given.value:
        raise UsageError(f"{given.key} {given.operator} takes a non-empty list, not {given.value!r}")
    return [*given.value]


def _alternatives(clause: Sequence[str]) -> str:
    if len(clause) > 1 and any(text.startswith("!") or text.endswith("\\") for text in clause):
        raise UsageError(f"filters cannot express {' or '.join(clause)}; simplify the condition")
    return "|".join(clause)


def _written(key: str, sign: str, value: object) -> str:
    """Write a filter. Raises UsageError for a key or value that filters cannot express."""
    if not isinstance(key, str) or not (_PLAIN_KEY.fullmatch(key) or _QUOTED_KEY.fullmatch(key)):
        raise UsageError(f"{key!r} is not a valid key of a filter")
    text = _text(key, value)
    if text != text.strip() or (not text and sign not in ("=", "!=")) or _RANGE.fullmatch(text):
        raise UsageError(f"filters cannot compare {key} with {value!r}: it is empty, a range, or has blanks at an end")
    if key.casefold() == "path":
        text = _GLOB.sub(r"[\1]", text)
    shown = key if _PLAIN_KEY.fullmatch(key) else f'"{key}"'
    return f"{shown}{sign}" + text.replace("|", "\\|")


def _text(key: str, value: object) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str | int | float):
        return str(value)
    if hasattr(value, "isoformat"):
        return str(value.isoformat())
    raise UsageError(f"{key} can be compared with a text, number, date or boolean, not {value!r}")


def _of_mapping(given: Mapping[str, Any]) -> Joined:
    return Joined("and", [condition for key, value in given.items() for condition in _under(key, value)])


def _under(key: str, value: Any) -> Sequence[MetadataCondition]:
    """The conditions that a mapping has under a key."""
    if key in _JOINING:
        return [Joined(_JOINING[key], [_of_mapping(each) for each in _mappings(key, value)])]
    if isinstance(key, str) and key.startswith("$"):
        raise UsageError(f"unknown operator {key}; known: {', '.join(_JOINING)}, and {', '.join(_NAMED)} below a key")
    if not isinstance(value, Mapping):
        return [Compared(key, "==", value)]
    for name in value:
        if name not in _NAMED:
            raise UsageError(f"unknown comparison {name!r} with {key}; known: {', '.join(_NAMED)}")
    return [Compared(key, _NAMED[name], each) for name, each in value.items()]


def _mappings(key: str, value: object) -> Sequence[Mapping[str, Any]]:
    if not isinstance(value, list | tuple) or not all(isinstance(each, Mapping) for each in value):
        raise UsageError(f"{key} takes a list of conditions, not {value!r}")
    return value
