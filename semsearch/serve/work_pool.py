"""A bounded pool of threads for slow work, and batching of concurrent searches.

Work that exceeds the pool's room is refused with a Retry-After. Several queries at once cost much less than one after
the other: while the maximum number of batches runs, requests wait, and the next batch takes all waiting requests with
equal options. So nothing waits under light load, and batches grow under heavy load.
"""

from __future__ import annotations

import asyncio
import threading
from collections import Counter
from collections.abc import Callable, Hashable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from functools import partial
from http import HTTPStatus
from typing import Generic, TypeVar

from semsearch.errors import SemsearchError
from semsearch.frozen import dataclass
from semsearch.serve.problem_details import refused

# -- The pool ----------------------------------------------------------------------------------------------------------

Result = TypeVar("Result")


class WorkPool:
    """Runs functions in a few threads. At most `room` of them run or wait, at most `share` per client.

    After `seconds` the client gets a refusal; the function still runs to its end, and takes up its room until then.
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
        """Run a function in a thread and wait for it. `client` is None for clients without a share limit.

        Raises RequestRefused if there is no room (503, 429) or after the time limit (503).
        """
        return await self.in_time(asyncio.wrap_future(self.submit(work, client)))

    async def in_time(self, future: asyncio.Future[Result]) -> Result:
        """Wait for a result, up to the time limit. Raises RequestRefused (503)."""
        try:
            return await asyncio.wait_for(future, self._seconds)
        except TimeoutError:
            if future.done() and not future.cancelled():
                raise  # the function's own
            raise refused(
                HTTPStatus.SERVICE_UNAVAILABLE,
                f"the request took longer than {self._seconds:g} seconds",
                retry_after="5",
            ) from None

    def submit(self, work: Callable[[], Result], client: str | None) -> Future[Result]:
        """Start a function in a thread, if there is room. Raises RequestRefused."""
        release = self.take_room(client)
        future = self.start(work)
        future.add_done_callback(lambda _: release())
        return future

    def start(self, work: Callable[[], Result]) -> Future[Result]:
        """Start a function in a thread; the caller has taken room already."""
        return self._executor.submit(work)

    def take_room(self, client: str | None) -> Callable[[], None]:
        """Reserve the room of one function; returns the function that releases it. Raises RequestRefused."""
        key = client or ""
        with self._lock:
            if self._taken.total() >= self._room:
                raise refused(HTTPStatus.SERVICE_UNAVAILABLE, "the server is overloaded; try again", retry_after="1")
            if client is not None and self._taken[key] >= self._share:
                detail = f"this client already has {self._share} requests in progress; wait for them"
                raise refused(HTTPStatus.TOO_MANY_REQUESTS, detail, retry_after="1")
            self._taken[key] += 1
        return partial(self._free, key)

    def _free(self, key: str) -> None:
        with self._lock:
            self._taken[key] -= 1
            if not self._taken[key]:
                del self._taken[key]

    def close(self) -> None:
        """Stop: drop waiting work, wait for running work."""
        self._executor.shutdown(cancel_futures=True)


# -- Combined requests -------------------------------------------------------------------------------------------------

Item = TypeVar("Item")
_MOST = 32  # requests of a batch: more would delay others, and gain little


@dataclass(frozen=True, slots=True)
class _Batch(Generic[Item, Result]):
    """Requests with equal options, each with the future of its answer."""

    answer: Callable[[Sequence[Item]], Sequence[Result]]
    items: list[Item]
    futures: list[asyncio.Future[Result]]

    def split(self) -> tuple[_Batch[Item, Result], _Batch[Item, Result]]:
        """The requests that are answered now, and those that wait for the next batch."""
        return (
            _Batch(self.answer, self.items[:_MOST], self.futures[:_MOST]),
            _Batch(self.answer, self.items[_MOST:], self.futures[_MOST:]),
        )

    def run(self) -> Sequence[Result | SemsearchError]:
        """The answers of all requests. A failing one does not affect the others."""
        try:
            return self.answer(self.items)
        except SemsearchError as error:
            if len(self.items) == 1:
                return [error]
            return [_alone(self.answer, item) for item in self.items]

    def resolve(self, done: asyncio.Future[Sequence[Result | SemsearchError]]) -> None:
        """Give each request its answer."""
        failure = _stopping() if done.cancelled() else done.exception()
        if failure is not None:
            for future in self.futures:
                _fail(future, failure)
            return
        for future, result in zip(self.futures, done.result(), strict=True):
            if isinstance(result, SemsearchError):
                _fail(future, result)
            elif not future.done():
                future.set_result(result)


class RequestCombiner(Generic[Item, Result]):
    """Answers requests in batches, in the threads of a pool. To be used in one event loop."""

    def __init__(self, pool: WorkPool, *, parallel: int) -> None:
        self._pool = pool
        self._parallel = parallel  # batches at a time
        self._running = 0
        self._waiting: dict[Hashable, _Batch[Item, Result]] = {}

    async def run(
        self, key: Hashable, item: Item, answer: Callable[[Sequence[Item]], Sequence[Result]], client: str | None
    ) -> Result:
        """Answer a request, together with others of the same key that wait.

        `answer` is given several requests and returns their answers, in order. Raises RequestRefused as
        `WorkPool.run`, and the error of the request.
        """
        release = self._pool.take_room(client)
        future: asyncio.Future[Result] = asyncio.get_running_loop().create_future()
        future.add_done_callback(lambda _: release())
        batch = self._waiting.setdefault(key, _Batch(answer, [], []))
        batch.items.append(item)
        batch.futures.append(future)
        self._start()
        return await self._pool.in_time(asyncio.shield(future))

    def _start(self) -> None:
        """Start batches while there are threads for them, the longest waiting first."""
        while self._waiting and self._running < self._parallel:
            key = next(iter(self._waiting))
            batch, rest = self._waiting.pop(key).split()
            if rest.items:
                self._waiting[key] = rest
            self._running += 1
            running = asyncio.wrap_future(self._pool.start(batch.run))
            running.add_done_callback(partial(self._finish, batch))

    def _finish(self, batch: _Batch[Item, Result], done: asyncio.Future[Sequence[Result | SemsearchError]]) -> None:
        self._running -= 1
        batch.resolve(done)
        self._start()


def _alone(answer: Callable[[Sequence[Item]], Sequence[Result]], item: Item) -> Result | SemsearchError:
    try:
        (found,) = answer([item])
    except SemsearchError as error:
        return error
    return found


def _stopping() -> SemsearchError:
    return refused(HTTPStatus.SERVICE_UNAVAILABLE, "the server is shutting down", retry_after="5")


def _fail(future: asyncio.Future[Result], error: BaseException) -> None:
    if not future.done():
        future.set_exception(error)
        future.exception()  # mark as retrieved, in case nobody waits for it
