"""All operations of the server."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from typing import Any

from semsearch.serve.open_indexes import OpenIndexes
from semsearch.serve.openapi import openapi_document
from semsearch.serve.operations.asking import ASKING
from semsearch.serve.operations.checking import CHECKING
from semsearch.serve.operations.embedding import EMBEDDING
from semsearch.serve.operations.looking import LOOKING
from semsearch.serve.operations.mapping import MAPPING
from semsearch.serve.operations.operation import Operation
from semsearch.serve.operations.parameters import Given
from semsearch.serve.operations.viewing import VIEWING
from semsearch.serve.operations.writing import WRITING


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
