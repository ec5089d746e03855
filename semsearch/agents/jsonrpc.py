"""JSON-RPC 2.0: messages as they come, checked, and answers as they go. It knows nothing of what the methods do."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, TypeGuard

from semsearch.errors import SemsearchError

PARSE_ERROR = -32700
INVALID_REQUEST = -32600
METHOD_NOT_FOUND = -32601
INVALID_PARAMS = -32602
INTERNAL_ERROR = -32603

Json = dict[str, Any]
RequestId = str | int


class RpcError(SemsearchError):
    """A request that cannot be carried out, told to the client by its code."""

    def __init__(self, code: int, message: str, data: Mapping[str, Any] | None = None) -> None:
        super().__init__(message)
        self.code = code
        self.data = data


@dataclass(frozen=True, slots=True)
class RpcRequest:
    """A request, which wants an answer."""

    id: RequestId
    method: str
    params: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class RpcNotification:
    """A message that wants no answer."""

    method: str
    params: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class RpcInvalid:
    """A message that is none: the answer that says so, with the id as far as it could be read."""

    answer: Json


@dataclass(frozen=True, slots=True)
class RpcReply:
    """A client's reply. This server asks clients nothing, so it answers no question of ours."""


RpcMessage = RpcRequest | RpcNotification | RpcInvalid | RpcReply


def parse(data: bytes) -> Any:
    """Parse JSON as RFC 8259 has it: UTF-8, no NaN. Raises RpcError."""
    try:
        return json.loads(data.decode("utf-8"), parse_constant=_no_constant)
    except RecursionError:
        raise RpcError(PARSE_ERROR, "the message is nested too deep") from None
    except ValueError as error:
        raise RpcError(PARSE_ERROR, f"the message is not JSON in UTF-8: {error}") from None


def _no_constant(name: str) -> Any:
    raise ValueError(f"{name} is not a number of JSON")


def message_of(value: Any) -> RpcMessage:
    """Take a parsed value for a message."""
    if not isinstance(value, dict):
        return _invalid(None, "a message must be an object")
    id_ = value.get("id")
    if value.get("jsonrpc") != "2.0":
        return _invalid(id_, 'a message must have "jsonrpc": "2.0"')
    if "method" not in value and ("result" in value or "error" in value):
        return RpcReply()
    method, params = value.get("method"), value.get("params", {})
    if not isinstance(method, str):
        return _invalid(id_, "a message must have a method, which is a text")
    if "id" not in value:
        return RpcNotification(method, params if isinstance(params, dict) else {})  # nobody waits for an answer
    if not is_id(id_):
        return _invalid(None, "an id must be a text or a whole number")
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
    """The answer that a request failed. The id is null where it could not be read, as JSON-RPC wants it."""
    said: Json = {"code": error.code, "message": str(error)}
    return {"jsonrpc": "2.0", "id": id_, "error": said if error.data is None else said | {"data": dict(error.data)}}


def to_line(value: Any) -> bytes:
    """A value as JSON in UTF-8 on one line, without its end. Half characters, which UTF-8 has not, become U+FFFD."""
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    try:
        return text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace").encode()
