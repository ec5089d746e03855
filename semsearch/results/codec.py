"""Results as plain dicts of JSON's values, and back, by their fields and type hints.

    hit.to_dict()             {"rank": 1, "score": 0.83, "path": "guide.md", ...}
    Hit.from_dict(data)       an equal hit; UsageError for a field that is unknown, missing or of another type

Results are plain frozen data classes, so that FastAPI, pydantic and `dataclasses.replace` know them; msgspec, which
reads them back, does too.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import Field, fields, is_dataclass
from functools import cache
from typing import Any, Self, TypeVar, get_args, get_type_hints

from semsearch.errors import UsageError

Result = TypeVar("Result")
ONLY_IF_SET = {"only if set": True}  # metadata of a field that stays out of the dict while it is None
_INT64 = range(-(1 << 63), 1 << 63)  # the arrays and columns that whole numbers are looked up in


def digits(number: int) -> dict[str, int]:
    """Metadata of a field whose numbers are rounded to a number of digits in the dict."""
    return {"digits": number}


def called(name: str) -> dict[str, str]:
    """Metadata of a field that has another name in the dict; it is only written."""
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


def to_dict(result: Any, *, without: str | None = None) -> dict[str, Any]:
    """Convert a data class to a plain dict of its fields, in order, without one of them if it is named.

    Values that JSON cannot hold stay as they are.
    """
    plain: dict[str, Any] = {}
    for field, only_if_set, ndigits in _fields(result.__class__):
        value = getattr(result, field.name)
        if field.name != without and not (only_if_set and value is None):
            plain[field.metadata.get("name", field.name)] = _plain(value, ndigits)
    return plain


@cache
def _fields(cls: Any) -> list[tuple[Field[Any], bool, int | None]]:
    """The fields of a class, whether each stays out while it is None, and its digits."""
    return [(field, "only if set" in field.metadata, field.metadata.get("digits")) for field in fields(cls)]


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


def from_dict(cls: type[Result], data: Mapping[str, Any]) -> Result:
    """Make a data class, or a typed dict, from a dict; a field with a default may be missing. Raises UsageError."""
    name = cls.__name__
    if not isinstance(data, Mapping):
        raise UsageError(f"{name} must be an object with the fields of a {name}, not {data!r}")
    known = getattr(cls, "__dataclass_fields__", cls.__annotations__)  # of the classes that it is derived from, too
    for key in data:
        if key not in known:
            raise UsageError(f"{name} has no field {key!r}; it has {', '.join(known)}")
    import msgspec  # heavy, and an answer that is only printed needs none of it

    try:
        _check_sizes(data)
        result: Result = msgspec.convert(data, cls)
    except (msgspec.ValidationError, OverflowError, RecursionError, UnicodeEncodeError) as error:
        what, _, place = str(error).partition(" - at `$")
        field = place.rstrip("`").removeprefix(".")
        if field in data:
            choices = get_args(get_type_hints(cls)[field]) if what.startswith("Invalid enum") else ()
            what = f"Expected one of {', '.join(map(repr, choices))}" if choices else what
            what += f", not {data[field]!r}"
        raise UsageError(f"{name}{place.rstrip('`')}: {what}") from None
    return result


def _check_sizes(value: Any) -> None:
    """Raise OverflowError for a whole number that an index cannot have, but in metadata."""
    if isinstance(value, int) and value not in _INT64:
        raise OverflowError("a whole number has more than 64 bits")
    items = {**value, "metadata": None}.values() if isinstance(value, Mapping) else value
    for item in items if isinstance(value, Mapping | list | tuple) else ():
        _check_sizes(item)
