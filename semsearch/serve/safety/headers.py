"""The headers that every answer has, so that a browser does nothing with it that it should not."""

from __future__ import annotations

_POLICY = {
    "default-src": "'none'",
    "script-src": "'self'",
    "style-src": "'self'",
    "img-src": "'self' data: blob:",
    "font-src": "'self'",
    "connect-src": "'self'",
    "base-uri": "'none'",
    "form-action": "'none'",
    "frame-ancestors": "'none'",
}
SECURITY_HEADERS = {
    "content-security-policy": "; ".join(f"{name} {sources}" for name, sources in _POLICY.items()),
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
    "referrer-policy": "no-referrer",
    "cross-origin-resource-policy": "same-origin",
    "cross-origin-opener-policy": "same-origin",
    "cache-control": "no-store",
}


def with_security(headers: list[tuple[bytes, bytes]]) -> list[tuple[bytes, bytes]]:
    """Headers of an answer, and those of SECURITY_HEADERS that it has not."""
    there = {name.lower() for name, _ in headers}
    added = ((name.encode(), value.encode()) for name, value in SECURITY_HEADERS.items())
    return [*headers, *(pair for pair in added if pair[0] not in there)]
