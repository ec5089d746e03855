"""Bounded pools of threads for slow work. Work that exceeds a pool's room is refused with a Retry-After."""

from __future__ import annotations

import asyncio
import threading
from collections import Counter
from collections.abc import Awaitable, Callable
from concurrent.futures import Future, ThreadPoolExecutor
from http import HTTPStatus
from typing import TypeVar

from starlette.exceptions import HTTPException

from semsearch.system.parallel import until_abandoned

Result = TypeVar("Result")
_SOON = {"Retry-After": "1"}


class WorkPool:
    """Runs functions in a few threads. At most `room` of them run or wait, at most `share` per client.

    After `seconds` the client gets a refusal; the function goes on to its end, or the next query of several, and takes
    up its room until then. So it does if the client goes away.
    """

    def __init__(self, *, threads: int, room: int, share: int, seconds: float) -> None:
        self._executor = ThreadPoolExecutor(threads, thread_name_prefix="semsearch")
        self._room, self._share, self._seconds = room, share, seconds
        self._lock = threading.Lock()
        self._taken: Counter[str] = Counter()

    async def run(
        self, work: Callable[[], Result], client: str | None, *, gone: Callable[[], Awaitable[None]] | None = None
    ) -> Result:
        """Run a function in a thread and wait for it. `client` is None for clients without a share limit.

        `gone` waits until the client goes away; then the function is abandoned, as after the time limit.

        Raises HTTPException if there is no room (503, 429) or after the time limit (503).
        """
        abandoned = threading.Event()
        future = asyncio.wrap_future(self.submit(lambda: until_abandoned(work, abandoned), client))
        leaving = None if gone is None else asyncio.ensure_future(gone())
        if leaving is not None:
            leaving.add_done_callback(lambda _: abandoned.set())
        try:
            return await asyncio.wait_for(future, self._seconds)
        except TimeoutError:
            if future.done() and not future.cancelled():
                raise  # the function's own
            detail = f"the request took longer than {self._seconds:g} seconds"
            raise HTTPException(HTTPStatus.SERVICE_UNAVAILABLE, detail, {"Retry-After": "5"}) from None
        finally:
            abandoned.set()
            if leaving is not None:
                leaving.cancel()

    def submit(self, work: Callable[[], Result], client: str | None) -> Future[Result]:
        """Start a function in a thread, if there is room. Raises HTTPException."""
        key = client or ""
        with self._lock:
            if self._taken.total() >= self._room:
                raise HTTPException(HTTPStatus.SERVICE_UNAVAILABLE, "the server is overloaded; try again", _SOON)
            if client is not None and self._taken[key] >= self._share:
                detail = f"this client already has {self._share} requests in progress; wait for them"
                raise HTTPException(HTTPStatus.TOO_MANY_REQUESTS, detail, _SOON)
            self._taken[key] += 1
        future = self._executor.submit(work)
        future.add_done_callback(lambda _: self._free(key))
        return future

    def _free(self, key: str) -> None:
        with self._lock:
            self._taken[key] -= 1
            if not self._taken[key]:
                del self._taken[key]

    def close(self) -> None:
        """Stop: drop waiting work, wait for running work."""
        self._executor.shutdown(cancel_futures=True)
