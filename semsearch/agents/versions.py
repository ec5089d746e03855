"""The versions of the protocol, and how a request says in which of them it is.

Until 2025-11-25 client and server agree on a version by a handshake, `initialize`. From 2026-07-28 on there is no
handshake: every request carries its version in `_meta`. Both are answered by the same process, side by side.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from semsearch.agents.jsonrpc import INVALID_PARAMS, RpcError

BY_HANDSHAKE = ("2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25")
STATELESS = ("2026-07-28",)
UNSAID = "2025-03-26"  # of HTTP requests that say none: the header came with the version after it
BATCHES = ("2025-03-26",)  # versions that have them
UNSUPPORTED_VERSION = -32022

_VERSION = "io.modelcontextprotocol/protocolVersion"
_CAPABILITIES = "io.modelcontextprotocol/clientCapabilities"


def agreed(wanted: Any) -> str:
    """The version that a handshake agrees on: the one that is wanted, or else the newest that has a handshake."""
    return wanted if wanted in BY_HANDSHAKE else BY_HANDSHAKE[-1]


def is_stateless(params: Mapping[str, Any]) -> bool:
    """Return whether a request says its version itself, and so needs no handshake."""
    meta = params.get("_meta")
    return isinstance(meta, Mapping) and (_VERSION in meta or _CAPABILITIES in meta)


def said_version(params: Mapping[str, Any]) -> str:
    """The version that a request says in `_meta`, known or not. Raises RpcError where a field is missing."""
    meta = params.get("_meta")
    meta = meta if isinstance(meta, Mapping) else {}
    version = meta.get(_VERSION)
    if not isinstance(version, str):
        raise RpcError(INVALID_PARAMS, f"_meta must have {_VERSION}, a text")
    if not isinstance(meta.get(_CAPABILITIES), Mapping):
        raise RpcError(INVALID_PARAMS, f"_meta must have {_CAPABILITIES}, an object")
    return version


def check_stateless(version: str) -> None:
    """Raise RpcError for an unknown version. It lists those by handshake too, which a client can fall back to."""
    if version not in STATELESS:
        data = {"supported": [*reversed((*BY_HANDSHAKE, *STATELESS))], "requested": version[:80]}
        raise RpcError(UNSUPPORTED_VERSION, f"the protocol version {version[:40]!r} is not supported", data)
