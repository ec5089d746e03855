"""What all operations of the server share: the models of their parameters, and how they are answered.

An operation declares its parameters as a model (query string or body) and its answer as a class; FastAPI checks the
one, and describes both in the OpenAPI document. Its work runs in a pool of threads, and makes the JSON by itself.
"""

from __future__ import annotations

import json
from asyncio import Queue, get_running_loop
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Annotated, Any

from fastapi import Path, Request, Response
from fastapi.responses import StreamingResponse
from pydantic import BaseModel, ConfigDict, Field, StringConstraints, model_validator
from pydantic_core import PydanticCustomError
from starlette.convertors import PathConvertor, register_url_convertor

from semsearch.errors import SemsearchError
from semsearch.results.codec import Record, to_dict
from semsearch.server.access import is_loopback
from semsearch.server.open_indexes import OpenIndexes
from semsearch.server.problems import problem_of
from semsearch.server.work_pool import WorkPool

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
Work = Callable[[OpenIndexes], Any]  # a dict, a data class, or bytes
Report = Callable[[Any], None]  # takes a progress object
ReportedWork = Callable[[Report | None], Any]  # as `Work`


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


def engine_of(request: Request) -> Engine:
    """The engine of the server that a request has reached."""
    engine: Engine = request.app.state.engine
    return engine


def limited_client(request: Request) -> str | None:
    """The client whose share of the pool a request takes; None for this machine, which has no share limit."""
    client = request.client.host if request.client else "?"
    return None if is_loopback(client) else client


async def answer(request: Request, work: Work, *, pool: WorkPool | None = None, media: str = JSON_TYPE) -> Response:
    """Do the work of a request in a pool of threads, by default that of queries. Bytes are sent as they are."""
    engine = engine_of(request)

    def body() -> bytes:
        result = work(engine.indexes)
        return result if isinstance(result, bytes) else to_json(plain(result))

    async def gone() -> None:
        while (await request.receive())["type"] != "http.disconnect":
            pass

    return Response(await (pool or engine.asking).run(body, limited_client(request), gone=gone), media_type=media)


async def answer_long(request: Request, prepare: Callable[[OpenIndexes], ReportedWork]) -> Response:
    """Check a request and do its long work, one after the other.

    With `Accept: text/event-stream`, progress is sent as server-sent events, and at the end the answer, as `report`.
    """
    engine, client = engine_of(request), limited_client(request)
    if EVENTS_TYPE not in request.headers.get("accept", ""):
        return await answer(request, lambda indexes: prepare(indexes)(None), pool=engine.writing)
    work = await engine.asking.run(lambda: prepare(engine.indexes), client)
    return StreamingResponse(_progress_events(engine.writing, work, client), media_type=EVENTS_TYPE)


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
