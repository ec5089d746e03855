"""Cursors: where an answer that was cut off goes on. A cursor is good for the same request only."""

from __future__ import annotations

import json
import zlib
from collections.abc import Mapping
from typing import Any

from semsearch.errors import UsageError

_LARGEST = 10**9


def cursor_at(offset: int, given: Mapping[str, Any]) -> str:
    """The cursor that leads a request on from an offset."""
    return f"{offset}.{_fingerprint(given)}"


def offset_of(given: Mapping[str, Any]) -> int:
    """The offset at which a request shall go on: 0 without a cursor. Raises UsageError for one of another request."""
    cursor = given.get("cursor") or ""
    if not cursor:
        return 0
    offset, _, fingerprint = cursor.partition(".")
    if not (offset.isascii() and offset.isdigit() and len(offset) < len(str(_LARGEST))):
        raise UsageError(f"{cursor[:40]!r} is no cursor; give next_cursor of an earlier answer, or none")
    if fingerprint != _fingerprint(given):
        raise UsageError("that cursor is of another request; repeat the arguments of the request that gave it")
    return int(offset)


def _fingerprint(given: Mapping[str, Any]) -> str:
    others = {name: value for name, value in given.items() if name != "cursor"}
    return f"{zlib.crc32(json.dumps(others, sort_keys=True, default=str).encode('utf-8', 'replace')):08x}"
