"""A proxy for TCP between an engine and whoever asks it, which delays, cuts and swallows what passes when told to."""

from __future__ import annotations

import socket
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from types import TracebackType


class TcpProxy:
    """A proxy on a free port of this machine. A context manager.

    What passes is counted in pieces, as they come from a socket; `arm` lets something happen before a certain one.
    """

    def __init__(self, port: int) -> None:
        self.delay = 0.0  # seconds that each piece is held back
        self.pieces = 0  # that have passed since it was armed
        self._target = port
        self._trouble: tuple[int, Callable[[], None]] | None = None
        self._open = threading.Event()  # nothing passes while it is not set
        self._open.set()
        self._lock = threading.Lock()
        self._sockets: set[socket.socket] = set()
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.port = int(self._listener.getsockname()[1])
        self._threads: list[threading.Thread] = []
        self._start(self._accept)

    def arm(self, number: int, trouble: Callable[[], None]) -> None:
        """Let something happen before the piece of some number from now on, once."""
        with self._lock:
            self.pieces, self._trouble = 0, (number, trouble)

    def cut(self) -> None:
        """Cut all connections. New ones are taken."""
        with self._lock:
            cut, self._sockets = self._sockets, set()
        for one in cut:
            with suppress(OSError):
                one.shutdown(socket.SHUT_RDWR)
            one.close()

    def silence(self) -> None:
        """Let nothing pass any more, on no connection, until it is mended."""
        self._open.clear()

    def mend(self) -> None:
        """Let everything pass from now on, over new connections; what was held back is lost."""
        with self._lock:
            self._trouble = None
        self.delay = 0.0
        self.cut()
        self._open.set()

    def close(self) -> None:
        """Cut all connections, and take no new ones."""
        with suppress(OSError):
            self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()
        self.mend()
        for thread in self._threads:
            thread.join()

    def __enter__(self) -> TcpProxy:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _accept(self) -> None:
        while True:
            try:
                asking, _ = self._listener.accept()
            except OSError:
                return
            try:
                answering = socket.create_connection(("127.0.0.1", self._target))
            except OSError:  # the server is not there
                asking.close()
                continue
            with self._lock:
                self._sockets |= {asking, answering}
            self._start(lambda one=asking, other=answering: self._pass(one, other))
            self._start(lambda one=answering, other=asking: self._pass(one, other))

    def _pass(self, source: socket.socket, target: socket.socket) -> None:
        with suppress(OSError):
            while piece := source.recv(1 << 16):
                self._count()
                time.sleep(self.delay)
                self._open.wait()
                target.sendall(piece)
        for one in (source, target):  # one end is gone: so is the other
            with suppress(OSError):
                one.shutdown(socket.SHUT_RDWR)
            one.close()
            with self._lock:
                self._sockets.discard(one)

    def _count(self) -> None:
        with self._lock:
            self.pieces += 1
            trouble = self._trouble[1] if self._trouble is not None and self.pieces == self._trouble[0] else None
        if trouble is not None:
            trouble()

    def _start(self, work: Callable[[], None]) -> None:
        thread = threading.Thread(target=work, daemon=True)
        self._threads.append(thread)
        thread.start()
