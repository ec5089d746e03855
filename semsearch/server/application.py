"""The application: the routes of all operations and of the web interface, problem details, and access control."""

from __future__ import annotations

import mimetypes
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, closing, nullcontext
from http import HTTPStatus
from pathlib import Path
from typing import Any

from fastapi import FastAPI, Request, Response
from fastapi.exceptions import RequestValidationError
from fastapi.routing import APIRoute
from fastapi.staticfiles import StaticFiles
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from semsearch import __version__
from semsearch.errors import SemsearchError
from semsearch.server import index_routes, search_routes, write_routes
from semsearch.server.access import AccessRules, RequestFacts, is_of_page, with_security
from semsearch.server.operations import JSON_TYPE, Engine
from semsearch.server.problems import PROBLEM_SCHEMA, PROBLEM_TYPE, ProblemDetails, parameter_problem, problem_of

_FILES = StaticFiles(directory=Path(__file__).with_name("page"))  # of the web interface
_DESCRIPTION = """Semantic search over indexes of documents. Reading from the server's own machine needs no token; all \
other access does. semsearch serve --show-token prints it."""
_READING = (search_routes.router, index_routes.router)
MAX_BODY = 4_000_000  # bytes

# -- The application ---------------------------------------------------------------------------------------------------


mimetypes.add_type("text/javascript", ".js")  # which the registry of Windows may call plain text


class Application(FastAPI):
    """The operations of the engine's indexes, and the web interface. It must be `Guarded`.

    `mcp` is an application for agents, whose routes and life it takes in.
    """

    def __init__(self, engine: Engine, mcp: Starlette | None = None) -> None:
        @asynccontextmanager
        async def lifespan(_: FastAPI) -> AsyncIterator[None]:
            with closing(engine):
                async with nullcontext() if mcp is None else mcp.router.lifespan_context(mcp):
                    yield

        super().__init__(
            title="semsearch",
            version=__version__,
            description=_DESCRIPTION,
            license_info={"name": "Apache-2.0", "identifier": "Apache-2.0"},
            openapi_url="/v1/openapi.json",
            docs_url=None,  # its scripts come from elsewhere
            redoc_url=None,
            redirect_slashes=False,
            lifespan=lifespan,
            max_body_size=MAX_BODY,
            generate_unique_id_function=lambda route: route.name,
            responses={"default": {"description": "A problem.", "content": {PROBLEM_TYPE: {"schema": _PROBLEM}}}},
            exception_handlers={
                SemsearchError: _of_error,
                RequestValidationError: _of_parameters,
                HTTPException: _of_http,
                Exception: _of_bug,
            },
        )
        self.state.engine = engine
        for router in (*_READING, write_routes.router):
            self.include_router(router)
        self.router.routes.extend([] if mcp is None else mcp.routes)
        self.add_api_route("/", _first_page, include_in_schema=False, methods=["GET", "HEAD"])
        self.mount("/page", _FILES)

    def openapi(self) -> dict[str, Any]:
        """The OpenAPI document of all operations."""
        document = super().openapi()
        document["components"]["schemas"]["Problem"] = PROBLEM_SCHEMA
        return document


_PROBLEM = {"$ref": "#/components/schemas/Problem"}


def reading_posts() -> set[str]:
    """The paths that are read by POST, and need no token."""
    routes = [route for router in _READING for route in router.routes if isinstance(route, APIRoute)]
    return {route.path_format for route in routes if "POST" in (route.methods or ())}


async def _first_page(request: Request) -> Response:
    return await _FILES.get_response("index.html", request.scope)


# -- Problems ----------------------------------------------------------------------------------------------------------


def _problem_response(problem: ProblemDetails) -> Response:
    return Response(problem.to_json(), int(problem.status), dict(problem.headers), PROBLEM_TYPE)


async def _of_error(_: Request, error: Exception) -> Response:
    assert isinstance(error, SemsearchError)
    return _problem_response(problem_of(error))


async def _of_parameters(_: Request, error: Exception) -> Response:
    assert isinstance(error, RequestValidationError)
    wrong = [{**problem, "loc": problem["loc"][1:] or ("the body",)} for problem in error.errors()[:5]]
    detail = "; ".join(dict.fromkeys(map(parameter_problem, wrong)))
    return _problem_response(ProblemDetails(HTTPStatus.UNPROCESSABLE_ENTITY, detail, "UsageError"))


async def _of_http(_: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    status = HTTPStatus(error.status_code)
    details = {
        HTTPStatus.NOT_FOUND: "no such address; /v1/openapi.json lists all addresses",
        HTTPStatus.METHOD_NOT_ALLOWED: "this address does not support this method; /v1/openapi.json lists all methods",
    }
    return _problem_response(ProblemDetails(status, details.get(status, error.detail), headers=error.headers or {}))


async def _of_bug(_: Request, __: Exception) -> Response:
    detail = "internal error; see the server's log"  # it is raised again, and uvicorn logs it
    return _problem_response(ProblemDetails(HTTPStatus.INTERNAL_SERVER_ERROR, detail))


# -- Access ------------------------------------------------------------------------------------------------------------


class Guarded:
    """An application behind access control. All answers get the security headers; bodies must be JSON."""

    def __init__(self, application: ASGIApp, rules: AccessRules) -> None:
        self._application, self._rules = application, rules

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan":
            await self._application(scope, receive, send)
        if scope["type"] != "http":
            return  # no websockets

        async def send_securely(message: Message) -> None:
            if message["type"] == "http.response.start":
                message["headers"] = with_security(message.get("headers", ()), is_page=is_of_page(scope["path"]))
            await send(message)

        facts = _facts(scope)
        problem = self._rules.refusal(facts) or _of_body(facts, scope["query_string"])
        handler = self._application if problem is None else _problem_response(problem)
        await handler(scope, receive, send_securely)


def _facts(scope: Scope) -> RequestFacts:
    headers: dict[str, str] = {}
    for name, value in scope["headers"]:
        key = name.decode("latin-1").lower()
        headers[key] = "" if key == "host" and key in headers else value.decode("latin-1")  # several hosts are none
    client = scope.get("client")
    return RequestFacts(scope["method"], scope["path"], client[0] if client else None, headers, scope["http_version"])


def _of_body(facts: RequestFacts, query: bytes) -> ProblemDetails | None:
    """Why a request's body is refused: other pages may send forms and plain text, but no JSON.

    Parameters beside a body are refused, since nothing would read them.
    """
    if facts.method not in ("POST", "PUT"):
        return None
    if query:
        name = query.partition(b"=")[0].decode("latin-1")
        detail = f"the parameter {name[:80]!r} must be in the body, not in the address"
        return ProblemDetails(HTTPStatus.UNPROCESSABLE_ENTITY, detail, "UsageError")
    kind = facts.headers.get("content-type", "").partition(";")[0].strip().lower()
    if kind != JSON_TYPE:
        detail = f"the body must be {JSON_TYPE}, not {kind or 'untyped'}"
        return ProblemDetails(HTTPStatus.UNSUPPORTED_MEDIA_TYPE, detail)
    length = facts.headers.get("content-length", "0")
    if not length.isdecimal() or int(length) > MAX_BODY:  # FastAPI stops bodies whose length is not said
        detail = f"the body has more than {MAX_BODY:,} bytes"
        return ProblemDetails(HTTPStatus.REQUEST_ENTITY_TOO_LARGE, detail)
    return None
