"""Results as JSON has them: a frozen dataclass by the names of its fields, numbers rounded where a field says so."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields
from typing import Any, cast


def digits(number: int) -> dict[str, int]:
    """Metadata of a field whose numbers JSON has with so many digits behind the point."""
    return {"digits": number}


def called(name: str) -> dict[str, str]:
    """Metadata of a field that JSON calls otherwise."""
    return {"name": name}


class Record:
    """What frozen dataclasses of results share."""

    __slots__ = ()

    def to_dict(self) -> dict[str, Any]:
        """For JSON."""
        return {
            one.metadata.get("name", one.name): plain(getattr(self, one.name), one.metadata.get("digits"))
            for one in fields(cast(Any, self))  # each is a dataclass
        }


def plain(value: Any, digits: int | None = None) -> Any:
    """A value in the terms of JSON: lists, dicts whose keys are text, numbers rounded to so many digits."""
    if isinstance(value, float):
        return value if digits is None else round(value, digits)
    if isinstance(value, Mapping):
        return {str(key): plain(each, digits) for key, each in value.items()}
    if isinstance(value, list | tuple):
        return [plain(each, digits) for each in value]
    return value.to_dict() if hasattr(value, "to_dict") else value
