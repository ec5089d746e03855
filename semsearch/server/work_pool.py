"""Bounded pools of threads for slow work, and processes that search.

Work that exceeds a pool's room is refused with a Retry-After. Python computes in one thread of a process at a time, so
a server with many clients may hand its searches to processes. Its own process keeps what there is one of: the socket,
limits, access and writes. Workers read the same mapped files, and see what others write with their next transaction.
"""

from __future__ import annotations

import asyncio
import logging
import multiprocessing
import os
import signal
import threading
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ProcessPoolExecutor, ThreadPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager, suppress
from http import HTTPStatus
from multiprocessing import connection, resource_tracker
from typing import TypeVar

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
        future = asyncio.wrap_future(self.submit(work, client))
        try:
            return await asyncio.wait_for(future, self._seconds)
        except TimeoutError:
            if future.done() and not future.cancelled():
                raise  # the function's own
            detail = f"the request took longer than {self._seconds:g} seconds"
            raise refused(HTTPStatus.SERVICE_UNAVAILABLE, detail, retry_after=5) from None

    def submit(self, work: Callable[[], Result], client: str | None) -> Future[Result]:
        """Start a function in a thread, if there is room. Raises RequestRefused."""
        key = client or ""
        with self._lock:
            if self._taken.total() >= self._room:
                raise refused(HTTPStatus.SERVICE_UNAVAILABLE, "the server is overloaded; try again", retry_after=1)
            if client is not None and self._taken[key] >= self._share:
                detail = f"this client already has {self._share} requests in progress; wait for them"
                raise refused(HTTPStatus.TOO_MANY_REQUESTS, detail, retry_after=1)
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


# -- Processes ---------------------------------------------------------------------------------------------------------

_LOG = logging.getLogger(__name__)
_TRIES = 2  # a search may end a process, as for lack of memory; then it is given to new ones once more
_SECONDS = 60.0  # that a search may take, with the start of a process
_SIGNALS = ("SIGINT", "SIGTERM", "SIGHUP", "SIGBREAK")


class Workers:
    """So many processes that search, each with indexes of its own. Threads may share them.

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

    def answer(self, answer: Callable[[OpenIndexes, Item], bytes], item: Item) -> bytes:
        """Let a process answer a request. Raises RequestRefused: its problem, or that processes end."""
        for _ in range(_TRIES):
            processes = self._processes
            if processes is None:
                break
            try:
                with _signals_blocked():
                    future = processes.submit(_answered, answer, item)
                body = future.result(_SECONDS)
            except (BrokenProcessPool, RuntimeError) as error:
                if not isinstance(error, BrokenProcessPool) and processes is self._processes:
                    raise
                self._replace(processes)
                continue
            if isinstance(body, ProblemDetails):
                raise RequestRefused(body)
            return body
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


def _answered(answer: Callable[[OpenIndexes, Item], bytes], item: Item) -> bytes | ProblemDetails:
    assert _indexes is not None  # set when the process began
    try:
        return answer(_indexes, item)
    except SemsearchError as error:
        return problem_of(error)
