"""The running server: a socket, and uvicorn for HTTP, in this process or in several."""

from __future__ import annotations

import multiprocessing
import multiprocessing.connection
import os
import socket
import threading
from collections.abc import Callable, Set
from contextlib import closing
from dataclasses import dataclass
from functools import partial

import uvicorn
from starlette.applications import Starlette
from uvicorn.supervisors import Multiprocess

from semsearch.errors import UsageError
from semsearch.server.access import LOOPBACK_NAMES, AccessRules, is_address
from semsearch.server.application import Application, Guarded, reading_posts
from semsearch.server.open_indexes import OpenIndexes
from semsearch.server.operations import Engine
from semsearch.server.work_pool import WorkPool
from semsearch.system.http_requests import is_loopback

PORT = 8765
MCP_PATH = "/mcp"
_LAST_PORT = 65_535
_MOST_THREADS = 8  # an index keeps as many connections
_MOST_CONNECTIONS = 1000  # beyond them, requests get 503
_BACKLOG = 512
_MOST_WRITES = 16  # writes that run or wait, and as many pictures
_MOST_HEAD = 32_768  # bytes of a request line and its headers
_ALL = ("", "0.0.0.0", "::")  # all interfaces of the machine


@dataclass(frozen=True, slots=True)
class ServerSettings:
    """The address and the limits of a server. The defaults serve the user of this machine."""

    host: str = "127.0.0.1"
    port: int = PORT  # 0: any that is free
    allowed_hosts: tuple[str, ...] = ()  # names besides its own
    always_token: bool = False
    room: int = 128  # requests running or waiting
    share: int = 32  # of them, per client on another machine
    seconds: float = 30.0  # time limit of a request
    write_seconds: float = 600.0  # time limit of a write

    def rules(self, token: str, reading_posts: Set[str]) -> AccessRules:
        """The access rules of these settings."""
        host = set() if self.host in _ALL else {self.host.lower()}
        return AccessRules(
            token,
            LOOPBACK_NAMES | host | {name.lower() for name in self.allowed_hosts},
            by_address=self.host in _ALL,
            always_token=self.always_token,
            reading_posts=frozenset(reading_posts),
        )


def listen(settings: ServerSettings) -> socket.socket:
    """Open the socket. Clients that connect from now on wait until the server runs. Raises UsageError."""
    if not 0 <= settings.port <= _LAST_PORT:
        raise UsageError(f"the port must be from 0 to {_LAST_PORT}, not {settings.port}")
    family = socket.AF_INET6 if ":" in settings.host else socket.AF_INET
    try:
        listening = socket.create_server((settings.host, settings.port), family=family, backlog=_BACKLOG)
    except OSError as error:
        reason = str(error.strerror or error).partition(" (while")[0]  # Python adds the address
        raise UsageError(
            f"cannot listen on {settings.host} port {settings.port} ({reason}); choose another with --host or --port"
        ) from error
    listening.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)  # or a body waits 40 ms for its head's receipt
    return listening


def address(listening: socket.socket) -> str:
    """The URL at which the server is reached on this machine."""
    host, port = listening.getsockname()[:2]
    shown = "127.0.0.1" if host == "0.0.0.0" else "::1" if host == "::" else host
    return f"http://[{shown}]:{port}" if ":" in shown else f"http://{shown}:{port}"


def is_open_to_others(settings: ServerSettings) -> bool:
    """Return whether other machines can reach the server."""
    return not (settings.host == "localhost" or (is_address(settings.host) and is_loopback(settings.host)))


def make_engine(indexes: OpenIndexes, settings: ServerSettings) -> Engine:
    """The pools of a server. One write and one picture at a time: an index has one writer, and PDFium one thread."""
    threads = min(_MOST_THREADS, max(2, os.cpu_count() or 1))  # more of them only wait for each other
    asking = WorkPool(threads=threads, room=settings.room, share=settings.share, seconds=settings.seconds)
    return Engine(
        indexes,
        asking,
        writing=WorkPool(threads=1, room=_MOST_WRITES, share=_MOST_WRITES, seconds=settings.write_seconds),
        drawing=WorkPool(threads=1, room=_MOST_WRITES, share=_MOST_WRITES // 2, seconds=settings.seconds),
    )


def make_application(
    indexes: OpenIndexes, settings: ServerSettings, token: str, *, mcp: Starlette | None = None
) -> Guarded:
    """The guarded application of these indexes, for one process. `mcp` is the application for agents, at /mcp."""
    rules = settings.rules(token, {*reading_posts(), MCP_PATH})
    return Guarded(Application(make_engine(indexes, settings), mcp), rules)


def configuration(application: Guarded | Callable[[], Guarded], workers: int) -> uvicorn.Config:
    """The configuration of uvicorn for an application, or a function that makes one in each of several processes."""
    return uvicorn.Config(
        application,
        factory=workers > 0,
        workers=workers or None,
        http="h11",
        h11_max_incomplete_event_size=_MOST_HEAD,
        lifespan="on",
        ws="none",
        log_config=None,
        access_log=False,
        proxy_headers=False,  # headers of a proxy about its client are not trusted
        server_header=False,
        limit_concurrency=_MOST_CONNECTIONS,
        timeout_graceful_shutdown=5,
    )


def run_processes(application: Callable[[], Guarded], listening: socket.socket, workers: int) -> None:
    """Serve by so many processes, each with an application of its own, until a signal; the dead are replaced."""
    Multiprocess(configuration(application, workers), [listening]).run()


def end_with_parent() -> None:
    """End this process when its parent ends, for whatever reason."""
    parent = multiprocessing.parent_process()
    if parent is not None:
        ended = partial(multiprocessing.connection.wait, [parent.sentinel])
        threading.Thread(target=lambda: (ended(), os._exit(1)), daemon=True).start()


class RunningServer:
    """A server on a socket, in this process. `run` serves until `stop` is called by another thread, or by a signal."""

    def __init__(
        self,
        indexes: OpenIndexes,
        settings: ServerSettings,
        token: str,
        listening: socket.socket,
        *,
        mcp: Starlette | None = None,
    ) -> None:
        self._listening = listening
        self._server = uvicorn.Server(configuration(make_application(indexes, settings, token, mcp=mcp), workers=0))

    def run(self) -> None:
        """Serve until `stop` is called."""
        with closing(self._listening):
            self._server.run(sockets=[self._listening])

    def stop(self) -> None:
        """Let `run` finish its requests and return."""
        self._server.should_exit = True
