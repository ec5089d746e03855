"""Requests that take their time: answered by a few threads, each within a deadline, unless the client cancels them."""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from semsearch.agents.jsonrpc import Json, RequestId

if TYPE_CHECKING:
    from concurrent.futures import ThreadPoolExecutor

Answer = Json | list[Json]
_THREADS = 4  # an index keeps some connections, and a model asks a few questions at once


@dataclass(eq=False)
class RunningCall:
    """A request that is being answered. Whoever takes it first wins: its answer, its deadline, or the client."""

    id: RequestId | None  # None: of a batch
    timer: threading.Timer
    _lock: threading.Lock = field(default_factory=threading.Lock)
    _is_over: bool = False

    def take(self) -> bool:
        """Return whether nobody else has answered or cancelled the request."""
        with self._lock:
            was_over, self._is_over = self._is_over, True
        self.timer.cancel()
        return not was_over


class Calls:
    """The requests that are being answered. `send` is given each answer; at most `room` of them run or wait."""

    def __init__(self, send: Callable[[Answer], None], *, seconds: float, room: int = 64) -> None:
        self._send, self._seconds, self._room = send, seconds, room
        self._executor: ThreadPoolExecutor | None = None  # until there is something to do
        self._changed = threading.Condition()
        self._running: list[RunningCall] = []
        self._at_work = 0

    @property
    def is_busy(self) -> bool:
        """True while a thread works at an answer, also at one that is not waited for any more."""
        with self._changed:
            return self._at_work > 0

    def begin(self, id_: RequestId | None, answer: Callable[[], Answer], *, late: Answer, refused: Answer) -> None:
        """Have a request answered. `late` is sent if that takes too long, `refused` if there is no room."""
        call = RunningCall(id_, threading.Timer(self._seconds, lambda: self._finish(call, late)))
        call.timer.daemon = True
        with self._changed:
            has_room = len(self._running) < self._room
            if has_room:
                self._running.append(call)
        if not has_room:
            self._send(refused)
            return
        call.timer.start()
        self._threads().submit(self._work, call, answer)

    def _threads(self) -> ThreadPoolExecutor:
        """The threads, started now if they are not yet. Only the thread that begins requests asks for them."""
        if self._executor is None:
            from concurrent.futures import ThreadPoolExecutor  # start-up time: a handshake needs none

            self._executor = ThreadPoolExecutor(_THREADS, thread_name_prefix="semsearch")
        return self._executor

    def _work(self, call: RunningCall, answer: Callable[[], Answer]) -> None:
        with self._changed:
            self._at_work += 1
        try:
            self._finish(call, answer())
        finally:
            with self._changed:
                self._at_work -= 1

    def cancel(self, id_: RequestId) -> None:
        """Send no answer to a request. What runs already runs to its end."""
        with self._changed:
            meant = [call for call in self._running if call.id == id_ and type(call.id) is type(id_)]
        for call in meant:
            call.take()
            self._forget(call)

    def _finish(self, call: RunningCall, answer: Answer) -> None:
        if call.take():
            try:
                self._send(answer)
            finally:
                self._forget(call)

    def _forget(self, call: RunningCall) -> None:
        with self._changed:
            if call in self._running:
                self._running.remove(call)
            self._changed.notify_all()

    def drain(self) -> None:
        """Wait until all are answered, which their deadline bounds, and take no more."""
        with self._changed:
            self._changed.wait_for(lambda: not self._running)
        if self._executor is not None:
            self._executor.shutdown(wait=False, cancel_futures=True)
