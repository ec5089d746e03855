"""Convert results to plain dicts and back, by their fields and type hints.

A plain dict holds only values of JSON: dicts, lists, strings, numbers, true, false and null. So the dict that `to_dict`
makes may be written as JSON, sent, read elsewhere, and made into an equal result by `from_dict`, which checks it all;
measurements, whose fields say to how many `digits` they are rounded, become equal up to that.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence as AnySequence
from dataclasses import MISSING, fields, is_dataclass
from functools import cache, lru_cache
from typing import Any, Literal, Self, TypeVar, get_args, get_origin, get_type_hints

from semsearch.errors import UsageError

Result = TypeVar("Result")
ONLY_IF_SET = {"only if set": True}  # metadata of a field that stays out of the dict while it is None
_NAME, _DIGITS = "name", "digits"  # keys of metadata
_SINGLE = (str, int, float, type(None))
_AS_THEY_ARE = (str, int, bool)  # exactly
_SEQUENCES = (tuple, list)
_TOO_LARGE = 1 << 63  # for the columns and arrays that whole numbers are looked up in
_NAMES = {str: "a text", int: "a whole number", float: "a number", bool: "true or false"}


def digits(number: int) -> dict[str, int]:
    """Metadata of a field whose numbers are rounded to a number of digits in the dict."""
    return {_DIGITS: number}


def called(name: str) -> dict[str, str]:
    """Metadata of a field that has another name in the dict."""
    return {_NAME: name}


class Record:
    """The base of all results: a frozen dataclass that can be converted to a plain dict and back."""

    __slots__ = ()

    def to_dict(self) -> dict[str, Any]:
        """Convert to a plain dict, as for JSON: field names to values."""
        return to_dict(self)

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Self:
        """Convert a plain dict back to the result. Raises UsageError for a field that is unknown, missing or wrong."""
        return from_dict(cls, data)


def to_dict(result: Any, *, without: str | None = None) -> dict[str, Any]:
    """Convert a dataclass to a plain dict of its fields, in order, without one of them if it is named.

    Values that JSON cannot hold stay as they are.
    """
    found: dict[str, Any] = {}
    for name, key, only_if_set, number in _keys(result.__class__):
        if name != without:
            value = getattr(result, name)
            if value.__class__ in _AS_THEY_ARE:  # most: a server answers with hundreds of them
                found[key] = value
            elif value is not None or not only_if_set:
                found[key] = _plain(value, number)
    return found


@cache
def _keys(cls: Any) -> tuple[tuple[str, str, bool, int | None], ...]:
    """For each field of a class: name, key in the dict, whether it stays out while it is None, digits."""
    return tuple(
        (one.name, one.metadata.get(_NAME, one.name), one.metadata == ONLY_IF_SET, one.metadata.get(_DIGITS))
        for one in fields(cls)
    )


def _plain(value: Any, number: int | None = None) -> Any:
    """Convert a value to one of JSON; numbers are rounded to so many digits, if any. What has a `to_dict` uses it."""
    if isinstance(value, _SINGLE):
        return value if number is None or not isinstance(value, float) else round(value, number)
    if isinstance(value, _SEQUENCES):
        return [_plain(item, number) for item in value]
    if isinstance(value, Mapping):
        return {str(key): _plain(item, number) for key, item in value.items()}
    if hasattr(value, "to_dict"):
        return value.to_dict()
    return to_dict(value) if is_dataclass(value) else value


def from_dict(cls: type[Result], data: Mapping[str, Any]) -> Result:
    """Make a dataclass from a dict of its fields; one that has a default may be missing. Raises UsageError."""
    made: Result = _made(cls, data, cls.__name__)
    return made


def _made(cls: Any, data: Any, name: str) -> Any:
    """Make a dataclass from a dict; errors call it by `name`, such as `Hit.duplicates[0]`."""
    if not isinstance(data, Mapping):
        raise UsageError(f"{name} must be an object with the fields of a {cls.__name__}, not {data!r}")
    known = {field.metadata.get(_NAME, field.name): field for field in fields(cls)}
    for key in data:
        if key not in known:
            raise UsageError(f"{name} has no field {key!r}; it has {', '.join(known)}")
    for key, field in known.items():
        if key not in data and field.default is MISSING and field.default_factory is MISSING:
            raise UsageError(f"{name} lacks the field {key!r}")
    hints = _hints(cls)
    names = {key: field.name for key, field in known.items()}
    return cls(**{names[key]: _value(hints[names[key]], value, f"{name}.{key}") for key, value in data.items()})


@lru_cache(maxsize=64)
def _hints(cls: Any) -> dict[str, Any]:
    return get_type_hints(cls)


def _value(hint: Any, value: Any, name: str) -> Any:
    """Convert a value to the type of its field. Raises UsageError, which calls it by `name`."""
    outer, inner = get_origin(hint), get_args(hint)
    if hint is Any:
        return value
    if type(None) in inner:
        (hint,) = (each for each in inner if each is not type(None))
        return None if value is None else _value(hint, value, name)
    if outer is Literal:
        if value not in inner:
            raise UsageError(f"{name} must be one of {', '.join(map(repr, inner))}, not {value!r}")
        return value
    if outer in (tuple, AnySequence):
        if not isinstance(value, list | tuple):
            raise UsageError(f"{name} must be a list, not {value!r}")
        return tuple(_value(inner[0], item, f"{name}[{index}]") for index, item in enumerate(value))
    if outer is Mapping:
        if not isinstance(value, Mapping) or not all(isinstance(key, str) for key in value):
            raise UsageError(f"{name} must be an object, not {value!r}")
        return {key: _value(inner[1], item, f"{name}.{key}") for key, item in value.items()}
    if is_dataclass(hint):
        return _made(hint, value, name)
    if hint is float and type(value) is int:
        return _float(value, name)
    if not isinstance(value, hint) or (isinstance(value, bool) and hint is not bool):
        raise UsageError(f"{name} must be {_NAMES[hint]}, not {value!r}")
    if type(value) is int and not -_TOO_LARGE <= value < _TOO_LARGE:
        raise UsageError(f"{name} must be a whole number of at most 64 bits")
    return value


def _float(value: int, name: str) -> float:
    try:
        return float(value)
    except OverflowError:
        raise UsageError(f"{name} must be a number below 1e308") from None
