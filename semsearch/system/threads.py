"""Work in threads, with results in order. NumPy, SciPy and FAISS let other threads run while they compute.

The same work may be spread over the workers of a cluster (semsearch.cluster): `Spread` is what both can do.
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


class Spread(Protocol):
    """A way to do the same work on many items at once, in threads or elsewhere."""

    @property
    def threads(self) -> int:
        """The number of threads of this process that it may use."""

    @property
    def is_elsewhere(self) -> bool:
        """Return whether the work is done by other processes, so that it has to be pickled."""

    def in_order(self, work: Callable[[Item], Result], items: Iterable[Item]) -> Iterator[Result]:
        """Like `map(work, items)`: the results come in the order of the items, and do not depend on who did the work.

        Closing the iterator ends what was begun.
        """


@dataclass(frozen=True, slots=True)
class Threads:
    """Spreads work over threads of this process; one means a plain map."""

    threads: int = 1
    is_elsewhere: bool = False

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

    Leaving the block waits for the thread. With `threads` = 1, `work` runs when the result is asked for.
    """
    if threads <= 1:
        yield work
        return
    with ThreadPoolExecutor(1) as pool:
        yield pool.submit(work).result
