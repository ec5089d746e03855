"""The operators of filters. Those with an exclamation mark hold where their opposite does not."""

from __future__ import annotations

from typing import Literal

Operator = Literal["=", "!=", "<", "<=", ">", ">=", "~", "!~", "..", "!.."]
_OPPOSITES: dict[Operator, Operator] = {"!=": "=", "!~": "~", "!..": ".."}


def is_negative(operator: Operator) -> bool:
    """Return whether an operator excludes what its opposite selects."""
    return operator in _OPPOSITES


def positive(operator: Operator) -> Operator:
    """The opposite of a negative operator; any other as it is."""
    return _OPPOSITES.get(operator, operator)


def compare(left: float | str, right: float | str, operator: Operator) -> bool:
    """Compare two numbers, or two texts."""
    if left == right:
        return operator in ("=", "<=", ">=")
    if operator in ("<", "<="):
        return left < right  # type: ignore[operator]  # mypy sees the mixed cases too
    return operator in (">", ">=") and left > right  # type: ignore[operator]
