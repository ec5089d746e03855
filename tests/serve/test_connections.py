"""Clients that send or read slowly: they lose their connections, and take no place from others."""

from __future__ import annotations

import asyncio
import socket
import threading
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from pathlib import Path
from types import SimpleNamespace

import pytest
from serving import Asker, running

from semsearch.index import Index
from semsearch.serve.connection_limits import Connection, ConnectionLimits, Connections
from semsearch.serve.open_indexes import OpenIndexes
from semsearch.serve.server import ServerSettings

UNFINISHED = b"GET /v1/status HTTP/1.1\r\nHost: localhost\r\nX-Slow: "
UNBOUNDED = 1e6  # seconds: the deadline never comes


def connected(asker: Asker, sent: bytes) -> socket.socket:
    """A connection on which this was sent."""
    connection = socket.create_connection(("127.0.0.1", asker.port), timeout=60)
    connection.sendall(sent)
    return connection


def is_closed(connection: socket.socket) -> bool:
    """Whether the server closes the connection; waits for it."""
    try:
        return connection.recv(1) == b""
    except ConnectionError:
        return True


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
        while slow.recv(4096) if sent.endswith(b"\r\n\r\n") else not is_closed(slow):
            pass  # the answer comes before the body is there


def test_who_drips_headers_keeps_nobody_out(folder: Path) -> None:
    settings = ServerSettings(port=0, connections=ConnectionLimits(most=5, seconds=UNBOUNDED))
    with running(OpenIndexes(folder=folder / "indexes"), settings) as asker, ExitStack() as closing:
        slow = [closing.enter_context(connected(asker, UNFINISHED)) for _ in range(30)]
        assert [asker.get("/v1/indexes").status for _ in range(10)] == [200] * 10
        assert all(map(is_closed, slow[:20]))  # the oldest give way


def test_who_asks_on_and_on_without_reading_loses_the_connection(asker: Asker) -> None:
    whole = b"GET /v1/openapi.json HTTP/1.1\r\nHost: localhost\r\n\r\n"
    with connected(asker, whole) as deaf:
        assert is_cut_off_while_sending(deaf, whole * 100)


def test_a_connection_whose_answer_is_not_read_is_idle() -> None:
    class Transport(asyncio.Transport):
        unread = 9

        def get_extra_info(self, name: str, default: object = None) -> object:
            return default if name else None

        def get_write_buffer_size(self) -> int:
            return self.unread

    class Inner(asyncio.Protocol):
        cycle = SimpleNamespace(response_complete=False)

    async def looked() -> list[float]:
        transport = Transport()
        connection = Connection(Connections(ConnectionLimits(seconds=UNBOUNDED)), Inner())
        connection.connection_made(transport)
        found = [connection.look(now) for now in (1.0, 2.0, 3.0)]
        transport.unread = 4
        found.append(connection.look(4.0))
        transport.unread = 0
        found += [connection.look(now) for now in (5.0, 6.0)]  # the answer is made, and all of it is read
        connection.connection_lost(None)
        return found

    assert asyncio.run(looked()) == [1.0, 1.0, 1.0, 4.0, 5.0, 6.0]


def test_an_answer_that_takes_longer_than_the_deadline_is_waited_for(folder: Path) -> None:
    class Held(OpenIndexes):
        go = threading.Event()

        def get(self, name: str | None) -> Index:
            self.go.wait()
            return super().get(name)

    settings = ServerSettings(port=0, connections=ConnectionLimits(seconds=0.1))
    held = Held(folder=folder / "indexes")
    with running(held, settings) as asker, ThreadPoolExecutor(1) as client:
        waiting = client.submit(asker.get, "/v1/status", index="docs")
        for _ in range(3):
            with connected(asker, UNFINISHED) as slow:  # this one's deadline comes
                assert is_closed(slow)
        held.go.set()
        assert waiting.result().status == 200
