"""Bodies of requests: JSON of a bounded size, within a bounded time."""

from __future__ import annotations

import asyncio

import pytest

pytest.importorskip("starlette", reason="an optional dependency")

from starlette.requests import Request
from starlette.types import Message

from semsearch.serve.application import BodyLimits, json_body
from semsearch.serve.problem_details import RequestRefused

HEADERS = [(b"content-type", b"application/json; charset=utf-8")]


def read(pieces: list[bytes], limits: BodyLimits, *, ends: bool = True) -> object:
    """Read a body that comes in pieces, without a length; one that does not end keeps one waiting."""
    waiting = list(pieces)

    async def receive() -> Message:
        if not waiting and not ends:
            await asyncio.Event().wait()
        return {
            "type": "http.request",
            "body": waiting.pop(0) if waiting else b"",
            "more_body": bool(waiting) or not ends,
        }

    request = Request({"type": "http", "method": "POST", "headers": HEADERS}, receive)
    return asyncio.run(json_body(request, limits))


def test_a_body_in_pieces_is_put_together() -> None:
    assert read([b'{"a"', b": 1", b"}"], BodyLimits()) == {"a": 1}


def test_one_that_grows_too_large_is_refused() -> None:
    assert read([b"[1,", b"2]"], BodyLimits(size=5)) == [1, 2]
    with pytest.raises(RequestRefused, match="more than 4 bytes") as refused:
        read([b"[1,", b"2]"], BodyLimits(size=4))
    assert int(refused.value.problem.status) == 413


def test_one_that_does_not_come_is_refused() -> None:
    with pytest.raises(RequestRefused, match=r"was not received within 0\.01 seconds") as refused:
        read([b"["], BodyLimits(seconds=0.01), ends=False)
    assert int(refused.value.problem.status) == 408
