"""The application: routes behind access control, work in thread pools, and metrics for Prometheus."""

from __future__ import annotations

import asyncio
import json
import threading
import time
from bisect import bisect_left
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from http import HTTPStatus
from typing import TYPE_CHECKING, Any

from starlette.applications import Starlette
from starlette.convertors import Convertor, register_url_convertor
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response, StreamingResponse
from starlette.routing import BaseRoute, Route
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from semsearch.errors import SemsearchError, UsageError
from semsearch.frozen import dataclass
from semsearch.serve.access import AccessRules, RequestFacts, is_loopback, with_security
from semsearch.serve.open_indexes import OpenIndexes
from semsearch.serve.operation import EVENTS_TYPE, Operation, ProgressEvents, bodies_together, to_json
from semsearch.serve.problem_details import PROBLEM_TYPE, ProblemDetails, problem_of, refused
from semsearch.serve.request_parameters import Given, from_json, from_query
from semsearch.serve.work_pool import RequestCombiner, WorkPool

if TYPE_CHECKING:
    from semsearch.serve.workers import Workers  # start-up time: few servers have any

# -- Metrics -----------------------------------------------------------------------------------------------------------

METRICS_TYPE = "text/plain; version=0.0.4; charset=utf-8"
_BOUNDS = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0)  # seconds


class Metrics:
    """Requests by operation and status, and their durations. The operations are the declared ones."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._requests: Counter[tuple[str, int]] = Counter()
        self._buckets: dict[str, list[int]] = {}
        self._seconds: dict[str, float] = {}

    def count(self, operation: str, status: int, seconds: float) -> None:
        """Count a request that was answered."""
        with self._lock:
            self._requests[operation, status] += 1
            buckets = self._buckets.setdefault(operation, [0] * (len(_BOUNDS) + 1))
            buckets[bisect_left(_BOUNDS, seconds)] += 1
            self._seconds[operation] = self._seconds.get(operation, 0.0) + seconds

    def text(self, *, in_flight: int) -> str:
        """All metrics, in Prometheus's text format."""
        with self._lock:
            return "\n".join([*self._counts(), *self._times(), *_gauge(in_flight)]) + "\n"

    def _counts(self) -> Iterator[str]:
        yield "# HELP semsearch_requests_total Answered requests."
        yield "# TYPE semsearch_requests_total counter"
        for (operation, status), count in sorted(self._requests.items()):
            yield f'semsearch_requests_total{{operation="{operation}",status="{status}"}} {count}'

    def _times(self) -> Iterator[str]:
        name = "semsearch_request_seconds"
        yield f"# HELP {name} Time to answer."
        yield f"# TYPE {name} histogram"
        for operation, buckets in sorted(self._buckets.items()):
            below = 0
            for bound, count in zip((*_BOUNDS, "+Inf"), buckets, strict=True):
                below += count
                yield f'{name}_bucket{{operation="{operation}",le="{bound}"}} {below}'
            yield f'{name}_sum{{operation="{operation}"}} {self._seconds[operation]:.6f}'
            yield f'{name}_count{{operation="{operation}"}} {below}'


def _gauge(in_flight: int) -> Iterator[str]:
    yield "# HELP semsearch_requests_in_flight Requests running or waiting."
    yield "# TYPE semsearch_requests_in_flight gauge"
    yield f"semsearch_requests_in_flight {in_flight}"


# -- The application ---------------------------------------------------------------------------------------------------

_DRAINED = 64_000_000  # bytes of an oversized body that are read and dropped, so that the client receives the refusal


@dataclass(frozen=True, slots=True)
class BodyLimits:
    """The maximum size of a request's body, in bytes, and the time limit to receive it."""

    size: int = 4_000_000
    seconds: float = 20.0


@dataclass(frozen=True, slots=True)
class ServingEngine:
    """The served indexes, a thread pool each for queries, writes and pictures, and the metrics.

    `combining` uses the pool for queries: it answers concurrent requests together, by the `workers` if there are any.
    """

    indexes: OpenIndexes
    asking: WorkPool
    writing: WorkPool
    drawing: WorkPool
    metrics: Metrics
    combining: RequestCombiner[Given, bytes]
    workers: Workers | None = None
    limits: BodyLimits = BodyLimits()

    def pool(self, operation: Operation) -> WorkPool:
        """The pool of an operation."""
        if operation.is_write or operation.is_long:
            return self.writing
        return self.drawing if operation.is_drawn else self.asking

    @property
    def pools(self) -> tuple[WorkPool, ...]:
        """All pools."""
        return self.asking, self.writing, self.drawing

    def bodies(self, operation: Operation, several: Sequence[Given]) -> list[bytes]:
        """The answers to requests that differ in their query only. Raises SemsearchError, of one of them."""
        if self.workers is not None and self.workers.ready.is_set():
            return self.workers.bodies(operation, several)
        return bodies_together(operation, self.indexes, several)

    def metrics_text(self) -> str:
        """The metrics as they are now."""
        return self.metrics.text(in_flight=sum(pool.in_flight for pool in self.pools))


class _AnyName(Convertor[str]):
    """A part of an address that may have any character, such as the slashes and newlines of a document's name."""

    regex = "(?s:.*)"

    def convert(self, value: str) -> str:
        return value

    def to_string(self, value: str) -> str:
        return value


register_url_convertor("any", _AnyName())


class Guarded:
    """The application behind access control. All answers get the security headers."""

    def __init__(self, application: ASGIApp, rules: AccessRules, metrics: Metrics) -> None:
        self._application = application
        self._rules = rules
        self._metrics = metrics

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            return  # no websockets; nothing to do at start and end

        async def send_securely(message: Message) -> None:
            if message["type"] == "http.response.start":
                message["headers"] = with_security(list(message.get("headers", ())))
            await send(message)

        problem = self._rules.refusal(_facts(scope))
        if problem is not None:
            self._metrics.count("refused", problem.status, 0.0)
            await problem_response(problem)(scope, receive, send_securely)
        else:
            await self._application(scope, receive, send_securely)


def make_application(
    engine: ServingEngine, operations: Sequence[Operation], *, routes: Sequence[BaseRoute] = ()
) -> Starlette:
    """The routes of the operations, and others, such as those of the web interface. It must be `Guarded`."""
    by_path: dict[str, dict[str, Operation]] = {}
    for operation in operations:
        by_path.setdefault(operation.path, {})[operation.method] = operation
    made = [
        Route(path.replace("}", ":any}"), partial(_measured, engine, methods), methods=[*methods])
        for path, methods in by_path.items()
    ]
    counted = Route("/metrics", lambda _: Response(engine.metrics_text(), media_type=METRICS_TYPE))
    handlers: Mapping[Any, Any] = {
        SemsearchError: _of_error,
        HTTPException: _of_http,
        ClientDisconnect: _of_gone_client,
        Exception: _of_bug,
    }
    application = Starlette(routes=[*made, counted, *routes], exception_handlers=handlers)
    application.router.redirect_slashes = False
    return application


async def _measured(engine: ServingEngine, methods: Mapping[str, Operation], request: Request) -> Response:
    """Answer, and count the answer and the time until it is ready."""
    operation = methods.get(request.method) or methods["GET"]  # HEAD is GET without its body
    began, status = time.perf_counter(), HTTPStatus.INTERNAL_SERVER_ERROR
    try:
        answer = await _answer(engine, operation, request)
        status = HTTPStatus.OK
        return answer
    except SemsearchError as error:
        status = problem_of(error).status
        raise
    finally:
        engine.metrics.count(operation.name, status, time.perf_counter() - began)


async def _answer(engine: ServingEngine, operation: Operation, request: Request) -> Response:
    given = await _given(operation, request, engine.limits)
    client, stream = limited_client(request), operation.stream
    if stream is not None and EVENTS_TYPE in request.headers.get("accept", ""):
        work = await engine.asking.run(lambda: stream(engine.indexes, given), client)
        return StreamingResponse(ProgressEvents(engine.pool(operation), work, client).lines(), media_type=EVENTS_TYPE)
    if operation.together is not None:
        together = partial(engine.bodies, operation)
        body = await engine.combining.run(given.without("query"), given, together, client)
    else:
        body = await engine.pool(operation).run(lambda: _body(operation, engine.indexes, given), client)
    return Response(body, media_type=operation.media)


def _body(operation: Operation, indexes: OpenIndexes, given: Given) -> bytes:
    answer = operation.run(indexes, given)
    return answer if isinstance(answer, bytes) else to_json(answer)


async def _given(operation: Operation, request: Request, limits: BodyLimits) -> Given:
    """The parameters of a request, checked."""
    if operation.has_body:
        given = from_json(operation.beside_path, await json_body(request, limits))
        given = _with_index(operation, given, request.query_params.multi_items())
    else:
        given = from_query(operation.beside_path, request.query_params.multi_items())
    if operation.in_path is None:
        return given
    name = operation.in_path.name
    return Given({**given.values, name: operation.in_path.checked(request.path_params[name])})


def _with_index(operation: Operation, given: Given, pairs: Sequence[tuple[str, str]]) -> Given:
    """The fields of a body with the `index` of the query string, the only one of them that may stand there too."""
    if not pairs:
        return given
    named = from_query(operation.in_query_too, pairs)["index"]
    if given["index"] not in (None, named):
        raise UsageError("the body and the address name different indexes; name them once")
    return Given({**given.values, "index": named})


async def json_body(request: Request, limits: BodyLimits) -> Any:
    """The body of a request as JSON. Raises RequestRefused, UsageError."""
    return parse_json(await raw_body(request, limits))


async def raw_body(request: Request, limits: BodyLimits) -> bytes:
    """The raw body of a request of type JSON. Raises RequestRefused."""
    kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if kind != "application/json":
        raise refused(HTTPStatus.UNSUPPORTED_MEDIA_TYPE, f"the body must be application/json, not {kind or 'untyped'}")
    try:
        return await asyncio.wait_for(_read(request, limits.size), limits.seconds)
    except TimeoutError:
        raise refused(
            HTTPStatus.REQUEST_TIMEOUT,
            f"the body was not received within {limits.seconds:g} seconds",
            connection="close",
        ) from None


async def _read(request: Request, most: int) -> bytes:
    """The body. The rest of an oversized one is drained up to a limit: a client that still sends reads no answer."""
    too_large = f"the body has more than {most:,} bytes"
    announced = request.headers.get("content-length", "0")
    if not announced.isdigit() or int(announced) > most + _DRAINED:
        raise refused(HTTPStatus.REQUEST_ENTITY_TOO_LARGE, too_large, connection="close")
    body, length = bytearray(), 0
    async for piece in request.stream():
        length += len(piece)
        if length > most + _DRAINED:
            raise refused(HTTPStatus.REQUEST_ENTITY_TOO_LARGE, too_large, connection="close")
        body += piece if length <= most else b""
    if length > most:
        raise refused(HTTPStatus.REQUEST_ENTITY_TOO_LARGE, too_large)
    return bytes(body)


def parse_json(body: bytes) -> Any:
    """Strict JSON (RFC 8259): no NaN, no lone surrogates. Raises UsageError."""
    try:
        value = json.loads(body, parse_constant=_no_constant)
        if b"\\u" in body:
            json.dumps(value, ensure_ascii=False).encode()  # a lone surrogate cannot be stored
    except RecursionError:
        raise UsageError("the body is nested too deeply") from None
    except ValueError as error:
        raise UsageError(f"the body is not valid JSON: {error}") from None
    return value


def _no_constant(name: str) -> Any:
    raise ValueError(f"{name} is not a JSON number")


def limited_client(request: Request) -> str | None:
    """The client whose share of the pool a request takes; None for this machine, which has no share limit."""
    client = request.client.host if request.client else "?"
    return None if is_loopback(client) else client


def _facts(scope: Scope) -> RequestFacts:
    headers = {name.decode("latin-1").lower(): value.decode("latin-1") for name, value in scope["headers"]}
    client = scope.get("client")
    return RequestFacts(scope["method"], scope["path"], client[0] if client else None, headers, scope["http_version"])


def problem_response(problem: ProblemDetails) -> Response:
    """A problem as an answer."""
    return Response(problem.to_json(), int(problem.status), dict(problem.headers), PROBLEM_TYPE)


async def _of_error(_: Request, error: Exception) -> Response:
    assert isinstance(error, SemsearchError)
    return problem_response(problem_of(error))


async def _of_http(_: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    status = HTTPStatus(error.status_code)
    details = {
        HTTPStatus.NOT_FOUND: "no such address; /v1/openapi.json lists all addresses",
        HTTPStatus.METHOD_NOT_ALLOWED: "this address does not support this method; /v1/openapi.json lists all methods",
    }
    return problem_response(ProblemDetails(status, details.get(status, error.detail), headers=error.headers or {}))


async def _of_gone_client(_: Request, __: Exception) -> Response:
    return Response(status_code=HTTPStatus.BAD_REQUEST)  # the client is gone


async def _of_bug(_: Request, __: Exception) -> Response:
    detail = "internal error; see the server's log"  # it is raised again, and uvicorn logs it
    return problem_response(ProblemDetails(HTTPStatus.INTERNAL_SERVER_ERROR, detail))
