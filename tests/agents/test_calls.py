"""Requests that take time: answered together, cancelled, too late, too many, finished at the end."""

from __future__ import annotations

import threading
from queue import Queue
from typing import Any

from semsearch.agents.stdio_transport import Calls

LATE, REFUSED = {"late": True}, {"refused": True}


def held(release: threading.Event, answer: Any) -> Any:
    """What answers once it is released."""
    release.wait(30)
    return answer


def test_a_quick_request_is_answered_while_a_slow_one_runs() -> None:
    sent: Queue[Any] = Queue()
    calls, release = Calls(sent.put, seconds=60), threading.Event()
    calls.begin(1, lambda: held(release, {"slow": True}), late=LATE, refused=REFUSED)
    calls.begin(2, lambda: {"quick": True}, late=LATE, refused=REFUSED)
    assert sent.get(timeout=30) == {"quick": True}
    release.set()
    assert sent.get(timeout=30) == {"slow": True}
    calls.drain()
    assert sent.empty()


def test_a_cancelled_request_is_not_answered() -> None:
    sent: Queue[Any] = Queue()
    calls, release = Calls(sent.put, seconds=60), threading.Event()
    calls.begin("a", lambda: held(release, {"a": True}), late=LATE, refused=REFUSED)
    calls.cancel("b")
    calls.cancel("a")
    calls.cancel("a")
    release.set()
    calls.drain()
    assert sent.empty()


def test_an_id_is_not_taken_for_one_of_another_kind() -> None:
    sent: Queue[Any] = Queue()
    calls, release = Calls(sent.put, seconds=60), threading.Event()
    calls.begin(1, lambda: held(release, {"done": True}), late=LATE, refused=REFUSED)
    calls.cancel("1")
    calls.cancel(True)
    release.set()
    assert sent.get(timeout=30) == {"done": True}


def test_a_request_that_takes_too_long_is_answered_once_by_that() -> None:
    sent: Queue[Any] = Queue()
    calls, release = Calls(sent.put, seconds=0.01), threading.Event()
    calls.begin(1, lambda: held(release, {"done": True}), late=LATE, refused=REFUSED)
    assert sent.get(timeout=30) == LATE
    calls.drain()
    assert calls.is_busy
    release.set()
    assert sent.empty()


def test_more_requests_than_there_is_room_for_are_refused_and_later_ones_taken() -> None:
    sent: Queue[Any] = Queue()
    calls, release = Calls(sent.put, seconds=60, room=2), threading.Event()
    for number in range(3):
        calls.begin(number, lambda: held(release, {"done": True}), late=LATE, refused=REFUSED)
    assert sent.get(timeout=30) == REFUSED
    release.set()
    assert [sent.get(timeout=30), sent.get(timeout=30)] == [{"done": True}] * 2
    calls.begin(4, lambda: {"again": True}, late=LATE, refused=REFUSED)
    assert sent.get(timeout=30) == {"again": True}
