"""Work in threads: results in order, and calls with a deadline.

NumPy, SciPy and FAISS let other threads run while they compute. A deadline is for calls that may never return, as to
a network disk whose server is gone.
"""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Generic, Protocol, TypeVar

if TYPE_CHECKING:
    from concurrent.futures import Future

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
    from concurrent.futures import ThreadPoolExecutor  # start-up time: a short process works in one thread

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
    from concurrent.futures import ThreadPoolExecutor  # start-up time, as above

    with ThreadPoolExecutor(1) as pool:
        yield pool.submit(work).result


# -- Deadline ----------------------------------------------------------------------------------------------------------


class Begun(Generic[Result]):
    """A call that runs in a thread of its own, which may be given up, and does not keep the program from ending."""

    def __init__(self, call: Callable[[], Result]) -> None:
        self._returned: list[Result] = []
        self._raised: list[BaseException] = []
        self._call = call
        self._thread = threading.Thread(target=self._run, daemon=True, name="semsearch-deadline")
        self._thread.start()

    def _run(self) -> None:
        try:
            self._returned.append(self._call())
        except BaseException as error:
            self._raised.append(error)

    def result(self, seconds: float | None = None) -> Result:
        """Return what the call returns, or raise what it raises; raise TimeoutError if that takes longer from now.

        Without a number of seconds, as long as it takes.
        """
        self._thread.join(seconds)
        if self._returned:
            return self._returned[0]
        if self._raised:
            raise self._raised[0]
        raise TimeoutError(f"no answer within {seconds:g} seconds")


def call_within(seconds: float, call: Callable[[], Result]) -> Result:
    """Return what a call returns, or raise what it raises; raise TimeoutError if that takes longer than this."""
    return Begun(call).result(seconds)
