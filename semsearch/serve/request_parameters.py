"""The parameters of operations, each declared once for checks and descriptions; JSON schemas of both directions."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence, Sequence as AnySequence
from dataclasses import MISSING, fields, is_dataclass, replace
from types import UnionType
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints

from semsearch.errors import UsageError
from semsearch.frozen import dataclass
from semsearch.results.codec import ONLY_IF_SET

# -- Parameters --------------------------------------------------------------------------------------------------------

Kind = Literal["text", "whole number", "number", "true or false", "texts", "text or texts", "object", "whole numbers"]
JSON_TYPES: dict[Kind, str] = {  # of "text or texts": either
    "text": "string",
    "whole number": "integer",
    "number": "number",
    "true or false": "boolean",
    "texts": "array",
    "object": "object",
    "whole numbers": "array",
}
_SHOWN: dict[Kind, str] = {
    "text": "a text",
    "whole number": "a whole number",
    "number": "a number",
    "true or false": "true or false",
    "texts": "a list of texts",
    "text or texts": "a text or a list of texts",
    "object": "an object",
    "whole numbers": "a list of whole numbers",
}
_LARGEST = 1 << 53  # beyond it, JSON's numbers are not exact everywhere
_TRUTHS = {"true": True, "1": True, "false": False, "0": False}


@dataclass(frozen=True, slots=True)
class Parameter:
    """A parameter of an operation. `least` and `most` bound a number, or the length of a text or of a list."""

    name: str
    kind: Kind
    says: str  # for the OpenAPI document
    is_required: bool = False
    default: Any = None  # None: absent
    least: int | None = None
    most: int | None = None
    choices: tuple[str, ...] = ()
    longest: int = 1000  # characters of each text of a list
    of: type | None = None  # the class with the fields of an object

    def checked(self, value: Any) -> Any:
        """The value, checked and converted. Raises UsageError."""
        match self.kind:
            case "whole number":
                return self._within(self._whole(value), "")
            case "number":
                return self._number(value)
            case "text":
                return self._text(value)
            case "texts":
                return self._texts(value)
            case "whole numbers":
                return self._whole_numbers(value)
            case "text or texts":
                return self._texts([value] if isinstance(value, str) else value)
            case "true or false" if isinstance(value, bool):
                return value
            case "object" if isinstance(value, Mapping):
                return value
        raise self._wrong(value)

    def _whole(self, value: Any) -> int:
        if isinstance(value, float) and value.is_integer():  # 36.0 is a whole number in JSON
            value = int(value)
        if isinstance(value, bool) or not isinstance(value, int) or abs(value) > _LARGEST:
            raise self._wrong(value)
        return int(value)

    def _whole_numbers(self, value: Any) -> tuple[int, ...]:
        """A list of numbers from 0 on."""
        if not isinstance(value, list):
            raise self._wrong(value)
        self._within(len(value), " items")
        found = tuple(self._whole(item) for item in value)
        if any(item < 0 for item in found):
            raise UsageError(f"the numbers of {self.name} must be at least 0")
        return found

    def _number(self, value: Any) -> float:
        if isinstance(value, bool) or not isinstance(value, int | float) or not abs(value) <= _LARGEST:
            raise self._wrong(value)  # of NaN too, which is not above anything
        return float(value)

    def _text(self, value: Any) -> str:
        if not isinstance(value, str):
            raise self._wrong(value)
        if self.choices and value not in self.choices:
            raise UsageError(f"{self.name} must be one of {', '.join(self.choices)}, not {_short(value)}")
        self._within(len(value), " characters")
        return value

    def _texts(self, value: Any) -> tuple[str, ...]:
        if not isinstance(value, list) or not all(isinstance(item, str) for item in value):
            raise self._wrong(value)
        self._within(len(value), " items")
        for item in value:
            if len(item) > self.longest:
                raise UsageError(f"a text of {self.name} has {len(item)} characters; the maximum is {self.longest}")
        return tuple(value)

    def _within(self, number: int, of: str) -> int:
        if self.least is not None and number < self.least:
            raise UsageError(f"{self.name} must be at least {self.least}{of}, not {number}")
        if self.most is not None and number > self.most:
            raise UsageError(f"{self.name} must be at most {self.most}{of}, not {number}")
        return number

    def _wrong(self, value: Any) -> UsageError:
        return UsageError(f"{self.name} must be {_SHOWN[self.kind]}, not {_short(value)}")

    def from_texts(self, given: Sequence[str]) -> Any:
        """The value that a query string gives. Raises UsageError."""
        if self.kind in ("texts", "text or texts"):
            return self.checked(list(given))
        if self.kind == "whole numbers":
            return self.checked([int(text) if text.isdecimal() and len(text) < 20 else text for text in given])
        if len(given) > 1:
            raise UsageError(f"{self.name} is given {len(given)} times; give it once")
        return self.checked(self._parsed(given[0]))

    def _parsed(self, text: str) -> Any:
        match self.kind:
            case "true or false":
                return _TRUTHS.get(text.lower(), text)
            case "whole number" | "number":
                try:
                    return int(text) if self.kind == "whole number" else _finite(text)
                except ValueError:
                    return text
        return text


@dataclass(frozen=True, slots=True)
class Given:
    """The values of an operation's parameters, with defaults for those that are absent."""

    values: Mapping[str, Any]

    def __getitem__(self, name: str) -> Any:
        return self.values[name]

    def without(self, name: str) -> tuple[tuple[str, Any], ...]:
        """All values but one, as a key of a dict."""
        return tuple((key, value) for key, value in self.values.items() if key != name)

    def only(self, names: Iterable[str]) -> dict[str, Any]:
        """The values of some parameters, as keywords."""
        return {name: self.values[name] for name in names}


def from_query(parameters: Sequence[Parameter], pairs: Iterable[tuple[str, str]]) -> Given:
    """Check the names and values of a query string. Raises UsageError."""
    texts: dict[str, list[str]] = {}
    for name, value in pairs:
        texts.setdefault(name, []).append(value)
    known = _known(parameters, texts)
    return _complete(parameters, {name: known[name].from_texts(given) for name, given in texts.items()})


def from_json(parameters: Sequence[Parameter], body: Any) -> Given:
    """Check the fields of a JSON object. A field that is null counts as absent. Raises UsageError."""
    if not isinstance(body, Mapping):
        raise UsageError(f"the body must be a JSON object, not {_short(body)}")
    fields = {name: value for name, value in body.items() if value is not None}
    known = _known(parameters, body)
    return _complete(parameters, {name: known[name].checked(value) for name, value in fields.items()})


def _known(parameters: Sequence[Parameter], names: Iterable[str]) -> dict[str, Parameter]:
    known = {parameter.name: parameter for parameter in parameters}
    for name in names:
        if name not in known:
            raise UsageError(f"unknown parameter {_short(name)}; known parameters: {', '.join(known) or 'none'}")
    return known


def _complete(parameters: Sequence[Parameter], values: Mapping[str, Any]) -> Given:
    for parameter in parameters:
        if parameter.is_required and parameter.name not in values:
            raise UsageError(f"the parameter {parameter.name} is missing: {parameter.says}")
    return Given({parameter.name: parameter.default for parameter in parameters} | dict(values))


def _finite(text: str) -> float:
    number = float(text)
    if number != number or number in (float("inf"), float("-inf")):
        raise ValueError(text)
    return number


def _short(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 80 else f"{text[:80]}…"


# -- JSON schemas ------------------------------------------------------------------------------------------------------

Schema = dict[str, Any]
_SINGLE: dict[Any, str] = {str: "string", int: "integer", float: "number", bool: "boolean", type(None): "null"}
_SOMETIMES = {("Hit", "origin")}  # fields that are present only on request


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
            self.by_name[name] = {}  # a class may contain itself
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
        """The schema of a class in requests: fields with defaults are optional."""
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
