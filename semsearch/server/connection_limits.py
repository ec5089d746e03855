"""Limits on connections that uvicorn does not have: one that is idle, drips in, or reads no answers is closed after a
deadline, as is one on which more requests wait than a head may have bytes; where all places are taken, the longest
idle one gives way. Endless heads are refused by h11 (431).
"""

from __future__ import annotations

import asyncio
import sys
from dataclasses import dataclass
from functools import partial
from typing import Any

import h11
from uvicorn.protocols.http.h11_impl import H11Protocol

HEAD_BYTES = 32_768  # of a request line and its headers, as h11 counts them
_TOO_LARGE = 431
_REFUSAL = b"HTTP/1.1 431 Request Header Fields Too Large\r\ncontent-length: 0\r\nconnection: close\r\n\r\n"


@dataclass(frozen=True, slots=True)
class ConnectionLimits:
    """How many connections there may be, and how long one may be idle."""

    most: int = 900
    seconds: float = 10.0  # without progress; twice as long for the body of a request


class LimitedConnection(H11Protocol):
    """uvicorn's protocol of a connection, and since when nothing has moved on it."""

    def __init__(self, limits: ConnectionLimits, **uvicorn: Any) -> None:
        super().__init__(**uvicorn)
        self._limits = limits
        self._seen: tuple[object, int] = (None, 0)  # the request and the unread bytes of the answer, at the last look
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

    def on_response_complete(self) -> None:
        self.idle_since = self.loop.time()
        if self.conn.their_state is h11.DONE and len(self.conn.trailing_data[0]) > HEAD_BYTES:
            self.transport.close()  # requests by the thousand wait behind this one, and would be answered to nobody
        super().on_response_complete()

    def send_400_response(self, msg: str) -> None:
        error = sys.exception()
        if isinstance(error, h11.RemoteProtocolError) and error.error_status_hint == _TOO_LARGE:
            self.transport.write(_REFUSAL)
            self.transport.close()
        else:
            super().send_400_response(msg)

    @property
    def is_answering(self) -> bool:
        """Whether a complete request is waiting for its answer."""
        return self.cycle is not None and not self.cycle.response_complete and not self.cycle.more_body

    def _look(self) -> None:
        """Close the connection if it has not moved for too long, as it does while an answer is made or read."""
        now, unread = self.loop.time(), self.transport.get_write_buffer_size()
        if self._seen != (self.cycle, unread) or (self.is_answering and not unread):
            self._seen, self.idle_since = (self.cycle, unread), now
        is_receiving_body = self.cycle is not None and self.cycle.more_body
        if now - self.idle_since >= self._limits.seconds * (2 if is_receiving_body else 1):
            self.transport.abort()
        else:
            self._next_look = self.loop.call_later(self._limits.seconds / 2, self._look)

    def _make_room(self) -> None:
        """Close the longest idle connection if there are too many."""
        others: list[Any] = [connection for connection in self.connections if connection is not self]
        idle = [connection for connection in others if not connection.is_answering]
        if len(others) >= self._limits.most and idle:
            longest = min(idle, key=lambda connection: connection.idle_since)
            self.connections.discard(longest)
            longest.transport.abort()


def limited(limits: ConnectionLimits) -> Any:
    """What uvicorn makes the protocol of a new connection by."""
    return partial(LimitedConnection, limits)
