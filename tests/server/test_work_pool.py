"""The pool: so many at once, so many waiting, and the rest is told to come again."""

from __future__ import annotations

import asyncio
import threading

import pytest

from semsearch.server.problems import RequestRefused
from semsearch.server.work_pool import WorkPool


def refusal(pool: WorkPool, client: str | None = None) -> tuple[int, str]:
    """The status of a refusal, and when to come again."""
    with pytest.raises(RequestRefused) as refused:
        pool.submit(lambda: None, client)
    return int(refused.value.problem.status), refused.value.problem.headers["Retry-After"]


def test_what_there_is_no_room_for_is_refused_until_there_is() -> None:
    go = threading.Event()
    pool = WorkPool(threads=1, room=2, share=2, seconds=60)
    waiting = [pool.submit(go.wait, None) for _ in range(2)]
    assert refusal(pool) == (503, "1")
    go.set()
    assert all(each.result() for each in waiting)
    pool.close()  # all callbacks have run when the threads have ended


def test_a_client_has_its_share_and_others_theirs() -> None:
    go = threading.Event()
    pool = WorkPool(threads=1, room=8, share=1, seconds=60)
    pool.submit(go.wait, "192.0.2.1")
    assert refusal(pool, "192.0.2.1") == (429, "1")
    others = [pool.submit(go.wait, client) for client in ("192.0.2.2", None, None)]
    go.set()
    assert all(each.result() for each in others)
    pool.close()


def test_what_takes_too_long_is_answered_for_and_holds_its_place() -> None:
    go = threading.Event()
    pool = WorkPool(threads=1, room=1, share=1, seconds=0.01)
    with pytest.raises(RequestRefused, match=r"longer than 0\.01 seconds") as refused:
        asyncio.run(pool.run(go.wait, None))
    assert int(refused.value.problem.status) == 503
    assert refusal(pool) == (503, "1")
    go.set()
    pool.close()
