"""Results to plain dicts and back, by their fields and type hints: one way for all of them.

A plain dict holds what JSON holds: dicts, lists, texts, numbers, true, false and null. So what `to_dict` gives may be
written as JSON, sent, read elsewhere, and made into an equal result by `from_dict`, which takes nothing on trust.
"""

from __future__ import annotations

from collections.abc import Mapping
from collections.abc import Sequence as AnySequence
from dataclasses import MISSING, fields, is_dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Literal, TypeVar, get_args, get_origin, get_type_hints

from semsearch.errors import UsageError

if TYPE_CHECKING:
    from typing_extensions import Self

Result = TypeVar("Result")
ONLY_IF_SET = {"only if set": True}  # metadata of a field that stays out of the dict while it is None
_SINGLE = (str, int, float, type(None))
_SEVERAL = (tuple, list)
_NAMES = {str: "a text", int: "a whole number", float: "a number", bool: "true or false"}


class Record:
    """A frozen dataclass that can be made into a plain dict and back. The base of all results."""

    __slots__ = ()

    def to_dict(self) -> dict[str, Any]:
        """For JSON."""
        return to_dict(self)

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Self:
        """The result that `to_dict` made a dict of. Raises UsageError for a field that is unknown, missing or wrong."""
        return from_dict(cls, data)


def to_dict(result: object) -> dict[str, Any]:
    """The fields of a dataclass in their order, by name, all of them plain. What JSON cannot hold stays what it is."""
    found: dict[str, Any] = {}
    for field in fields(result):  # type: ignore[arg-type]  # any dataclass
        value = getattr(result, field.name)
        if value is not None or field.metadata != ONLY_IF_SET:
            found[field.name] = _plain(value)
    return found


def _plain(value: Any) -> Any:
    if isinstance(value, _SINGLE):
        return value
    if isinstance(value, _SEVERAL):
        return [_plain(item) for item in value]
    if isinstance(value, Mapping):
        return {key: _plain(item) for key, item in value.items()}
    return to_dict(value) if is_dataclass(value) else value


def from_dict(cls: type[Result], data: Mapping[str, Any]) -> Result:
    """A dataclass by the names of its fields; one with a default may be missing. Raises UsageError."""
    made: Result = _made(cls, data, cls.__name__)
    return made


def _made(cls: Any, data: Any, name: str) -> Any:
    """`name`: what it is called in an error, as in `Hit.duplicates[0]`."""
    if not isinstance(data, Mapping):
        raise UsageError(f"{name} must be an object with the fields of a {cls.__name__}, not {data!r}")
    known = {field.name: field for field in fields(cls)}
    for key in data:
        if key not in known:
            raise UsageError(f"{name} has no field {key!r}; it has {', '.join(known)}")
    for key, field in known.items():
        if key not in data and field.default is MISSING and field.default_factory is MISSING:
            raise UsageError(f"{name} lacks the field {key!r}")
    hints = _hints(cls)
    return cls(**{key: _value(hints[key], value, f"{name}.{key}") for key, value in data.items()})


@lru_cache(maxsize=64)
def _hints(cls: Any) -> dict[str, Any]:
    return get_type_hints(cls)


def _value(hint: Any, value: Any, name: str) -> Any:
    """A value as its field's type says."""
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
        return tuple(_value(inner[0], item, f"{name}[{place}]") for place, item in enumerate(value))
    if outer is Mapping:
        if not isinstance(value, Mapping) or not all(isinstance(key, str) for key in value):
            raise UsageError(f"{name} must be an object, not {value!r}")
        return {key: _value(inner[1], item, f"{name}.{key}") for key, item in value.items()}
    if is_dataclass(hint):
        return _made(hint, value, name)
    if hint is float and type(value) is int:
        return float(value)
    if not isinstance(value, hint) or (isinstance(value, bool) and hint is not bool):
        raise UsageError(f"{name} must be {_NAMES[hint]}, not {value!r}")
    return value
