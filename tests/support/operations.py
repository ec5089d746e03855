"""The operations of the server, as its OpenAPI document describes them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any

import jsonschema

from semsearch.server.application import Application
from semsearch.server.open_indexes import OpenIndexes
from semsearch.server.running import ServerSettings, make_engine

JSON = "application/json"


@dataclass(frozen=True)
class Operation:
    """An operation: its parameters, of query string or body, and the content of its answer, by name or type."""

    name: str
    method: str
    path: str
    parameters: Mapping[str, Mapping[str, Any]]
    required: frozenset[str]
    answer: Mapping[str, Any]
    has_body: bool
    is_write: bool

    @property
    def in_path(self) -> bool:
        """Whether the address has the id of a document."""
        return "{id}" in self.path


@cache
def document() -> dict[str, Any]:
    """The OpenAPI document."""
    return Application(make_engine(OpenIndexes(places={}), ServerSettings())).openapi()


@cache
def operations() -> tuple[Operation, ...]:
    """All operations."""
    return tuple(
        _operation(path, method, described)
        for path, methods in document()["paths"].items()
        for method, described in methods.items()
    )


def _operation(path: str, method: str, described: dict[str, Any]) -> Operation:
    listed = [one for one in described.get("parameters", ()) if one["in"] == "query"]
    parameters = {one["name"]: one["schema"] for one in listed}
    required = {one["name"] for one in listed if one["required"]}
    if body := described.get("requestBody"):
        reference = body["content"][JSON]["schema"]["$ref"]
        schema = document()["components"]["schemas"][reference.rpartition("/")[2]]
        parameters, required = schema["properties"], set(schema.get("required", ()))
    return Operation(
        described["operationId"],
        method.upper(),
        path,
        parameters,
        frozenset(required),
        described["responses"]["200"]["content"],
        has_body=body is not None,
        is_write="security" in described,
    )


def validate(value: Any, schema: Mapping[str, Any]) -> None:
    """Hold a value against a schema of the document."""
    jsonschema.Draft202012Validator({**schema, "components": document()["components"]}).validate(value)
