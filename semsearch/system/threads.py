"""Work in threads, with results in order. NumPy, SciPy and FAISS let other threads run while they compute."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from typing import TypeVar

Item = TypeVar("Item")
Result = TypeVar("Result")


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
