"""Errors for clients: problem details for HTTP APIs (RFC 9457), from the tree of SemsearchError."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from http import HTTPStatus
from typing import Any

from semsearch.errors import (
    IndexExists,
    IndexLocked,
    IndexNotFound,
    IndexNotTrusted,
    MissingExtra,
    SemsearchError,
    SourceChanged,
    SourceError,
    StorageError,
    UsageError,
)

PROBLEM_TYPE = "application/problem+json"
PROBLEM_SCHEMA: dict[str, Any] = {
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
}
_STATUSES: tuple[tuple[type[SemsearchError], HTTPStatus], ...] = (
    (UsageError, HTTPStatus.BAD_REQUEST),
    (SourceChanged, HTTPStatus.CONFLICT),
    (SourceError, HTTPStatus.NOT_FOUND),
    (IndexNotFound, HTTPStatus.NOT_FOUND),
    (IndexExists, HTTPStatus.CONFLICT),
    (IndexLocked, HTTPStatus.CONFLICT),
    (IndexNotTrusted, HTTPStatus.FORBIDDEN),
    (StorageError, HTTPStatus.INSUFFICIENT_STORAGE),
    (MissingExtra, HTTPStatus.NOT_IMPLEMENTED),
)


@dataclass(frozen=True, slots=True)
class ProblemDetails:
    """The reason why a request failed. `error` names the class in semsearch.errors, if there is one."""

    status: HTTPStatus
    detail: str
    error: str | None = None
    headers: Mapping[str, str] = field(default_factory=dict)

    def to_dict(self) -> dict[str, str | int]:
        """The members of the problem's JSON object."""
        members: dict[str, str | int] = {
            "type": "about:blank",
            "title": self.status.phrase,
            "status": int(self.status),
            "detail": self.detail,
        }
        return members if self.error is None else members | {"error": self.error}

    def to_json(self) -> bytes:
        """The body of the answer."""
        return json.dumps(self.to_dict()).encode()


def problem_of(error: SemsearchError) -> ProblemDetails:
    """The problem details of an error."""
    status = next((status for kind, status in _STATUSES if isinstance(error, kind)), HTTPStatus.INTERNAL_SERVER_ERROR)
    headers = {"Retry-After": "1"} if isinstance(error, IndexLocked) else {}  # another process writes
    return ProblemDetails(status, str(error), type(error).__name__, headers)


def parameter_problem(error: Mapping[str, Any]) -> str:
    """The problem with a parameter, from an error of pydantic."""
    name = ".".join(map(str, error["loc"]))
    if error["type"] == "unknown_parameter":
        return str(error["msg"])
    if error["type"] == "extra_forbidden":
        return f"there is no parameter {name}"
    if error["type"] == "missing":
        return f"{name} is missing"
    if error["type"] == "json_invalid":
        return f"the body is not valid JSON: {error['ctx']['error']}"
    shown = repr(error.get("input"))
    wanted = error["msg"].replace("valid tuple", "valid list").partition(", unable to ")[0]
    return f"{name}: {wanted}, not {shown if len(shown) <= 80 else f'{shown[:80]}…'}"
