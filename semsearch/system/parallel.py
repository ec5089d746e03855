"""Work in threads, in processes or on other machines: the results come in the order of the items.

NumPy, SciPy and FAISS let other threads run while they compute; reading files is Python, and pays in processes.
"""

from __future__ import annotations

import os
import signal
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent import futures
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from multiprocessing import parent_process
from threading import Event, Thread
from typing import Any, Protocol, TypeVar

from semsearch.errors import SemsearchError

Item = TypeVar("Item")
Result = TypeVar("Result")

_abandoned: ContextVar[Event | None] = ContextVar("abandoned", default=None)  # of this thread's work


class Abandoned(SemsearchError):
    """Work that nobody waits for any more, and that was not done to its end."""


def until_abandoned(work: Callable[[], Result], abandoned: Event) -> Result:
    """Do work that stops before its next item (`while_wanted`) once the event is set."""
    token = _abandoned.set(abandoned)
    try:
        return work()
    finally:
        _abandoned.reset(token)


def while_wanted(items: Iterable[Item]) -> Iterator[Item]:
    """The items, as long as somebody waits for this thread's work. Raises Abandoned."""
    for item in items:
        abandoned = _abandoned.get()
        if abandoned is not None and abandoned.is_set():
            raise Abandoned("nobody waits for this any more")
        yield item


class Executor(Protocol):
    """Other processes or machines that do the same work on many items at once; work and items are pickled."""

    def in_order(self, work: Callable[[Item], Result], items: Iterable[Item]) -> Iterator[Result]:
        """Like `map(work, items)`: the results come in the order of the items, and do not depend on who did the work.

        Closing the iterator ends what was begun.
        """

    def close(self) -> None:
        """Leave the other machines, which go on without this process."""


def _in_order(
    pool: futures.Executor, work: Callable[[Item], Result], items: Iterable[Item], *, ahead: int
) -> Iterator[Result]:
    """Like `map(work, items)`, by a pool that is given at most so many items before their turn."""
    waiting: deque[Future[Result]] = deque()
    try:
        for item in items:
            waiting.append(pool.submit(work, item))
            if len(waiting) > ahead:
                yield waiting.popleft().result()
        while waiting:
            yield waiting.popleft().result()
    finally:
        for future in waiting:
            future.cancel()


# -- Threads -----------------------------------------------------------------------------------------------------------


def in_order(work: Callable[[Item], Result], items: Iterable[Item], *, threads: int) -> Iterator[Result]:
    """Like `map(work, items)`, but in `threads` threads, each at most one item ahead. One thread means a plain map."""
    if threads <= 1:
        yield from map(work, items)
        return
    with ThreadPoolExecutor(threads) as pool:
        yield from _in_order(pool, work, items, ahead=threads)


@contextmanager
def in_background(work: Callable[[], Result], *, threads: int) -> Iterator[Callable[[], Result]]:
    """Run `work` in a second thread inside the `with` block, which gets a function that returns the result.

    Leaving the block waits for the thread. With `threads` = 1, `work` runs before the block.
    """
    if threads <= 1:
        done = work()
        yield lambda: done
        return
    with ThreadPoolExecutor(1) as pool:
        yield pool.submit(work).result


# -- Processes ---------------------------------------------------------------------------------------------------------

_AHEAD = 3  # items for each process that are begun before they are needed


@dataclass(frozen=True, slots=True)
class Processes:
    """An `Executor` of fresh interpreters on this machine. They ignore Ctrl-C, and end with the iterator.

    Each receives the work once. Raises BrokenProcessPool if one dies.
    """

    processes: int

    def in_order(self, work: Callable[[Item], Result], items: Iterable[Item]) -> Iterator[Result]:
        """Like `map(work, items)`, in processes."""
        from concurrent.futures import ProcessPoolExecutor  # heavy, and only what reads many files needs it
        from multiprocessing import get_context

        pool = ProcessPoolExecutor(self.processes, get_context("spawn"), initializer=_start_worker, initargs=(work,))
        try:
            with _without_ctrl_c():
                for _ in range(self.processes):
                    pool.submit(int)  # starts a process
            yield from _in_order(pool, _carry_out, items, ahead=self.processes * _AHEAD)
        finally:
            pool.shutdown(wait=True, cancel_futures=True)

    def close(self) -> None:
        """The processes have ended with the iterator."""


@contextmanager
def _without_ctrl_c() -> Iterator[None]:
    """Processes that are started inherit that SIGINT is blocked: else they would print what Ctrl-C interrupts."""
    if not hasattr(signal, "pthread_sigmask"):  # on Windows
        yield
        return
    before = signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGINT])
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


_work: Callable[[Any], Any]  # the work of this process, if it is a worker


def _start_worker(work: Callable[[Any], Any]) -> None:
    global _work  # a worker's work lives as long as its process
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    Thread(target=_end_with_parent, daemon=True).start()
    _work = work


def _end_with_parent() -> None:
    """End this worker when the process that started it has ended, however that ended."""
    if parent := parent_process():
        parent.join()
        os._exit(1)


def _carry_out(item: Any) -> Any:
    return _work(item)
