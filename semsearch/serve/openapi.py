"""All operations of the server, and the OpenAPI 3.1 document made of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache
from http import HTTPStatus
from typing import Any

from semsearch import __version__
from semsearch.serve.index_routes import CHECKING, LOOKING, VIEWING
from semsearch.serve.map_routes import MAPPING
from semsearch.serve.open_indexes import OpenIndexes
from semsearch.serve.operation import EVENTS_TYPE, JSON_TYPE, Operation
from semsearch.serve.problem_details import PROBLEM_TYPE, ProblemDetails
from semsearch.serve.request_parameters import Given, Parameter, Schema, Schemas
from semsearch.serve.search_routes import ASKING, EMBEDDING
from semsearch.serve.write_routes import WRITING

# -- The OpenAPI document ----------------------------------------------------------------------------------------------

_TOKEN: dict[str, list[str]] = {"token": []}
_PROBLEM: Schema = {
    "type": "object",
    "description": "A problem, as in RFC 9457.",
    "properties": {
        "type": {"type": "string"},
        "title": {"type": "string"},
        "status": {"type": "integer"},
        "detail": {"type": "string", "description": "What was found, what was expected, what to do."},
        "error": {"type": "string", "description": "The class in semsearch.errors, if any."},
    },
    "required": ["type", "title", "status", "detail"],
    "additionalProperties": False,
    "examples": [ProblemDetails(HTTPStatus.BAD_REQUEST, "k must be at least 1, not 0", "UsageError").fields()],
}


def openapi_document(operations: Sequence[Operation]) -> dict[str, Any]:
    """The document of these operations."""
    schemas = Schemas()
    paths: dict[str, dict[str, Any]] = {}
    for operation in operations:
        paths.setdefault(operation.path, {})[operation.method.lower()] = _described(operation, schemas)
    return {
        "openapi": "3.1.0",
        "info": {
            "title": "semsearch",
            "version": __version__,
            "description": "Semantic search over indexes of documents. Reading from the server's own machine needs no "
            "token; all other access does. semsearch serve --show-token prints it.",
            "license": {"name": "Apache-2.0", "identifier": "Apache-2.0"},
        },
        "paths": paths,
        "components": {
            "schemas": {**dict(sorted(schemas.by_name.items())), "Problem": _PROBLEM},
            "securitySchemes": {"token": {"type": "http", "scheme": "bearer"}},
        },
    }


def _described(operation: Operation, schemas: Schemas) -> dict[str, Any]:
    in_path = [] if operation.in_path is None else [_parameter(operation, operation.in_path, schemas, "path")]
    beside = operation.in_query_too if operation.has_body else operation.beside_path
    in_query = [_parameter(operation, each, schemas, "query") for each in beside]
    found: dict[str, Any] = {
        "operationId": operation.name,
        "summary": operation.says.partition("\n")[0].rstrip("."),
        "parameters": in_path + in_query,
        "responses": {
            "200": {
                "description": "The answer.",
                "content": _answered(operation, schemas),
            },
            "default": {
                "description": "A problem.",
                "content": _content(PROBLEM_TYPE, {"$ref": "#/components/schemas/Problem"}),
            },
        },
        "security": [_TOKEN] if operation.is_write else [{}, _TOKEN],
    }
    if operation.has_body:
        found["requestBody"] = {"required": True, "content": _content("application/json", _body(operation, schemas))}
    return found


def _answered(operation: Operation, schemas: Schemas) -> dict[str, Any]:
    if operation.media != JSON_TYPE:
        return _content(operation.media, {})
    events = _content(EVENTS_TYPE, {"type": "string"}) if operation.stream is not None else {}
    return _content("application/json", schemas.of(operation.answer)) | events


def _parameter(operation: Operation, parameter: Parameter, schemas: Schemas, where: str) -> dict[str, Any]:
    example = {"example": operation.example[parameter.name]} if parameter.name in operation.example else {}
    return {
        "name": parameter.name,
        "in": where,
        "description": parameter.says,
        "required": parameter.is_required,
        "schema": schemas.of_parameter(parameter),
        **example,
    }


def _body(operation: Operation, schemas: Schemas) -> Schema:
    beside = operation.beside_path
    example = {each.name: operation.example[each.name] for each in beside if each.name in operation.example}
    return {
        "type": "object",
        "properties": {each.name: _field(each, schemas) for each in beside},
        "required": [each.name for each in beside if each.is_required],
        "additionalProperties": False,
        **({"examples": [example]} if example else {}),
    }


def _field(parameter: Parameter, schemas: Schemas) -> Schema:
    """The schema of a field of a body. Null counts as absent."""
    schema = schemas.of_parameter(parameter)
    either = schema if parameter.is_required else {"anyOf": [schema, {"type": "null"}]}
    return either | {"description": parameter.says}


def _content(kind: str, schema: Schema) -> dict[str, Any]:
    return {kind: {"schema": schema}}


# -- All operations ----------------------------------------------------------------------------------------------------


@lru_cache(maxsize=1)
def document() -> dict[str, Any]:
    """The OpenAPI document of all operations."""
    return openapi_document(OPERATIONS)


def get_openapi(_: OpenIndexes, __: Given) -> dict[str, Any]:
    """Return the OpenAPI document of this server."""
    return document()


OPERATIONS: tuple[Operation, ...] = (
    *ASKING,
    *LOOKING,
    *CHECKING,
    *VIEWING,
    *EMBEDDING,
    *MAPPING,
    *WRITING,
    Operation("GET", "/v1/openapi.json", "get_openapi", get_openapi.__doc__ or "", get_openapi, Mapping[str, Any]),
)


def reading_posts() -> list[str]:
    """The paths that are read by POST."""
    return [operation.path for operation in OPERATIONS if operation.method == "POST" and not operation.is_write]
