"""The server over pipes: a line is a message. Requests are answered while others still run."""

from __future__ import annotations

from typing import Any

from semsearch.agents.jsonrpc import (
    INVALID_REQUEST,
    Json,
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
from semsearch.agents.protocol import SLOW, AgentProtocol
from semsearch.agents.transport.calls import Calls
from semsearch.agents.transport.pipes import ClientGone, MessagePipes, TooLong
from semsearch.agents.versions import BATCHES, BY_HANDSHAKE, agreed, check_stateless, is_stateless, said_version

_REFUSED = "too many requests are being answered; wait for some of them"


class StdioServer:
    """Answers one client, until its pipe ends. A request takes at most so many seconds."""

    def __init__(self, protocol: AgentProtocol, pipes: MessagePipes, *, seconds: float) -> None:
        self._protocol, self._pipes = protocol, pipes
        self._late = f"this took longer than {seconds:g} seconds"
        self._calls = Calls(self._send, seconds=seconds)
        self._version = BY_HANDSHAKE[-1]  # until a handshake agrees on another
        self._is_client_gone = False

    @property
    def is_busy(self) -> bool:
        """True while something runs whose answer nobody waits for any more."""
        return self._calls.is_busy

    def run(self) -> None:
        """Answer until the client closes its pipe; then finish what was begun."""
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
        """Answer the requests of a batch together. None of them can be cancelled by itself."""
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
