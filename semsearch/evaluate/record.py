"""Convert results to JSON: a frozen dataclass by the names of its fields, with numbers rounded as fields declare."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields
from typing import Any, cast


def digits(number: int) -> dict[str, int]:
    """Metadata of a field whose numbers are rounded to a number of digits in JSON."""
    return {"digits": number}


def called(name: str) -> dict[str, str]:
    """Metadata of a field that has another name in JSON."""
    return {"name": name}


class ExperimentRecord:
    """The base of experiments' results, which are frozen dataclasses: conversion to JSON."""

    __slots__ = ()

    def to_dict(self) -> dict[str, Any]:
        """Convert to a plain dict, as for JSON."""
        return {
            one.metadata.get("name", one.name): plain(getattr(self, one.name), one.metadata.get("digits"))
            for one in fields(cast(Any, self))  # each is a dataclass
        }


def plain(value: Any, digits: int | None = None) -> Any:
    """Convert a value to one of JSON: lists, dicts whose keys are text, numbers rounded to `digits`."""
    if isinstance(value, float):
        return value if digits is None else round(value, digits)
    if isinstance(value, Mapping):
        return {str(key): plain(each, digits) for key, each in value.items()}
    if isinstance(value, list | tuple):
        return [plain(each, digits) for each in value]
    return value.to_dict() if hasattr(value, "to_dict") else value
