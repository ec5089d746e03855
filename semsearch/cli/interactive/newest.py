"""Work in a thread of its own on the newest request only: what was asked before and not begun is never done."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Generic, TypeVar

Request = TypeVar("Request")
_SECONDS = 1.0  # to wait at the end for what is being done


class NewestOnly(Generic[Request]):
    """A thread that does the newest of the requests. Those that come while it works replace each other."""

    def __init__(self, work: Callable[[Request], None]) -> None:
        self._work = work
        self._changed = threading.Condition()
        self._waiting: list[Request] = []  # none, or one
        self._is_closed = False
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()

    def ask(self, request: Request) -> None:
        """Have a request done as soon as may be, in place of one that waits."""
        with self._changed:
            self._waiting = [request]
            self._changed.notify()

    def close(self) -> None:
        """End the thread. What waits is not done; what is being done is waited for, but not long."""
        with self._changed:
            self._is_closed = True
            self._changed.notify()
        self._thread.join(_SECONDS)

    def _run(self) -> None:
        while (request := self._next()) is not None:
            self._work(request[0])

    def _next(self) -> list[Request] | None:
        """Wait for a request; None at the end."""
        with self._changed:
            self._changed.wait_for(lambda: self._waiting or self._is_closed)
            request, self._waiting = self._waiting, []
            return None if self._is_closed else request
