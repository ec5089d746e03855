"""MCP over pipes: a line is a message. Requests are answered while others still run.

Only messages go into the output pipe: descriptors 0 and 1 are taken from the rest of the process, so that output of a
Python or C library or a child process goes to standard error, and standard input is empty for them. Slow requests run
in a few threads, each with a deadline, unless the client cancels them.
"""

from __future__ import annotations

import os
import select
import sys
import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, BinaryIO

from semsearch.agents.jsonrpc import (
    INVALID_REQUEST,
    Json,
    RequestId,
    RpcError,
    RpcInvalid,
    RpcMessage,
    RpcNotification,
    RpcRequest,
    error_answer,
    message_of,
    parse,
    to_line,
)
from semsearch.agents.protocol import (
    BATCHES,
    BY_HANDSHAKE,
    SLOW,
    AgentProtocol,
    agreed,
    check_stateless,
    is_stateless,
    said_version,
)

if TYPE_CHECKING:
    from concurrent.futures import ThreadPoolExecutor

# -- Pipes -------------------------------------------------------------------------------------------------------------

_STDIN, _STDOUT, _STDERR = 0, 1, 2
_MOST = 4_000_000  # bytes of a line


class TooLong(ValueError):
    """A line that exceeds the size limit."""


class ClientGone(OSError):
    """The client no longer reads answers."""


class MessagePipes:
    """Reads lines from one descriptor, and writes whole lines to another. Threads may write concurrently."""

    def __init__(self, reading: int, writing: int, *, most: int = _MOST) -> None:
        self._lines: BinaryIO = os.fdopen(reading, "rb")
        self._writing = writing
        self._most = most
        self._lock = threading.Lock()

    @classmethod
    def of_this_process(cls) -> MessagePipes:
        """Reserve standard input and output for messages."""
        sys.stdout.flush()
        reading, writing = os.dup(_STDIN), os.dup(_STDOUT)  # which no child process inherits
        nothing = os.open(os.devnull, os.O_RDONLY)
        os.dup2(nothing, _STDIN)
        os.dup2(_STDERR, _STDOUT)
        os.close(nothing)
        return cls(reading, writing)

    def close(self) -> None:
        """Close both descriptors."""
        self._lines.close()
        os.close(self._writing)

    def read(self) -> bytes | None:
        """Read the next line; None at the end. Raises TooLong, after which reading continues with the next line."""
        line = self._lines.readline(self._most + 1)
        if len(line) <= self._most:
            return line or None
        while line and not line.endswith(b"\n"):
            line = self._lines.readline(self._most)
        raise TooLong(f"a message may have at most {self._most:,} bytes")

    def write(self, message: bytes) -> None:
        """Write a message and its line end. Raises ClientGone."""
        with self._lock:
            rest = memoryview(message + b"\n")
            while rest:
                rest = rest[self._written(rest) :]

    def _written(self, data: memoryview) -> int:
        try:
            return os.write(self._writing, data)
        except BlockingIOError:  # the client may have made its shared end of the pipe non-blocking
            select.select([], [self._writing], [])
            return 0
        except OSError as error:
            raise ClientGone(str(error)) from error


# -- Running calls -----------------------------------------------------------------------------------------------------

Answer = Json | list[Json]
_THREADS = 4  # a model sends only a few requests at once


@dataclass(eq=False)
class RunningCall:
    """A request in progress. Whoever takes it first wins: its answer, its deadline, or the client."""

    id: RequestId | None  # None: of a batch
    timer: threading.Timer
    _lock: threading.Lock = field(default_factory=threading.Lock)
    _is_over: bool = False

    def take(self) -> bool:
        """Return whether nobody else has answered or cancelled the request."""
        with self._lock:
            was_over, self._is_over = self._is_over, True
        self.timer.cancel()
        return not was_over


class Calls:
    """The requests in progress. `send` gets each answer; at most `room` of them run or wait."""

    def __init__(self, send: Callable[[Answer], None], *, seconds: float, room: int = 64) -> None:
        self._send, self._seconds, self._room = send, seconds, room
        self._executor: ThreadPoolExecutor | None = None  # until there is something to do
        self._changed = threading.Condition()
        self._running: list[RunningCall] = []
        self._at_work = 0

    @property
    def is_busy(self) -> bool:
        """True while a thread works on an answer, even a cancelled or late one."""
        with self._changed:
            return self._at_work > 0

    def begin(self, id_: RequestId | None, answer: Callable[[], Answer], *, late: Answer, refused: Answer) -> None:
        """Start a request. `late` is sent after the deadline, `refused` if there is no room."""
        call = RunningCall(id_, threading.Timer(self._seconds, lambda: self._finish(call, late)))
        call.timer.daemon = True
        with self._changed:
            has_room = len(self._running) < self._room
            if has_room:
                self._running.append(call)
        if not has_room:
            self._send(refused)
            return
        call.timer.start()
        self._threads().submit(self._work, call, answer)

    def _threads(self) -> ThreadPoolExecutor:
        """The threads, started when first needed, by the thread that starts requests."""
        if self._executor is None:
            from concurrent.futures import ThreadPoolExecutor  # start-up time: a handshake needs none

            self._executor = ThreadPoolExecutor(_THREADS, thread_name_prefix="semsearch")
        return self._executor

    def _work(self, call: RunningCall, answer: Callable[[], Answer]) -> None:
        with self._changed:
            self._at_work += 1
        try:
            self._finish(call, answer())
        finally:
            with self._changed:
                self._at_work -= 1

    def cancel(self, id_: RequestId) -> None:
        """Send no answer to a request. Running work continues to its end."""
        with self._changed:
            meant = [call for call in self._running if call.id == id_ and type(call.id) is type(id_)]
        for call in meant:
            call.take()
            self._forget(call)

    def _finish(self, call: RunningCall, answer: Answer) -> None:
        if call.take():
            try:
                self._send(answer)
            finally:
                self._forget(call)

    def _forget(self, call: RunningCall) -> None:
        with self._changed:
            if call in self._running:
                self._running.remove(call)
            self._changed.notify_all()

    def drain(self) -> None:
        """Wait until all are answered, at most until their deadlines, and take no more."""
        with self._changed:
            self._changed.wait_for(lambda: not self._running)
        if self._executor is not None:
            self._executor.shutdown(wait=False, cancel_futures=True)


# -- The server --------------------------------------------------------------------------------------------------------

_REFUSED = "too many requests in progress; wait for some of them"


class StdioServer:
    """Answers one client, until its pipe closes. `seconds` is the time limit of a request."""

    def __init__(self, protocol: AgentProtocol, pipes: MessagePipes, *, seconds: float) -> None:
        self._protocol, self._pipes = protocol, pipes
        self._late = f"the request took longer than {seconds:g} seconds"
        self._calls = Calls(self._send, seconds=seconds)
        self._version = BY_HANDSHAKE[-1]  # until a handshake agrees on another
        self._is_client_gone = False

    @property
    def is_busy(self) -> bool:
        """True while a late or cancelled request still runs."""
        return self._calls.is_busy

    def run(self) -> None:
        """Answer until the client closes its pipe; then finish the requests in progress."""
        while not self._is_client_gone and (line := self._next()) is not None:
            if line.strip():
                self._take(line)
        self._calls.drain()

    def _next(self) -> bytes | None:
        """The next line; a blank one for one that was too long."""
        try:
            return self._pipes.read()
        except TooLong as error:
            self._send(error_answer(None, RpcError(INVALID_REQUEST, str(error))))
            return b" "

    def _take(self, line: bytes) -> None:
        try:
            value = parse(line)
        except RpcError as error:
            self._send(error_answer(None, error))
            return
        if isinstance(value, list) and value and self._version in BATCHES:
            self._take_batch([message_of(each) for each in value])
        else:
            self._take_message(value)

    def _take_batch(self, messages: list[RpcMessage]) -> None:
        """Answer the requests of a batch together. They cannot be cancelled individually."""
        version = self._version
        requests = [each for each in messages if isinstance(each, RpcRequest)]
        self._calls.begin(
            None,
            lambda: self._protocol.answer_batch(messages, version),
            late=[self._protocol.refusal(each, version, self._late) for each in requests],
            refused=[self._protocol.refusal(each, version, _REFUSED) for each in requests],
        )

    def _take_message(self, value: Any) -> None:
        match message_of(value):
            case RpcInvalid(answer):
                self._send(answer)
            case RpcNotification("notifications/cancelled", params):
                self._calls.cancel(params.get("requestId", ""))
            case RpcRequest() as request:
                self._take_request(request)

    def _take_request(self, request: RpcRequest) -> None:
        try:
            version = self._version_of(request)
        except RpcError as error:
            self._send(error_answer(request.id, error))
            return
        if request.method not in SLOW:
            self._send(self._protocol.answer(request, version))
            return
        self._calls.begin(
            request.id,
            lambda: self._protocol.answer(request, version),
            late=self._protocol.refusal(request, version, self._late),
            refused=self._protocol.refusal(request, version, _REFUSED),
        )

    def _version_of(self, request: RpcRequest) -> str:
        if is_stateless(request.params) or request.method == "server/discover":
            version = said_version(request.params)
            check_stateless(version)
            return version
        if request.method == "initialize":
            self._version = agreed(request.params.get("protocolVersion"))
        return self._version

    def _send(self, answer: Json | list[Json]) -> None:
        if answer == []:
            return  # of a batch without requests
        try:
            self._pipes.write(to_line(answer))
        except ClientGone:
            self._is_client_gone = True
