"""MCP over HTTP: a POST is a message, answered as JSON. There are no sessions, and no stream to open by GET.

From version 2026-07-28 on, headers repeat parts of the body for intermediaries; a request whose headers differ from its
body, or are missing, is refused.
"""

from __future__ import annotations

import base64
import binascii
from collections.abc import Mapping
from http import HTTPStatus

from semsearch.agents.jsonrpc import (
    INVALID_PARAMS,
    INVALID_REQUEST,
    METHOD_NOT_FOUND,
    PARSE_ERROR,
    Json,
    RpcError,
    RpcInvalid,
    RpcNotification,
    RpcReply,
    RpcRequest,
    error_answer,
    message_of,
    parse,
    to_line,
)
from semsearch.agents.protocol import (
    BATCHES,
    BY_HANDSHAKE,
    UNSAID,
    UNSUPPORTED_VERSION,
    AgentProtocol,
    check_stateless,
    is_stateless,
    said_version,
)
from semsearch.serve.message_route import MessageReply

HEADER_MISMATCH = -32020
_NAMES = {"tools/call": "name", "resources/read": "uri"}  # what Mcp-Name repeats
_STATUSES = {
    PARSE_ERROR: HTTPStatus.BAD_REQUEST,
    INVALID_REQUEST: HTTPStatus.BAD_REQUEST,
    INVALID_PARAMS: HTTPStatus.BAD_REQUEST,
    HEADER_MISMATCH: HTTPStatus.BAD_REQUEST,
    UNSUPPORTED_VERSION: HTTPStatus.BAD_REQUEST,
    METHOD_NOT_FOUND: HTTPStatus.NOT_FOUND,
}
_BEGIN, _END = "=?base64?", "?="


class HttpAgents:
    """Answers messages by HTTP. Threads may share it."""

    path = "/mcp"
    name = "mcp"

    def __init__(self, protocol: AgentProtocol) -> None:
        self._protocol = protocol

    def reply(self, body: bytes, headers: Mapping[str, str]) -> MessageReply:
        """Answer a message. Names of headers are in lower case."""
        try:
            value = parse(body)
            said = _said_by_header(headers)
        except RpcError as error:
            return _failed(error_answer(None, error), error.code)
        if isinstance(value, list) and value and said in BATCHES:
            answers = self._protocol.answer_batch([message_of(each) for each in value], said)
            return MessageReply(HTTPStatus.OK, to_line(answers)) if answers else MessageReply(HTTPStatus.ACCEPTED)
        match message_of(value):
            case RpcNotification() | RpcReply():
                return MessageReply(HTTPStatus.ACCEPTED)
            case RpcInvalid(answer):
                return _failed(answer, INVALID_REQUEST)
            case RpcRequest() as request:
                return self._reply_to(request, said, headers)

    def _reply_to(self, request: RpcRequest, said: str, headers: Mapping[str, str]) -> MessageReply:
        stateless = is_stateless(request.params) or said not in BY_HANDSHAKE or request.method == "server/discover"
        try:
            version = _checked(request, headers) if stateless else said
        except RpcError as error:
            return _failed(error_answer(request.id, error), error.code)
        answer = self._protocol.answer(request, version)
        if stateless and "error" in answer:
            return _failed(answer, answer["error"]["code"])
        return MessageReply(HTTPStatus.OK, to_line(answer))


def _said_by_header(headers: Mapping[str, str]) -> str:
    """The version in the header, or that of clients without such a header."""
    return headers.get("mcp-protocol-version", UNSAID)


def _checked(request: RpcRequest, headers: Mapping[str, str]) -> str:
    """The version of a request without handshake, if its headers match its body. Raises RpcError."""
    if not is_stateless(request.params) and "mcp-protocol-version" in headers:
        check_stateless(headers["mcp-protocol-version"])
    version = said_version(request.params)
    _check(headers, "MCP-Protocol-Version", version)
    _check(headers, "Mcp-Method", request.method)
    if request.method in _NAMES:
        _check(headers, "Mcp-Name", request.params.get(_NAMES[request.method]))
    check_stateless(version)
    return version


def _check(headers: Mapping[str, str], name: str, expected: object) -> None:
    found = headers.get(name.lower())
    if found is None:
        raise RpcError(HEADER_MISMATCH, f"the header {name} is missing")
    if _decoded(found) != expected:
        raise RpcError(HEADER_MISMATCH, f"the header {name} is {found[:80]!r}, which differs from the body")


def _decoded(value: str) -> str | None:
    """The value of a header, in Base64 if it is not plain ASCII; None if that is invalid."""
    if not (value.startswith(_BEGIN) and value.endswith(_END) and len(value) >= len(_BEGIN) + len(_END)):
        return value
    try:
        return base64.b64decode(value[len(_BEGIN) : -len(_END)], validate=True).decode()
    except (binascii.Error, ValueError):
        return None


def _failed(answer: Json, code: int) -> MessageReply:
    return MessageReply(_STATUSES.get(code, HTTPStatus.OK), to_line(answer))
