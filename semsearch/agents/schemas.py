"""JSON schemas of the tools: of what they take, from their parameters; of what they answer, from the answer's class.

No schema has a union (anyOf, oneOf, a list of types), a reference or a null: models fill such schemas wrongly, and some
clients drop the tools that have them. What may be absent is not required.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import fields, is_dataclass
from typing import Any, get_args, get_origin, get_type_hints

from semsearch.results.codec import ONLY_IF_SET
from semsearch.serve.operations.parameters import Parameter
from semsearch.serve.schemas import Schema, Schemas

_SINGLE: dict[Any, str] = {str: "string", int: "integer", float: "number", bool: "boolean"}
_LENGTHS = ("maxLength", "maxItems")  # checked, and said when they are exceeded: not worth a model's reading


def input_schema(parameters: Sequence[Parameter]) -> Schema:
    """The schema of a tool's arguments."""
    found: Schema = {
        "type": "object",
        "properties": {each.name: _described(each) for each in parameters},
        "additionalProperties": False,
    }
    required = [each.name for each in parameters if each.is_required]
    return found | {"required": required} if required else found


def _described(parameter: Parameter) -> Schema:
    schema = Schemas().of_parameter(parameter)
    if "items" in schema:
        schema["items"] = {"type": "string"}
    if schema.get("default") in ([], False):
        del schema["default"]
    return {key: value for key, value in schema.items() if key not in _LENGTHS} | {"description": parameter.says}


def output_schema(cls: Any) -> Schema:
    """The schema of an answer's class."""
    hints = get_type_hints(cls)
    return {
        "type": "object",
        "properties": {each.name: _of(hints[each.name]) for each in fields(cls)},
        "required": [each.name for each in fields(cls) if each.metadata != ONLY_IF_SET],
        "additionalProperties": False,
    }


def _of(hint: Any) -> Schema:
    inner = [each for each in get_args(hint) if each not in (type(None), Ellipsis)]
    if get_origin(hint) is tuple:
        return {"type": "array", "items": _of(inner[0])}
    if inner:  # X | None: what may be absent
        return _of(inner[0])
    return output_schema(hint) if is_dataclass(hint) else {"type": _SINGLE[hint]}
