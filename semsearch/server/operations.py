"""The base of all operations of the server: the models of their parameters, and the making of answers.

An operation declares its parameters as a model (query string or body) and its answer as a class; FastAPI checks the
one, and describes both in the OpenAPI document. Its work runs in a pool of threads, and makes the JSON by itself.
"""

from __future__ import annotations

import json
from asyncio import Queue, get_running_loop
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from inspect import Parameter, Signature
from typing import Annotated, Any, Literal, TypeVar, get_type_hints

from fastapi import APIRouter, Path, Query, Request, Response
from fastapi.responses import JSONResponse, StreamingResponse
from pydantic import BaseModel, ConfigDict, Field, StringConstraints, model_validator
from pydantic_core import PydanticCustomError
from starlette.convertors import PathConvertor, register_url_convertor

from semsearch.errors import SemsearchError
from semsearch.results.codec import Record, to_dict
from semsearch.server.open_indexes import OpenIndexes
from semsearch.server.problems import problem_of
from semsearch.server.work_pool import WorkPool
from semsearch.system.http_requests import is_loopback

# -- Parameters --------------------------------------------------------------------------------------------------------

Line = Annotated[str, StringConstraints(max_length=1000)]  # such as a name or a filter
DocumentId = Annotated[
    str, Path(description="A document's path, as in hits, or the id of an added text.", max_length=4000)
]


class _AnyName(PathConvertor):
    """A part of an address that may have any character, such as the slashes and newlines of a document's name."""

    regex = "(?s:.*)"


register_url_convertor("any", _AnyName())


class Parameters(BaseModel):
    """The parameters of an operation. Unknown ones are refused; null counts as absent."""

    model_config = ConfigDict(extra="forbid", frozen=True, allow_inf_nan=False)

    @model_validator(mode="before")
    @classmethod
    def _without_nulls(cls, values: Any) -> Any:
        if not isinstance(values, dict):
            return values
        if unknown := [name[:80] for name in values if name not in cls.model_fields]:
            told = {"unknown": unknown[0], "known": ", ".join(cls.model_fields)}
            raise PydanticCustomError("unknown_parameter", "unknown parameter '{unknown}'; there are {known}", told)
        return {key: value for key, value in values.items() if value is not None}


class IndexParameters(Parameters):
    """The parameters of an operation on one index."""

    index: Line | None = Field(None, description="The name of an index; optional if the server has only one.")


class FilterParameters(IndexParameters):
    """The parameters of an operation on the documents of an index that match filters."""

    filters: tuple[Line, ...] = Field(
        (),
        max_length=50,
        description="Only documents that match all filters: globs on paths (guide/*.md), conditions (author=Ada); a|b: "
        "either; !a: not a.",
    )


class PageParameters(IndexParameters):
    """The parameters of an operation that lists a page of something."""

    offset: int = Field(0, ge=0, le=10**9, description="Number of entries to skip.")
    limit: int = Field(100, ge=1, le=1000, description="Maximum number of entries.")

    def next_of(self, entries: Sequence[Any]) -> int | None:
        """The offset of the next page, if one entry more than `limit` was found; None at the end."""
        return self.offset + self.limit if len(entries) > self.limit else None


# -- Answers -----------------------------------------------------------------------------------------------------------

JSON_TYPE = "application/json"
BYTES_TYPE = "application/octet-stream"  # which no browser shows as a page
EVENTS_TYPE = "text/event-stream"
Report = Callable[[Any], None]  # takes a progress object
ReportedWork = Callable[[Report | None], Any]  # what remains of a long operation once its request was checked
Operation = TypeVar("Operation", bound=Callable[..., Any])


@dataclass(frozen=True, slots=True)
class Engine:
    """The served indexes, and a pool of threads each for queries, writes and pictures."""

    indexes: OpenIndexes
    asking: WorkPool
    writing: WorkPool
    drawing: WorkPool

    def close(self) -> None:
        """Finish running work."""
        for pool in (self.asking, self.writing, self.drawing):
            pool.close()


class Operations(APIRouter):
    """A router of operations.

        @router.operation("GET", "/v1/facets")
        def get_facets(indexes: OpenIndexes, parameters: FacetsParameters) -> Facets:

    An operation is a plain function that takes the indexes and its parameters, and runs in a pool of threads. What it
    returns is a dict, a data class, or bytes.
    """

    def operation(
        self,
        method: Literal["GET", "POST", "PUT", "DELETE"],
        path: str,
        model: type | None = None,
        *,
        name: str | None = None,
        pool: Literal["asking", "writing", "drawing"] = "asking",
        is_long: bool = False,
        media: str = JSON_TYPE,
    ) -> Callable[[Operation], Operation]:
        """Route a function. `model` is the class of its answer, by default what it returns.

        A long one returns its `ReportedWork`, which runs with the writes. With `Accept: text/event-stream`, progress is
        sent as server-sent events, and at the end the answer, as `report`.
        """

        def route(work: Operation) -> Operation:
            async def endpoint(request: Request, **parameters: Any) -> Response:
                engine: Engine = request.app.state.engine
                host = request.client.host if request.client else "?"
                client = None if is_loopback(host) else host  # this machine has no share limit
                start = partial(work, engine.indexes, **parameters)
                if is_long and EVENTS_TYPE in request.headers.get("accept", ""):
                    events = _progress_events(engine.writing, await engine.asking.run(start, client), client)
                    return StreamingResponse(events, media_type=EVENTS_TYPE)

                def body() -> bytes:
                    result = start()(None) if is_long else start()
                    return result if isinstance(result, bytes) else to_json(plain(result))

                running = getattr(engine, pool).run(body, client, gone=partial(_gone, request))
                return Response(await running, media_type=media)

            hints = get_type_hints(work, include_extras=True)
            result, is_json = hints.pop("return"), media == JSON_TYPE
            takes = [Parameter("request", Parameter.KEYWORD_ONLY, annotation=Request)]
            for key, kind in [*hints.items()][1:]:
                in_query = method in ("GET", "DELETE") and isinstance(kind, type)
                kind = Annotated[kind, Query()] if in_query else kind
                takes.append(Parameter(key, Parameter.KEYWORD_ONLY, annotation=kind))
            endpoint.__signature__ = Signature(takes)  # type: ignore[attr-defined]  # which FastAPI reads
            endpoint.__doc__ = work.__doc__
            self.add_api_route(
                path,
                endpoint,
                methods=[method],
                name=name or work.__name__,
                response_model=(model or result) if is_json else None,
                response_class=JSONResponse if is_json else Response,
                responses={} if is_json else {200: {"description": "The bytes.", "content": {media: {}}}},
            )
            return work

        return route


async def _gone(request: Request) -> None:
    while (await request.receive())["type"] != "http.disconnect":
        pass


def plain(answer: Any) -> dict[str, Any]:
    """An answer, a dict or a data class, as a dict."""
    return answer if isinstance(answer, dict) else to_dict(answer)


def to_json(value: Any) -> bytes:
    """A value as JSON in UTF-8; lone surrogates, of paths that are not Unicode, are escaped."""
    try:
        return json.dumps(value, ensure_ascii=False, separators=(",", ":"), default=str).encode()
    except UnicodeEncodeError:
        return json.dumps(value, separators=(",", ":"), default=str).encode()


def _progress_events(pool: WorkPool, work: ReportedWork, client: str | None) -> AsyncIterator[bytes]:
    """The events of one piece of work, started now. It finishes even if the client leaves.

    Raises HTTPException if the pool is full.
    """
    loop, reported = get_running_loop(), Queue[Record | None]()

    def report(progress: Record | None) -> None:
        with suppress(RuntimeError):  # the server has stopped
            loop.call_soon_threadsafe(reported.put_nowait, progress)

    future = pool.submit(lambda: work(report), client)
    future.add_done_callback(lambda _: report(None))

    async def lines() -> AsyncIterator[bytes]:
        while (progress := await reported.get()) is not None:
            yield _event("progress", progress.to_dict())
        try:
            yield _event("report", plain(future.result()))
        except SemsearchError as error:
            yield _event("problem", problem_of(error).to_dict())

    return lines()


def _event(name: str, data: Any) -> bytes:
    return f"event: {name}\ndata: {json.dumps(data, default=str)}\n\n".encode()
