"""A lock that is given to those who wait for it in the order in which they came.

A thread that gives back an ordinary lock and takes it again at once nearly always gets it, however long others wait.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager
from threading import Lock


class Turns:
    """A lock, first come, first served. It is not reentrant."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._is_taken = False
        self._waiting: deque[Lock] = deque()  # one for each who waits, released when it is their turn

    @contextmanager
    def turn(self) -> Iterator[None]:
        """Hold the lock while the block runs."""
        self._take()
        try:
            yield
        finally:
            self._give()

    def _take(self) -> None:
        with self._lock:
            if not self._is_taken:
                self._is_taken = True
                return
            mine = Lock()
            mine.acquire()
            self._waiting.append(mine)
        mine.acquire()  # it is passed on: nobody who comes later can be before

    def _give(self) -> None:
        with self._lock:
            if self._waiting:
                self._waiting.popleft().release()
            else:
                self._is_taken = False
