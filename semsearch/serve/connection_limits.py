"""Limits on open connections: a client that sends or reads slowly keeps its connection only so long.

A connection that is not being answered, since it is idle, its headers drip in, or nobody reads what was sent, is
closed after a deadline. Where all places are taken, or those that one client may have, the longest idle one gives way
to the new one. The time to receive a body is limited where it is read (semsearch.serve.application), the time to
answer in the pool of threads.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterable
from typing import Any, cast

from semsearch.frozen import dataclass
from semsearch.serve.access import is_loopback

_EACH = 0.5  # of the deadline: how often connections are looked at
_MOST_WAITING = 64  # requests that a client may send before the first is answered; uvicorn queues any number


@dataclass(frozen=True, slots=True)
class ConnectionLimits:
    """How many connections there may be, how many of one client on another machine, and how long one may be idle."""

    most: int = 900
    share: int = 225
    seconds: float = 10.0


class Connections:
    """The open connections of a server. Its methods are called in the thread of the server's event loop."""

    def __init__(self, limits: ConnectionLimits) -> None:
        self._limits = limits
        self._open: dict[Connection, None] = {}  # oldest first
        self._next_look: asyncio.TimerHandle | None = None

    def protocol(self, **given: Any) -> asyncio.Protocol:
        """Make the protocol of a new connection, as uvicorn asks for one."""
        from uvicorn.protocols.http.auto import AutoHTTPProtocol  # an optional dependency

        return Connection(self, AutoHTTPProtocol(**given))

    def add(self, connection: Connection) -> None:
        """Take in a new connection; the longest idle one gives way to it if there are too many."""
        client = connection.client
        own = [] if client is None or is_loopback(client) else [one for one in self._open if one.client == client]
        if len(own) >= self._limits.share:
            _close_longest_idle(own)
        elif len(self._open) >= self._limits.most:
            _close_longest_idle(self._open)
        self._open[connection] = None
        if self._next_look is None:
            self._look_later()

    def remove(self, connection: Connection) -> None:
        """Forget a connection that was closed."""
        self._open.pop(connection, None)
        if not self._open and self._next_look is not None:
            self._next_look.cancel()
            self._next_look = None

    def _look_later(self) -> None:
        loop = asyncio.get_running_loop()
        self._next_look = loop.call_later(self._limits.seconds * _EACH, self._look)

    def _look(self) -> None:
        now = asyncio.get_running_loop().time()
        for connection in [*self._open]:
            if connection.look(now) <= now - self._limits.seconds:
                connection.close()
        self._look_later()


class Connection(asyncio.Protocol):
    """uvicorn's protocol of a connection, and since when nothing has moved on it."""

    def __init__(self, every: Connections, inner: Any) -> None:
        self.client: str | None = None  # the address
        self.since = asyncio.get_running_loop().time()
        self._every = every
        self._inner = inner
        self._request: object = None  # the last one with complete headers
        self._unread = 0  # bytes that the client had not read when last looked at
        self._transport: asyncio.Transport | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast("asyncio.Transport", transport)
        peer = transport.get_extra_info("peername")
        self.client = peer[0] if isinstance(peer, tuple) else None
        self._inner.connection_made(transport)
        self._every.add(self)

    def data_received(self, data: bytes) -> None:
        self._inner.data_received(data)
        if len(getattr(self._inner, "pipeline", ())) > _MOST_WAITING:
            self.close()
        elif self._inner.cycle is not self._request:
            self._request, self.since = self._inner.cycle, asyncio.get_running_loop().time()

    def eof_received(self) -> bool | None:
        return cast("bool | None", self._inner.eof_received())

    def pause_writing(self) -> None:
        self._inner.pause_writing()

    def resume_writing(self) -> None:
        self._inner.resume_writing()

    def connection_lost(self, exc: Exception | None) -> None:
        self._every.remove(self)
        self._inner.connection_lost(exc)

    @property
    def is_answering(self) -> bool:
        """Whether a request with complete headers is waiting for its answer."""
        return self._inner.cycle is not None and not self._inner.cycle.response_complete

    def look(self, now: float) -> float:
        """Look whether the connection moves, as it does while an answer is made or read, and return since when not."""
        unread = 0 if self._transport is None else self._transport.get_write_buffer_size()
        if unread != self._unread or (self.is_answering and not unread):
            self.since, self._unread = now, unread
        return self.since

    def close(self) -> None:
        """Close the connection at once."""
        self._every.remove(self)
        if self._transport is not None:
            self._transport.abort()


def _close_longest_idle(connections: Iterable[Connection]) -> None:
    """Close the connection that has been idle for the longest time; none if all are being answered."""
    idle = [one for one in connections if not one.is_answering]
    if idle:
        min(idle, key=lambda one: one.since).close()
