"""Results as plain dicts of JSON's values, and back, by their fields and type hints.

    hit.to_dict()             {"rank": 1, "score": 0.83, "path": "guide.md", ...}
    Hit.from_dict(data)       an equal hit; UsageError for a field that is unknown, missing or of another type

Results are plain frozen data classes, so that FastAPI, pydantic and `dataclasses.replace` know them. (msgspec's structs
were tried: pydantic, which the server's OpenAPI and the tools of MCP are made by, has no schema for them.)
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import MISSING, fields, is_dataclass
from functools import cache
from typing import Any, Literal, Self, TypeVar, get_args, get_origin, get_type_hints

from semsearch.errors import UsageError

Result = TypeVar("Result")
ONLY_IF_SET = {"only if set": True}  # metadata of a field that stays out of the dict while it is None
_TYPES = {str: "a text", int: "a whole number", float: "a number", bool: "true or false"}
_INT64 = range(-(1 << 63), 1 << 63)  # the arrays and columns that whole numbers are looked up in


def digits(number: int) -> dict[str, int]:
    """Metadata of a field whose numbers are rounded to a number of digits in the dict."""
    return {"digits": number}


def called(name: str) -> dict[str, str]:
    """Metadata of a field that has another name in the dict."""
    return {"name": name}


class Record:
    """The base of all results: a frozen data class that can be converted to a plain dict and back."""

    __slots__ = ()

    def to_dict(self) -> dict[str, Any]:
        """Convert to a plain dict, as for JSON: field names to values."""
        return to_dict(self)

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Self:
        """Convert a plain dict back to the result. Raises UsageError for a field that is unknown, missing or wrong."""
        return from_dict(cls, data)


# -- To a dict ---------------------------------------------------------------------------------------------------------


def to_dict(result: Any, *, without: str | None = None) -> dict[str, Any]:
    """Convert a data class to a plain dict of its fields, in order, without one of them if it is named.

    Values that JSON cannot hold stay as they are.
    """
    plain: dict[str, Any] = {}
    for name, key, only_if_set, ndigits in _keys(result.__class__):
        value = getattr(result, name)
        if name != without and not (only_if_set and value is None):
            plain[key] = _plain(value, ndigits)
    return plain


@cache
def _keys(cls: Any) -> list[tuple[str, str, bool, int | None]]:
    """For each field of a class: name, key in the dict, whether it stays out while it is None, digits."""
    return [
        (
            field.name,
            field.metadata.get("name", field.name),
            "only if set" in field.metadata,
            field.metadata.get("digits"),
        )
        for field in fields(cls)
    ]


def _plain(value: Any, ndigits: int | None) -> Any:
    if isinstance(value, str | int | None):
        return value
    if isinstance(value, float):
        return value if ndigits is None else round(value, ndigits)
    if isinstance(value, tuple | list):
        return [_plain(item, ndigits) for item in value]
    if isinstance(value, Mapping):
        return {str(key): _plain(item, ndigits) for key, item in value.items()}
    if isinstance(value, Record):
        return value.to_dict()
    return to_dict(value) if is_dataclass(value) else value


# -- From a dict -------------------------------------------------------------------------------------------------------


def from_dict(cls: type[Result], data: Mapping[str, Any]) -> Result:
    """Make a data class from a dict of its fields; one that has a default may be missing. Raises UsageError."""
    result: Result = _from_object(cls, data, cls.__name__)
    return result


def _from_object(cls: Any, data: Any, path: str) -> Any:
    """Make a data class from a dict; errors name it by its path, such as `Hit.duplicates[0]`."""
    if not isinstance(data, Mapping):
        raise UsageError(f"{path} must be an object with the fields of a {cls.__name__}, not {data!r}")
    known = {field.metadata.get("name", field.name): field for field in fields(cls)}
    for key in data:
        if key not in known:
            raise UsageError(f"{path} has no field {key!r}; it has {', '.join(known)}")
    for key, field in known.items():
        if key not in data and field.default is MISSING and field.default_factory is MISSING:
            raise UsageError(f"{path} lacks the field {key!r}")
    hints = _hints(cls)
    return cls(**{known[key].name: _value(hints[known[key].name], data[key], f"{path}.{key}") for key in data})


@cache
def _hints(cls: Any) -> dict[str, Any]:
    return get_type_hints(cls)


def _value(hint: Any, value: Any, path: str) -> Any:
    """Convert a value of JSON to the type of its field. Raises UsageError."""
    outer, inner = get_origin(hint), get_args(hint)
    if hint is Any:
        return value
    if type(None) in inner:
        return None if value is None else _value(inner[0], value, path)
    if outer is Literal:
        if value not in inner:
            raise UsageError(f"{path} must be one of {', '.join(map(repr, inner))}, not {value!r}")
        return value
    if outer in (tuple, Sequence):
        if not isinstance(value, list | tuple):
            raise UsageError(f"{path} must be a list, not {value!r}")
        return tuple(_value(inner[0], item, f"{path}[{index}]") for index, item in enumerate(value))
    if outer is Mapping:
        if not isinstance(value, Mapping) or not all(isinstance(key, str) for key in value):
            raise UsageError(f"{path} must be an object, not {value!r}")
        return {key: _value(inner[1], item, f"{path}.{key}") for key, item in value.items()}
    if is_dataclass(hint):
        return _from_object(hint, value, path)
    if type(value) is int and hint in (int, float) and value not in _INT64:
        raise UsageError(f"{path} must be {_TYPES[hint]} of at most 64 bits")
    if hint is float and type(value) is int:
        return float(value)
    if not isinstance(value, hint) or (isinstance(value, bool) and hint is not bool):
        raise UsageError(f"{path} must be {_TYPES[hint]}, not {value!r}")
    return value
