"""Clients that send or read slowly, or without end: they lose their connections, and take no place from others."""

from __future__ import annotations

import socket
import threading
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, suppress
from pathlib import Path

import pytest
from serving import Asker, running

from semsearch.index import Index
from semsearch.server.open_indexes import OpenIndexes
from semsearch.server.running import ConnectionLimits, ServerSettings

UNFINISHED = b"GET /v1/status HTTP/1.1\r\nHost: localhost\r\nX-Slow: "
BODY = b"POST /v1/search HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
UNBOUNDED = 1e6  # seconds: the deadline never comes


def connected(asker: Asker, sent: bytes) -> socket.socket:
    """A connection on which this was sent."""
    connection = socket.create_connection(("127.0.0.1", asker.port), timeout=60)
    with suppress(ConnectionError):  # its deadline may have come before
        connection.sendall(sent)
    return connection


def until_closed(connection: socket.socket) -> bytes:
    """What the server sends until it closes the connection."""
    received = b""
    try:
        while piece := connection.recv(4096):
            received += piece
    except ConnectionError:
        pass
    return received


def is_cut_off_while_sending(connection: socket.socket, sent: bytes) -> bool:
    """Whether the server closes the connection while it is sent this again and again; waits for it."""
    try:
        while True:
            connection.sendall(sent)
    except ConnectionError:
        return True


@pytest.mark.parametrize("sent", [b"", UNFINISHED, UNFINISHED + b"x\r\nContent-Length: 9\r\n\r\n"])
def test_a_request_that_never_ends_loses_its_connection(folder: Path, sent: bytes) -> None:
    settings = ServerSettings(port=0, connections=ConnectionLimits(seconds=0.1))
    with running(OpenIndexes(folder=folder / "indexes"), settings) as asker, connected(asker, sent) as slow:
        until_closed(slow)


def test_a_body_that_never_ends_loses_its_connection(folder: Path) -> None:
    settings = ServerSettings(port=0, connections=ConnectionLimits(seconds=0.1))
    with running(OpenIndexes(folder=folder / "indexes"), settings) as asker:
        with connected(asker, BODY + b"Content-Length: 999\r\n\r\n{") as slow:
            until_closed(slow)
        with connected(asker, BODY + b"Transfer-Encoding: chunked\r\n\r\n") as large:
            assert is_cut_off_while_sending(large, b"10000\r\n" + b" " * 0x10000 + b"\r\n")


@pytest.mark.parametrize("line", [b"X-Header: a\r\n", b"a" * 1000])
def test_a_head_without_end_is_refused(asker: Asker, line: bytes) -> None:
    with connected(asker, UNFINISHED + line * (40_000 // len(line))) as endless:
        assert until_closed(endless).startswith(b"HTTP/1.1 431 ")
    with connected(asker, UNFINISHED + line) as endless:
        assert is_cut_off_while_sending(endless, line)


def test_requests_that_wait_by_the_thousand_are_not_all_answered(asker: Asker) -> None:
    first = b"GET /health HTTP/1.1\r\nHost: localhost\r\n\r\n"
    with connected(asker, first * 100 + first.replace(b"\r\n\r\n", b"\r\nConnection: close\r\n\r\n")) as patient:
        assert until_closed(patient).count(b"HTTP/1.1 200 ") == 101
    with socket.create_connection(("127.0.0.1", asker.port), timeout=60) as greedy:
        with suppress(ConnectionError):
            greedy.sendall(first * 20_000)
        assert until_closed(greedy).count(b"HTTP/1.1 200 ") < 20_000


def test_who_drips_headers_keeps_nobody_out(folder: Path) -> None:
    settings = ServerSettings(port=0, connections=ConnectionLimits(most=5, seconds=UNBOUNDED))
    with running(OpenIndexes(folder=folder / "indexes"), settings) as asker, ExitStack() as closing:
        slow = [closing.enter_context(connected(asker, UNFINISHED)) for _ in range(30)]
        assert [asker.get("/v1/indexes").status for _ in range(10)] == [200] * 10
        assert all(until_closed(one) == b"" for one in slow[:20])  # the oldest give way


def test_who_asks_on_and_on_without_reading_loses_the_connection(folder: Path) -> None:
    whole = b"GET /v1/openapi.json HTTP/1.1\r\nHost: localhost\r\n\r\n"
    settings = ServerSettings(port=0, connections=ConnectionLimits(seconds=0.1))
    with running(OpenIndexes(folder=folder / "indexes"), settings) as asker, connected(asker, whole) as deaf:
        assert is_cut_off_while_sending(deaf, whole * 100)


def test_an_answer_that_takes_longer_than_the_deadline_is_waited_for(folder: Path) -> None:
    class Held(OpenIndexes):
        go = threading.Event()

        def get(self, name: str | None) -> Index:
            self.go.wait()
            return super().get(name)

    settings = ServerSettings(port=0, connections=ConnectionLimits(seconds=1))  # in which the client asks
    held = Held(folder=folder / "indexes")
    with running(held, settings) as asker, ThreadPoolExecutor(1) as client:
        waiting = client.submit(asker.get, "/v1/status", index="docs")
        with connected(asker, UNFINISHED) as slow:  # this one's deadline comes
            until_closed(slow)
        held.go.set()
        assert waiting.result().status == 200
