"""Conditions on metadata, as other frameworks write them, translated into filters of a search.

    {"year": 2024, "author": "Ada"}                      both must hold
    {"year": {"$gte": 2020, "$lt": 2024}}                $eq $ne $gt $gte $lt $lte $in $nin
    {"$or": [{"year": 2024}, {"author": "Ada"}]}         and $and, and {"$not": {"year": 2024}}

All filters of a search must hold, and each may have alternatives. So conditions are brought into conjunctive normal
form: negations move to the comparisons, and "or" of "and" is multiplied out. What filters cannot express is refused:
a dropped filter would return documents that the caller must not see.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping, Sequence
from itertools import chain, product
from typing import Any, TypeAlias

from semsearch.errors import UsageError

Condition: TypeAlias = Mapping[str, Any]
_Clauses: TypeAlias = list[list[str]]  # all must hold, each by one alternative

_SIGNS = {"$eq": "=", "$ne": "!=", "$gt": ">", "$gte": ">=", "$lt": "<", "$lte": "<="}
_OPPOSITE = {"$eq": "$ne", "$ne": "$eq", "$in": "$nin", "$nin": "$in"}
_NAMES = {"==": "$eq", "!=": "$ne", ">": "$gt", ">=": "$gte", "<": "$lt", "<=": "$lte", "in": "$in", "not in": "$nin"}
_PLAIN_KEY, _QUOTED_KEY = re.compile(r"[\w.\-]+"), re.compile(r'[^"|]*[^"|.\s][^"|]*')
_RANGE, _GLOB = re.compile(r"[\d.T :+-]*\.\.[\d.T :+-]*"), re.compile(r"([*?[])")
_MOST = 100  # filters of one condition


def filters_of(condition: Condition | Iterable[str] | str | None) -> tuple[str, ...]:
    """Filters from a mapping as above, or in semsearch's form: "year>=2024", one or several.

    Raises UsageError for what they cannot express.
    """
    if condition is None:
        return ()
    if isinstance(condition, str):
        return (condition,)
    if not isinstance(condition, Mapping):
        return tuple(condition)
    return tuple(_alternatives(clause) for clause in _clauses(condition, is_negated=False))


def compared(key: str, operator: str, value: object) -> Condition:
    """The condition of a comparison: ==, !=, >, >=, <, <=, "in" or "not in". Raises UsageError for another."""
    if operator not in _NAMES:
        raise UsageError(f"unknown comparison {operator!r}; known: {', '.join(_NAMES)}")
    return {key: {_NAMES[operator]: value}}


def _clauses(condition: Condition, *, is_negated: bool) -> _Clauses:
    """The filters of a mapping, or of its opposite."""
    parts = [_entry(key, value, is_negated=is_negated) for key, value in condition.items()]
    return _any_of(parts) if is_negated else list(chain(*parts))


def _entry(key: str, value: Any, *, is_negated: bool) -> _Clauses:
    if key in ("$and", "$or"):
        if not isinstance(value, list | tuple) or not all(isinstance(each, Mapping) for each in value):
            raise UsageError(f"{key} takes a list of conditions, not {value!r}")
        parts = [_clauses(each, is_negated=is_negated) for each in value]
        return _any_of(parts) if (key == "$or") != is_negated else list(chain(*parts))
    if key == "$not" and isinstance(value, Mapping):
        return _clauses(value, is_negated=not is_negated)
    if isinstance(key, str) and key.startswith("$"):
        raise UsageError(
            f"unknown operator {key}; known: $and, $or, $not, and {', '.join(_NAMES.values())} below a key"
        )
    comparisons = value if isinstance(value, Mapping) else {"$eq": value}
    parts = [_compared(key, name, operand, is_negated=is_negated) for name, operand in comparisons.items()]
    return _any_of(parts) if is_negated else list(chain(*parts))


def _any_of(parts: Sequence[_Clauses]) -> _Clauses:
    count = math.prod(map(len, parts)) if parts else 0
    if not parts or count > _MOST:
        raise UsageError(f"a condition with 'or' expands to {count or 'no'} filters; simplify it")
    return [[text for clause in clauses for text in clause] for clauses in product(*parts)]


def _compared(key: str, name: str, value: Any, *, is_negated: bool) -> _Clauses:
    if name not in _NAMES.values():
        raise UsageError(f"unknown comparison {name!r} with {key}; known: {', '.join(_NAMES.values())}")
    if is_negated and name in _OPPOSITE:
        name, is_negated = _OPPOSITE[name], False
    if name in _SIGNS:  # one of > >= < <= that is negated holds where there is no value, too
        return [[("!" if is_negated else "") + _filter(key, _SIGNS[name], value)]]
    if not isinstance(value, list | tuple | set | frozenset) or not value:
        raise UsageError(f"{key} {name} takes a non-empty list, not {value!r}")
    if name == "$in":
        return [[_filter(key, "=", each) for each in value]]
    return [[_filter(key, "!=", each)] for each in value]


def _alternatives(clause: Sequence[str]) -> str:
    if len(clause) > 1 and any(text.startswith("!") or text.endswith("\\") for text in clause):
        raise UsageError(f"filters cannot express {' or '.join(clause)}; simplify the condition")
    return "|".join(clause)


def _filter(key: str, sign: str, value: object) -> str:
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
