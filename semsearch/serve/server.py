"""The running server: a listening socket, and uvicorn for HTTP."""

from __future__ import annotations

import os
import socket
from collections.abc import Iterable, Sequence
from dataclasses import field
from typing import TYPE_CHECKING, Any, cast

from semsearch.errors import MissingExtra, UsageError
from semsearch.frozen import dataclass
from semsearch.serve.access import LOOPBACK_NAMES, AccessRules, is_address, is_loopback
from semsearch.serve.connection_limits import ConnectionLimits
from semsearch.serve.work_pool import WorkPool

if TYPE_CHECKING:
    from uvicorn import Server

    from semsearch.serve.message_route import MessageAnswerer
    from semsearch.serve.open_indexes import OpenIndexes
    from semsearch.serve.workers import Workers

PORT = 8765
_MOST_THREADS = 8  # an index keeps as many connections
_PARALLEL = 2  # batches of searches: one computes while the other does I/O
_MOST_CONNECTIONS = 1000  # beyond them, uvicorn sheds requests; ConnectionLimits makes room before
_BACKLOG = 512
_LAST_PORT = 65_535
_WRITES = 16  # that run or wait
_PICTURES = 16  # likewise
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
    connections: ConnectionLimits = field(default_factory=ConnectionLimits)

    def rules(self, token: str, reading_posts: Sequence[str], open_paths: Iterable[str] = ()) -> AccessRules:
        """The access rules of these settings."""
        own = set() if self.host in _ALL else {self.host.lower()}
        names = {name.lower() for name in self.allowed_hosts}
        return AccessRules(
            token,
            LOOPBACK_NAMES | own | names,
            by_address=self.host in _ALL,
            always_token=self.always_token,
            reading_posts=frozenset(reading_posts),
            open_paths=frozenset(open_paths),
        )


def listen(settings: ServerSettings) -> socket.socket:
    """Open the socket. Clients that connect from now on wait until the server runs. Raises UsageError."""
    if not 0 <= settings.port <= _LAST_PORT:
        raise UsageError(f"the port must be from 0 to {_LAST_PORT}, not {settings.port}")
    family = socket.AF_INET6 if ":" in settings.host else socket.AF_INET
    try:
        listening = socket.create_server((settings.host, settings.port), family=family, backlog=_BACKLOG)
    except OSError as error:
        reason = error.strerror or error
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


def _asking(settings: ServerSettings, workers: int) -> WorkPool:
    threads = min(_MOST_THREADS, 2 + (os.cpu_count() or 1)) + workers  # as many wait for a worker's answer
    return WorkPool(threads=threads, room=settings.room, share=settings.share, seconds=settings.seconds)


def _writing(settings: ServerSettings) -> WorkPool:
    """One write at a time: an index has one writer."""
    return WorkPool(threads=1, room=_WRITES, share=_WRITES, seconds=settings.write_seconds)


def _drawing(settings: ServerSettings) -> WorkPool:
    """One picture at a time: PDFium renders one at a time."""
    return WorkPool(threads=1, room=_PICTURES, share=_PICTURES // 2, seconds=settings.seconds)


class RunningServer:
    """A server on a socket. `run` serves until `stop` is called by another thread, or by a signal."""

    def __init__(
        self,
        indexes: OpenIndexes,
        settings: ServerSettings,
        token: str,
        listening: socket.socket,
        *,
        messages: Sequence[MessageAnswerer] = (),
        workers: Workers | None = None,
    ) -> None:
        try:
            import uvicorn

            from semsearch.serve.application import Guarded, ServingEngine, make_application
            from semsearch.serve.connection_limits import Connections
        except ImportError as error:
            raise MissingExtra(error.name or "uvicorn", "serve") from None
        from semsearch.serve.application import Metrics
        from semsearch.serve.message_route import message_route
        from semsearch.serve.openapi import OPERATIONS, reading_posts
        from semsearch.serve.page.page_files import page_files, page_routes
        from semsearch.serve.request_parameters import Given
        from semsearch.serve.work_pool import RequestCombiner

        self._listening = listening
        asking = _asking(settings, 0 if workers is None else workers.number)
        combining = RequestCombiner[Given, bytes](asking, parallel=_PARALLEL if workers is None else workers.number)
        pools = asking, _writing(settings), _drawing(settings)
        self._engine = ServingEngine(indexes, *pools, Metrics(), combining, workers)
        routes = [*page_routes(), *(message_route(self._engine, each) for each in messages)]
        application = make_application(self._engine, OPERATIONS, routes=routes)
        rules = settings.rules(token, [*reading_posts(), *(each.path for each in messages)], page_files())
        guarded = Guarded(application, rules, self._engine.metrics)
        config = uvicorn.Config(
            guarded,
            http=cast("Any", Connections(settings.connections).protocol),
            lifespan="off",
            ws="none",
            log_config=None,
            access_log=False,
            proxy_headers=False,  # headers of a proxy about its client are not trusted
            server_header=False,
            limit_concurrency=_MOST_CONNECTIONS,
            timeout_graceful_shutdown=5,
        )
        self._server: Server = uvicorn.Server(config)

    def run(self) -> None:
        """Serve until `stop` is called."""
        workers = self._engine.workers
        try:
            if workers is not None:
                workers.start()
            self._server.run(sockets=[self._listening])
        finally:
            for pool in self._engine.pools:
                pool.close()
            if workers is not None:
                workers.close()
            self._listening.close()

    def stop(self) -> None:
        """Let `run` finish its requests and return."""
        self._server.should_exit = True
