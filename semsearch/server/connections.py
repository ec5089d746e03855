"""Limits on connections that uvicorn does not have: a client that sends or reads slowly, sends request heads without
end, or opens very many connections keeps them only so long, and takes no place from others.

A connection that is not being answered, since it is idle, its head or body drips in, or nobody reads what was sent, is
closed after a deadline. Where all places are taken, or those that one client may have, the longest idle one gives way.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterable
from dataclasses import dataclass
from functools import partial
from typing import Any

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

from semsearch.server.access import is_loopback

_REFUSAL = b"HTTP/1.1 431 Request Header Fields Too Large\r\ncontent-length: 0\r\nconnection: close\r\n\r\n"


@dataclass(frozen=True, slots=True)
class ConnectionLimits:
    """How many connections there may be, how many of one client on another machine, and how long one may be idle."""

    most: int = 900
    share: int = 225
    seconds: float = 10.0  # without progress; twice as long for the body of a request
    head_bytes: int = 65_536  # of a request line and headers, beside what one read brings
    head_fields: int = 200


class LimitedConnection(HttpToolsProtocol):
    """uvicorn's protocol of a connection, and since when nothing has moved on it."""

    def __init__(self, limits: ConnectionLimits, **uvicorn: Any) -> None:
        super().__init__(**uvicorn)
        self._limits = limits
        self._received = 0  # bytes since the last complete head or piece of a body
        self._is_refused = False
        self._unread = 0  # bytes that the client had not read when last looked at
        self.idle_since = self.loop.time()
        self._next_look: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        self._make_room()
        self._next_look = self.loop.call_later(self._limits.seconds / 2, self._look)

    def connection_lost(self, exc: Exception | None) -> None:
        if self._next_look is not None:
            self._next_look.cancel()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        self._received += len(data)
        super().data_received(data)
        if self._received > self._limits.head_bytes and not self.transport.is_closing():
            self._refuse_head()

    def on_header(self, name: bytes, value: bytes) -> None:
        super().on_header(name, value)
        if len(self.headers) > self._limits.head_fields:
            self._is_refused = True
            raise ValueError("too many headers")  # ends the parsing: uvicorn calls send_400_response

    def on_headers_complete(self) -> None:
        self._received = 0
        self.idle_since = self.loop.time()
        super().on_headers_complete()

    def on_body(self, body: bytes) -> None:
        self._received = 0
        super().on_body(body)

    def send_400_response(self, msg: str) -> None:
        if self._is_refused:
            self._refuse_head()
        else:
            super().send_400_response(msg)

    def _refuse_head(self) -> None:
        self.transport.write(_REFUSAL)
        self.transport.close()

    @property
    def _is_receiving_body(self) -> bool:
        return self.cycle is not None and self.cycle.more_body

    @property
    def is_answering(self) -> bool:
        """Whether a complete request is waiting for its answer."""
        return self.cycle is not None and not self.cycle.response_complete and not self.cycle.more_body

    def _look(self) -> None:
        """Close the connection if it has not moved for too long, as it does while an answer is made or read."""
        now, unread = self.loop.time(), self.transport.get_write_buffer_size()
        if unread != self._unread or (self.is_answering and not unread):
            self.idle_since, self._unread = now, unread
        if now - self.idle_since >= self._limits.seconds * (2 if self._is_receiving_body else 1):
            self.transport.abort()
        else:
            self._next_look = self.loop.call_later(self._limits.seconds / 2, self._look)

    def _make_room(self) -> None:
        """Close the longest idle connection if there are too many, of this client or in all."""
        others = [
            connection
            for connection in self.connections
            if isinstance(connection, LimitedConnection) and connection is not self
        ]
        client = self.client[0] if self.client else None
        of_client = (
            []
            if client is None or is_loopback(client)
            else [connection for connection in others if connection.is_of(client)]
        )
        if len(of_client) >= self._limits.share:
            _close_longest_idle(of_client)
        elif len(others) >= self._limits.most:
            _close_longest_idle(others)

    def is_of(self, client: str) -> bool:
        """Whether the connection is that of a client, by its address."""
        return self.client is not None and self.client[0] == client

    def abort(self) -> None:
        """Close the connection at once, and forget it."""
        self.connections.discard(self)
        self.transport.abort()


def limited(limits: ConnectionLimits) -> Any:
    """What uvicorn makes the protocol of a new connection by."""
    return partial(LimitedConnection, limits)


def _close_longest_idle(connections: Iterable[LimitedConnection]) -> None:
    """Close the connection that has been idle for the longest time; none if all are being answered."""
    idle = [connection for connection in connections if not connection.is_answering]
    if idle:
        min(idle, key=lambda connection: connection.idle_since).abort()
