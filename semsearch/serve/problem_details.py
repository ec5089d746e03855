"""Errors for clients: problem details for HTTP APIs (RFC 9457), from the tree of SemsearchError."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import field
from http import HTTPStatus

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
from semsearch.frozen import dataclass

PROBLEM_TYPE = "application/problem+json"
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
_LATER = "1"  # seconds until a retry, if another process writes


@dataclass(frozen=True, slots=True)
class ProblemDetails:
    """The reason why a request failed. `error` names the class in semsearch.errors, if there is one."""

    status: HTTPStatus
    detail: str
    error: str | None = None
    headers: Mapping[str, str] = field(default_factory=dict)

    def fields(self) -> dict[str, str | int]:
        """The members of the problem's JSON object."""
        found: dict[str, str | int] = {
            "type": "about:blank",
            "title": self.status.phrase,
            "status": int(self.status),
            "detail": self.detail,
        }
        return found if self.error is None else found | {"error": self.error}

    def to_json(self) -> bytes:
        """The body of the answer."""
        return json.dumps(self.fields()).encode()


class RequestRefused(SemsearchError):
    """A refused request; its problem has the reason."""

    def __init__(self, problem: ProblemDetails) -> None:
        super().__init__(problem.detail)
        self.problem = problem


def refused(status: HTTPStatus, detail: str, **headers: str) -> RequestRefused:
    """A refusal of a request. Header names are written with underscores."""
    return RequestRefused(
        ProblemDetails(status, detail, headers={_header(name): value for name, value in headers.items()})
    )


def problem_of(error: SemsearchError) -> ProblemDetails:
    """The problem details of an error."""
    if isinstance(error, RequestRefused):
        return error.problem
    status = next((status for kind, status in _STATUSES if isinstance(error, kind)), HTTPStatus.INTERNAL_SERVER_ERROR)
    headers = {"Retry-After": _LATER} if isinstance(error, IndexLocked) else {}
    return ProblemDetails(status, str(error), type(error).__name__, headers)


def _header(name: str) -> str:
    return "-".join(part.capitalize() for part in name.split("_"))
