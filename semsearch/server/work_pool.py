"""Bounded pools of threads for slow work, batches of searches, and processes that search.

Work that exceeds a pool's room is refused with a Retry-After. Several queries at once cost less than one after the
other: while the maximum number of batches runs, requests wait, and the next batch takes all waiting requests with equal
options. So nothing waits under light load, and batches grow under heavy load.

Python computes in one thread of a process at a time, so a server with many clients may hand its batches to processes.
The server's own process keeps what there is one of: the socket, limits, access and writes. Workers read the same mapped
files, and see what others write with their next transaction.
"""

from __future__ import annotations

import asyncio
import logging
import multiprocessing
import os
import signal
import threading
from collections import Counter
from collections.abc import Callable, Hashable, Iterator, Sequence
from concurrent.futures import Future, ProcessPoolExecutor, ThreadPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import partial
from http import HTTPStatus
from multiprocessing import connection, resource_tracker
from typing import Generic, TypeVar

from semsearch.errors import SemsearchError
from semsearch.server.open_indexes import OpenIndexes
from semsearch.server.problems import ProblemDetails, RequestRefused, problem_of, refused

Item = TypeVar("Item")
Result = TypeVar("Result")

# -- Threads -----------------------------------------------------------------------------------------------------------


class WorkPool:
    """Runs functions in a few threads. At most `room` of them run or wait, at most `share` per client.

    After `seconds` the client gets a refusal; the function still runs to its end, and takes up its room until then.
    """

    def __init__(self, *, threads: int, room: int, share: int, seconds: float) -> None:
        self._executor = ThreadPoolExecutor(threads, thread_name_prefix="semsearch")
        self._room, self._share, self._seconds = room, share, seconds
        self._lock = threading.Lock()
        self._taken: Counter[str] = Counter()

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
            detail = f"the request took longer than {self._seconds:g} seconds"
            raise refused(HTTPStatus.SERVICE_UNAVAILABLE, detail, retry_after=5) from None

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
                raise refused(HTTPStatus.SERVICE_UNAVAILABLE, "the server is overloaded; try again", retry_after=1)
            if client is not None and self._taken[key] >= self._share:
                detail = f"this client already has {self._share} requests in progress; wait for them"
                raise refused(HTTPStatus.TOO_MANY_REQUESTS, detail, retry_after=1)
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


# -- Batches -----------------------------------------------------------------------------------------------------------

_MOST = 32  # requests of a batch: more would delay others, and gain little


@dataclass(frozen=True, slots=True)
class _Batch(Generic[Item, Result]):
    """Requests with equal options, each with the future of its answer."""

    items: list[Item]
    futures: list[asyncio.Future[Result]]

    def run(self, answer: Callable[[Sequence[Item]], Sequence[Result]]) -> Sequence[Result | SemsearchError]:
        """The answers of all requests. A failing one does not affect the others."""
        try:
            return answer(self.items)
        except SemsearchError as error:
            return [error] if len(self.items) == 1 else [_alone(answer, item) for item in self.items]

    def resolve(self, done: asyncio.Future[Sequence[Result | SemsearchError]]) -> None:
        """Give each request its answer."""
        if done.cancelled():
            outcomes: Sequence[Result | BaseException] = [_stopping()] * len(self.futures)
        elif (failure := done.exception()) is not None:
            outcomes = [failure] * len(self.futures)
        else:
            outcomes = done.result()
        for future, outcome in zip(self.futures, outcomes, strict=True):
            if future.done():
                continue  # nobody waits any more
            if isinstance(outcome, BaseException):
                future.set_exception(outcome)
                future.exception()  # mark as retrieved, in case nobody waits for it
            else:
                future.set_result(outcome)


class RequestBatches(Generic[Item, Result]):
    """Answers requests in batches, `parallel` at a time, in the threads of a pool. To be used in one event loop.

    `answer` is given several requests that share a key, and returns their answers, in order.
    """

    def __init__(self, pool: WorkPool, answer: Callable[[Sequence[Item]], Sequence[Result]], *, parallel: int) -> None:
        self._pool, self._answer, self._parallel = pool, answer, parallel
        self._running = 0
        self._waiting: dict[Hashable, _Batch[Item, Result]] = {}

    async def run(self, key: Hashable, item: Item, client: str | None) -> Result:
        """Answer a request, together with others of the same key that wait.

        Raises RequestRefused as `WorkPool.run`, and the error of the request.
        """
        release = self._pool.take_room(client)
        future: asyncio.Future[Result] = asyncio.get_running_loop().create_future()
        future.add_done_callback(lambda _: release())
        batch = self._waiting.setdefault(key, _Batch([], []))
        batch.items.append(item)
        batch.futures.append(future)
        self._start()
        return await self._pool.in_time(asyncio.shield(future))

    def _start(self) -> None:
        """Start batches while there are threads for them, the longest waiting first."""
        while self._waiting and self._running < self._parallel:
            key = next(iter(self._waiting))
            batch = self._waiting.pop(key)
            if len(batch.items) > _MOST:
                self._waiting[key] = _Batch(batch.items[_MOST:], batch.futures[_MOST:])
                batch = _Batch(batch.items[:_MOST], batch.futures[:_MOST])
            self._running += 1
            running = asyncio.wrap_future(self._pool.start(partial(batch.run, self._answer)))
            running.add_done_callback(partial(self._finish, batch))

    def _finish(self, batch: _Batch[Item, Result], done: asyncio.Future[Sequence[Result | SemsearchError]]) -> None:
        self._running -= 1
        batch.resolve(done)
        self._start()


def _alone(answer: Callable[[Sequence[Item]], Sequence[Result]], item: Item) -> Result | SemsearchError:
    try:
        return answer([item])[0]
    except SemsearchError as error:
        return error


def _stopping() -> SemsearchError:
    return refused(HTTPStatus.SERVICE_UNAVAILABLE, "the server is shutting down", retry_after=5)


# -- Processes ---------------------------------------------------------------------------------------------------------

_LOG = logging.getLogger(__name__)
_TRIES = 2  # a batch may end a process, as for lack of memory; then it is given to new ones once more
_SECONDS = 60.0  # that a batch may take, with the start of a process
_SIGNALS = ("SIGINT", "SIGTERM", "SIGHUP", "SIGBREAK")
Answer = Callable[[OpenIndexes, Sequence[Item]], list[bytes]]


class Workers:
    """So many processes that answer batches of searches, each with indexes of its own. Threads may share them.

    `opened` makes the indexes of a process; it is sent to a fresh interpreter. Processes that die are replaced.
    """

    def __init__(self, number: int, opened: Callable[[], OpenIndexes]) -> None:
        self.number = number
        self.ready = threading.Event()  # set once one has started; until then the server searches by itself
        self._opened = opened
        self._lock = threading.Lock()
        self._processes: ProcessPoolExecutor | None = None

    def start(self) -> None:
        """Start the processes, and return at once."""
        with self._lock:
            self._start()

    def _start(self) -> None:
        context = multiprocessing.get_context("spawn")
        self._processes = ProcessPoolExecutor(self.number, context, initializer=_begin, initargs=(self._opened,))
        with _signals_blocked():
            for _ in range(self.number):
                self._processes.submit(os.getpid).add_done_callback(self._note_start)

    def _note_start(self, done: Future[int]) -> None:
        if not done.cancelled() and done.exception() is None:
            self.ready.set()

    def answer(self, answer: Answer[Item], items: Sequence[Item]) -> list[bytes]:
        """Let a process answer a batch. Raises RequestRefused: the problem of a request, or processes that end."""
        for _ in range(_TRIES):
            processes = self._processes
            if processes is None:
                break
            try:
                with _signals_blocked():
                    future = processes.submit(_answered, answer, items)
                bodies = future.result(_SECONDS)
            except (BrokenProcessPool, RuntimeError) as error:
                if not isinstance(error, BrokenProcessPool) and processes is self._processes:
                    raise
                self._replace(processes)
                continue
            if isinstance(bodies, ProblemDetails):
                raise RequestRefused(bodies)
            return bodies
        detail = "the process that searched has ended; try again"
        raise refused(HTTPStatus.SERVICE_UNAVAILABLE, detail, retry_after=1)

    def _replace(self, broken: ProcessPoolExecutor) -> None:
        with self._lock:
            if self._processes is broken:
                _LOG.warning("a process that searches has ended; others are started")
                self._start()
        broken.shutdown(wait=False)

    def close(self) -> None:
        """End all processes. To be called when nothing is asked any more."""
        with self._lock:
            processes, self._processes = self._processes, None
        if processes is not None:
            processes.shutdown(cancel_futures=True)


@contextmanager
def _signals_blocked() -> Iterator[None]:
    """Block signals, for the processes that are started in the block from their first instruction on.

    Signals of a terminal or a service manager reach them too, while the server still answers.
    """
    if not hasattr(signal, "pthread_sigmask"):
        yield
        return
    resource_tracker.ensure_running()  # it would unblock them when it is started
    numbers = [getattr(signal, name) for name in _SIGNALS if hasattr(signal, name)]
    before = signal.pthread_sigmask(signal.SIG_BLOCK, numbers)
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


_indexes: OpenIndexes | None = None  # of this process, if it is a worker


def _begin(opened: Callable[[], OpenIndexes]) -> None:
    """Prepare a process that searches; it ends with the server. The server's process logs what there is to say."""
    global _indexes
    for name in _SIGNALS:
        if hasattr(signal, name):
            signal.signal(getattr(signal, name), signal.SIG_IGN)
    threading.Thread(target=_end_with_server, daemon=True).start()
    logging.getLogger("semsearch").addHandler(logging.NullHandler())
    _indexes = opened()
    _indexes.warm_up()


def _end_with_server() -> None:
    server = multiprocessing.parent_process()
    if server is not None:
        with suppress(OSError):
            connection.wait([server.sentinel])
        os._exit(1)


def _answered(answer: Answer[Item], items: Sequence[Item]) -> list[bytes] | ProblemDetails:
    assert _indexes is not None  # set when the process began
    try:
        return answer(_indexes, items)
    except SemsearchError as error:
        return problem_of(error)
