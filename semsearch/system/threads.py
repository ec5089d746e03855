"""Work in threads: results in order.

NumPy, SciPy and FAISS let other threads run while they compute.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Protocol, TypeVar

Item = TypeVar("Item")
Result = TypeVar("Result")


class Executor(Protocol):
    """Other machines that do the same work on many items at once; work and items are pickled."""

    def in_order(self, work: Callable[[Item], Result], items: Iterable[Item]) -> Iterator[Result]:
        """Like `map(work, items)`: the results come in the order of the items, and do not depend on who did the work.

        Closing the iterator ends what was begun.
        """

    def close(self) -> None:
        """Leave the other machines, which go on without this process."""


@dataclass(frozen=True, slots=True)
class Threads:
    """Spreads work over threads of this process; one means a plain map."""

    threads: int = 1

    def in_order(self, work: Callable[[Item], Result], items: Iterable[Item]) -> Iterator[Result]:
        """Like `map(work, items)`, in threads."""
        return in_order(work, items, threads=self.threads)


def in_order(work: Callable[[Item], Result], items: Iterable[Item], *, threads: int) -> Iterator[Result]:
    """Like `map(work, items)`, but in `threads` threads, each at most one item ahead. One thread means a plain map."""
    if threads <= 1:
        yield from map(work, items)
        return
    waiting: deque[Future[Result]] = deque()
    with ThreadPoolExecutor(threads) as pool:
        try:
            for item in items:
                waiting.append(pool.submit(work, item))
                if len(waiting) > threads:
                    yield waiting.popleft().result()
            while waiting:
                yield waiting.popleft().result()
        finally:
            for future in waiting:
                future.cancel()


@contextmanager
def aside(work: Callable[[], Result], *, threads: int) -> Iterator[Callable[[], Result]]:
    """Run `work` in a second thread inside the `with` block, which gets a function that returns the result.

    Leaving the block waits for the thread. With `threads` = 1, `work` runs before the block.
    """
    if threads <= 1:
        done = work()
        yield lambda: done
        return
    with ThreadPoolExecutor(1) as pool:
        yield pool.submit(work).result
