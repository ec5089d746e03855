"""Messages of the Model Context Protocol, as clients write them."""

from __future__ import annotations

import json
from typing import Any

STATELESS = "2026-07-28"
META = {
    "io.modelcontextprotocol/protocolVersion": STATELESS,
    "io.modelcontextprotocol/clientCapabilities": {},
    "io.modelcontextprotocol/clientInfo": {"name": "tests", "version": "1"},
}


def message(method: str, /, *, id: Any = 1, stateless: bool = False, **params: Any) -> dict[str, Any]:
    """A request; a notification where the id is None."""
    found = {"_meta": META, **params} if stateless else params
    numbered = {} if id is None else {"id": id}
    return {"jsonrpc": "2.0", **numbered, "method": method, **({"params": found} if found else {})}


def call(tool: str, /, *, id: Any = 1, stateless: bool = False, **arguments: Any) -> dict[str, Any]:
    """A request that calls a tool."""
    return message("tools/call", id=id, stateless=stateless, name=tool, arguments=arguments)


def hello(version: str = "2025-11-25") -> dict[str, Any]:
    """The request that begins a handshake."""
    client = {"name": "tests", "version": "1"}
    return message("initialize", id="hello", protocolVersion=version, capabilities={}, clientInfo=client)


def line(value: Any) -> bytes:
    """A message as a line."""
    return json.dumps(value).encode() + b"\n"
