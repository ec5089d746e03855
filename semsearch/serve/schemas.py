"""JSON schemas: of answers, from the type hints of their classes; of parameters, from their declaration."""

from __future__ import annotations

from collections.abc import Mapping, Sequence as AnySequence
from dataclasses import MISSING, fields, is_dataclass, replace
from types import UnionType
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints

from semsearch.results.codec import ONLY_IF_SET
from semsearch.serve.operations.parameters import JSON_TYPES, Parameter

Schema = dict[str, Any]
_SINGLE: dict[Any, str] = {str: "string", int: "integer", float: "number", bool: "boolean", type(None): "null"}
_SOMETIMES = {("Hit", "origin")}  # fields that are there only if they are asked for


class Schemas:
    """Schemas of classes, each kept once under its name."""

    def __init__(self) -> None:
        self.by_name: dict[str, Schema] = {}

    def of(self, hint: Any) -> Schema:
        """The schema of a type hint. A class becomes a reference to its own schema."""
        outer, inner = get_origin(hint), get_args(hint)
        if hint in _SINGLE:
            return {"type": _SINGLE[hint]}
        if outer in (Union, UnionType):
            return {"anyOf": [self.of(each) for each in inner]}
        if outer is Literal:
            return {"type": "string", "enum": list(inner)}
        if outer in (tuple, AnySequence):
            return {"type": "array", "items": self.of(inner[0])}
        if outer is Mapping:
            return {"type": "object"}
        return self._reference(hint) if is_dataclass(hint) else {}

    def _reference(self, cls: Any) -> Schema:
        name = cls.__name__
        if name not in self.by_name:
            self.by_name[name] = {}  # known already, should it contain itself
            self.by_name[name] = self._object(cls)
        return {"$ref": f"#/components/schemas/{name}"}

    def _object(self, cls: Any) -> Schema:
        hints = get_type_hints(cls)
        return {
            "type": "object",
            "description": _first_paragraph(cls.__doc__),
            "properties": {field.name: self.of(hints[field.name]) for field in fields(cls)},
            "required": [
                field.name
                for field in fields(cls)
                if field.metadata != ONLY_IF_SET and (cls.__name__, field.name) not in _SOMETIMES
            ],
            "additionalProperties": False,
        }

    def sent(self, cls: Any) -> Schema:
        """The schema of a class as clients send it: what has a default may be left out."""
        self._reference(cls)
        needed = [each.name for each in fields(cls) if each.default is MISSING and each.default_factory is MISSING]
        return self.by_name[cls.__name__] | {"required": needed}

    def of_parameter(self, parameter: Parameter) -> Schema:
        """The schema of a parameter's value."""
        if parameter.of is not None:
            return self.sent(parameter.of)
        if parameter.kind == "text or texts":
            texts = self.of_parameter(replace(parameter, kind="texts"))
            return {"anyOf": [{"type": "string", "maxLength": parameter.longest}, texts]}
        schema: Schema = {"type": JSON_TYPES[parameter.kind]}
        lower, upper = _BOUNDS.get(parameter.kind, ("minimum", "maximum"))
        if parameter.least is not None:
            schema[lower] = parameter.least
        if parameter.most is not None:
            schema[upper] = parameter.most
        if parameter.kind == "texts":
            schema["items"] = {"type": "string", "maxLength": parameter.longest}
        if parameter.kind == "whole numbers":
            schema["items"] = {"type": "integer", "minimum": 0}
        if parameter.choices:
            schema["enum"] = list(parameter.choices)
        if parameter.default is not None:
            schema["default"] = list(parameter.default) if parameter.kind == "texts" else parameter.default
        return schema


_BOUNDS = {
    "text": ("minLength", "maxLength"),
    "texts": ("minItems", "maxItems"),
    "whole numbers": ("minItems", "maxItems"),
}


def _first_paragraph(docstring: str | None) -> str:
    return " ".join((docstring or "").partition("\n\n")[0].split())
