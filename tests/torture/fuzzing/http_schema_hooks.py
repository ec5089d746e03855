"""Requests that schemathesis does not send: those that are larger than HTTP and the server say that they take."""

from __future__ import annotations

from typing import Any
from urllib.parse import urlencode

import schemathesis

_LONGEST_ADDRESS = 60_000  # bytes; beyond 64 KiB uvicorn refuses it itself, as text
_LARGEST_BODY = 3_900_000


@schemathesis.hook
def filter_case(_: Any, case: Any) -> bool:
    """Whether a request is small enough to be answered by what the document describes."""
    if len(urlencode(case.query or {}, doseq=True, errors="replace")) > _LONGEST_ADDRESS:
        return False
    return len(repr(case.body)) <= _LARGEST_BODY
