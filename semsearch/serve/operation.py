"""The declaration of a server's operation: route, parameters, answer; and server-sent events for long work."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import field
from typing import TYPE_CHECKING, Any, Literal

from semsearch.errors import SemsearchError
from semsearch.frozen import dataclass
from semsearch.results.codec import Record
from semsearch.serve.open_indexes import OpenIndexes
from semsearch.serve.problem_details import problem_of
from semsearch.serve.request_parameters import Given, Parameter

if TYPE_CHECKING:
    from semsearch.serve.work_pool import WorkPool

# -- Server-sent events ------------------------------------------------------------------------------------------------

EVENTS_TYPE = "text/event-stream"
Report = Callable[[Any], None]  # takes a progress object
Work = Callable[[Report], dict[str, Any]]


class ProgressEvents:
    """The events of one piece of work, started by the constructor. The work finishes even if the client leaves.

    Raises RequestRefused if the pool is full.
    """

    def __init__(self, pool: WorkPool, work: Work, client: str | None) -> None:
        import asyncio  # start-up time: `semsearch mcp` has operations, but no server

        self._loop = asyncio.get_running_loop()
        self._changed = asyncio.Event()
        self._newest: Record | None = None
        self._future = pool.submit(lambda: work(self._report), client)
        self._future.add_done_callback(lambda _: self._wake(None))

    def _report(self, progress: Record) -> None:
        self._wake(progress)

    def _wake(self, progress: Record | None) -> None:
        """Called by the writing thread. After the server has stopped it does nothing."""
        with suppress(RuntimeError):
            self._loop.call_soon_threadsafe(self._set, progress)

    def _set(self, progress: Record | None) -> None:
        self._newest = progress or self._newest
        self._changed.set()

    async def lines(self) -> AsyncIterator[bytes]:
        """The events, as they are sent."""
        while True:
            await self._changed.wait()
            self._changed.clear()
            progress, self._newest = self._newest, None
            if progress is not None:
                yield _event("progress", progress.to_dict())
            if self._future.done():
                break
        try:
            yield _event("report", self._future.result())
        except SemsearchError as error:
            yield _event("problem", problem_of(error).fields())


def _event(name: str, data: Any) -> bytes:
    return f"event: {name}\ndata: {json.dumps(data, default=str)}\n\n".encode()


# -- The declaration ---------------------------------------------------------------------------------------------------

Method = Literal["GET", "POST", "PUT", "DELETE"]
JSON_TYPE = "application/json"
Run = Callable[[OpenIndexes, Given], dict[str, Any] | bytes]  # bytes if the answer is not JSON
RunTogether = Callable[[OpenIndexes, Sequence[Given]], list[dict[str, Any]]]


@dataclass(frozen=True, slots=True)
class Operation:
    """An operation of the server. With GET and DELETE, parameters come as a query string, otherwise as a JSON body.

    A name in braces in the path is the first parameter.
    """

    method: Method
    path: str
    name: str  # unique
    says: str
    run: Run
    answer: Any  # the class with the fields of the JSON; bytes if the answer is not JSON
    parameters: tuple[Parameter, ...] = ()
    example: Mapping[str, Any] = field(default_factory=dict)  # of the parameters
    is_write: bool = False
    is_drawn: bool = False  # renders a picture: one at a time, beside the queries
    is_long: bool = False  # takes minutes but changes nothing: queues with the writes, needs no token
    media: str = JSON_TYPE  # of the answer
    stream: Callable[[OpenIndexes, Given], Work] | None = None  # also answers by server-sent events
    together: RunTogether | None = None  # answers requests that differ in their query only, at lower cost

    @property
    def in_path(self) -> Parameter | None:
        """The parameter that is part of the path."""
        return self.parameters[0] if "{" in self.path else None

    @property
    def beside_path(self) -> tuple[Parameter, ...]:
        """The parameters that are not part of the path."""
        return self.parameters if self.in_path is None else self.parameters[1:]

    @property
    def in_query_too(self) -> tuple[Parameter, ...]:
        """The parameters of a body that may stand in the query string instead, as for operations without a body."""
        return tuple(each for each in self.beside_path if each.name == "index") if self.has_body else ()

    @property
    def has_body(self) -> bool:
        """True for methods whose requests carry a body."""
        return self.method in ("POST", "PUT")


# -- Answers -----------------------------------------------------------------------------------------------------------


def bodies_together(operation: Operation, indexes: OpenIndexes, several: Sequence[Given]) -> list[bytes]:
    """The answers to requests that differ in their query only, as JSON. Raises SemsearchError, of one of them."""
    assert operation.together is not None  # others are answered one by one
    return [to_json(answer) for answer in operation.together(indexes, several)]


def to_json(value: Any) -> bytes:
    """A value as JSON in UTF-8; lone surrogates, of paths that are not Unicode, are escaped."""
    try:
        return json.dumps(value, ensure_ascii=False, separators=(",", ":"), default=str).encode()
    except UnicodeEncodeError:
        return json.dumps(value, separators=(",", ":"), default=str).encode()
