"""Work on batches in threads, the results in order. NumPy, SciPy and FAISS let other threads run while they count."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from typing import TypeVar

Item = TypeVar("Item")
Result = TypeVar("Result")


def in_order(work: Callable[[Item], Result], items: Iterable[Item], *, threads: int) -> Iterator[Result]:
    """`map(work, items)` by so many threads, of which each is at most one item ahead. With one, just that."""
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
    """What gives the result of `work`, which a thread does meanwhile; with one thread, it is done when it is asked for.

    Leaving waits for the thread.
    """
    if threads <= 1:
        yield work
        return
    with ThreadPoolExecutor(1) as pool:
        yield pool.submit(work).result
