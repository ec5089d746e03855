"""A bounded pool of threads for what takes time. What it has no room for is refused, and told when to come again."""

from __future__ import annotations

import asyncio
import threading
from collections import Counter
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from functools import partial
from http import HTTPStatus
from typing import TypeVar

from semsearch.serve.problems import refused

Result = TypeVar("Result")


class WorkPool:
    """Runs functions in a few threads. At most `room` of them run or wait, at most `share` for one client.

    A function that takes longer than `seconds` is answered for by a refusal; it runs to its end, and takes up its room
    until then.
    """

    def __init__(self, *, threads: int, room: int, share: int, seconds: float) -> None:
        self._executor = ThreadPoolExecutor(threads, thread_name_prefix="semsearch")
        self._room, self._share, self._seconds = room, share, seconds
        self._lock = threading.Lock()
        self._taken: Counter[str] = Counter()

    @property
    def in_flight(self) -> int:
        """The number of functions that run or wait now."""
        with self._lock:
            return self._taken.total()

    async def run(self, work: Callable[[], Result], client: str | None) -> Result:
        """Run a function in a thread and wait for it. `client` is None for those that have no limit of their own.

        Raises RequestRefused where there is no room (503, 429), and where it takes too long (503).
        """
        return await self.in_time(asyncio.wrap_future(self.submit(work, client)))

    async def in_time(self, future: asyncio.Future[Result]) -> Result:
        """Wait for a result, as long as one may take. Raises RequestRefused (503)."""
        try:
            return await asyncio.wait_for(future, self._seconds)
        except TimeoutError:
            if future.done() and not future.cancelled():
                raise  # the function's own
            raise refused(
                HTTPStatus.SERVICE_UNAVAILABLE, f"this took longer than {self._seconds:g} seconds", retry_after="5"
            ) from None

    def submit(self, work: Callable[[], Result], client: str | None) -> Future[Result]:
        """Have a function run in a thread, if there is room. Raises RequestRefused."""
        release = self.take_room(client)
        future = self.start(work)
        future.add_done_callback(lambda _: release())
        return future

    def start(self, work: Callable[[], Result]) -> Future[Result]:
        """Have a function run in a thread for those who have room already."""
        return self._executor.submit(work)

    def take_room(self, client: str | None) -> Callable[[], None]:
        """Take up the room of one function; the function that is returned gives it back. Raises RequestRefused."""
        key = client or ""
        with self._lock:
            if self._taken.total() >= self._room:
                raise refused(HTTPStatus.SERVICE_UNAVAILABLE, "the server is overloaded; try again", retry_after="1")
            if client is not None and self._taken[key] >= self._share:
                detail = f"{self._share} requests of this client are being answered; wait for them"
                raise refused(HTTPStatus.TOO_MANY_REQUESTS, detail, retry_after="1")
            self._taken[key] += 1
        return partial(self._free, key)

    def _free(self, key: str) -> None:
        with self._lock:
            self._taken[key] -= 1
            if not self._taken[key]:
                del self._taken[key]

    def close(self) -> None:
        """Take no more work. What waits is dropped, what runs is waited for."""
        self._executor.shutdown(cancel_futures=True)
