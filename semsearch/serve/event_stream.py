"""Server-sent events of long work: its progress, the newest at a time, and at the end its report or its problem."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Callable
from contextlib import suppress
from typing import Any

from semsearch.errors import SemsearchError
from semsearch.results.codec import Record
from semsearch.serve.problems import problem_of
from semsearch.serve.work_pool import WorkPool

EVENTS_TYPE = "text/event-stream"
Report = Callable[[Any], None]  # is given a progress, of whatever work it is
Work = Callable[[Report], dict[str, Any]]


class ProgressEvents:
    """The events of one piece of work, which begins when this is made. It goes on to its end if nobody listens.

    Raises RequestRefused where the pool has no room.
    """

    def __init__(self, pool: WorkPool, work: Work, client: str | None) -> None:
        self._loop = asyncio.get_running_loop()
        self._changed = asyncio.Event()
        self._newest: Record | None = None
        self._future = pool.submit(lambda: work(self._report), client)
        self._future.add_done_callback(lambda _: self._wake(None))

    def _report(self, progress: Record) -> None:
        self._wake(progress)

    def _wake(self, progress: Record | None) -> None:
        """Called by the writing thread. When the server has stopped, there is nobody to tell."""
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
