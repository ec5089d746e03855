"""JSON-RPC 2.0: incoming messages, checked, and outgoing answers, independent of the methods."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import field
from typing import Any, TypeGuard

from semsearch.errors import SemsearchError
from semsearch.frozen import dataclass

PARSE_ERROR = -32700
INVALID_REQUEST = -32600
METHOD_NOT_FOUND = -32601
INVALID_PARAMS = -32602
INTERNAL_ERROR = -32603

Json = dict[str, Any]
RequestId = str | int


class RpcError(SemsearchError):
    """A failed request, with the error code for the client."""

    def __init__(self, code: int, message: str, data: Mapping[str, Any] | None = None) -> None:
        super().__init__(message)
        self.code = code
        self.data = data


@dataclass(frozen=True, slots=True)
class RpcRequest:
    """A request, which expects an answer."""

    id: RequestId
    method: str
    params: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class RpcNotification:
    """A message without an answer."""

    method: str
    params: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class RpcInvalid:
    """An invalid message: the error answer, with the id if it could be read."""

    answer: Json


@dataclass(frozen=True, slots=True)
class RpcReply:
    """A client's reply, which is ignored: this server sends no requests."""


RpcMessage = RpcRequest | RpcNotification | RpcInvalid | RpcReply


def parse(data: bytes) -> Any:
    """Parse strict JSON (RFC 8259): UTF-8, no NaN. Raises RpcError."""
    try:
        return json.loads(data.decode("utf-8"), parse_constant=_no_constant)
    except RecursionError:
        raise RpcError(PARSE_ERROR, "the message is nested too deeply") from None
    except ValueError as error:
        raise RpcError(PARSE_ERROR, f"the message is not valid JSON in UTF-8: {error}") from None


def _no_constant(name: str) -> Any:
    raise ValueError(f"{name} is not a JSON number")


def message_of(value: Any) -> RpcMessage:
    """A parsed value as a message."""
    if not isinstance(value, dict):
        return _invalid(None, "a message must be an object")
    id_ = value.get("id")
    if value.get("jsonrpc") != "2.0":
        return _invalid(id_, 'a message must have "jsonrpc": "2.0"')
    if "method" not in value and ("result" in value or "error" in value):
        return RpcReply()
    method, params = value.get("method"), value.get("params", {})
    if not isinstance(method, str):
        return _invalid(id_, "a message must have a method, a string")
    if "id" not in value:
        return RpcNotification(method, params if isinstance(params, dict) else {})  # no answer is expected
    if not is_id(id_):
        return _invalid(None, "an id must be a string or an integer")
    if not isinstance(params, dict):
        return RpcInvalid(error_answer(id_, RpcError(INVALID_PARAMS, "params must be an object")))
    return RpcRequest(id_, method, params)


def is_id(value: Any) -> TypeGuard[RequestId]:
    """Return whether a value can be the id of a request."""
    return isinstance(value, str | int) and not isinstance(value, bool)


def _invalid(id_: Any, why: str) -> RpcInvalid:
    return RpcInvalid(error_answer(id_ if is_id(id_) else None, RpcError(INVALID_REQUEST, why)))


def result_answer(id_: RequestId, result: Json) -> Json:
    """The answer with the result of a request."""
    return {"jsonrpc": "2.0", "id": id_, "result": result}


def error_answer(id_: RequestId | None, error: RpcError) -> Json:
    """The error answer of a request. The id is null if it could not be read, as JSON-RPC requires."""
    said: Json = {"code": error.code, "message": str(error)}
    return {"jsonrpc": "2.0", "id": id_, "error": said if error.data is None else said | {"data": dict(error.data)}}


def to_line(value: Any) -> bytes:
    """A value as JSON in UTF-8 on one line, without its end. Lone surrogates become U+FFFD."""
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    try:
        return text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace").encode()
