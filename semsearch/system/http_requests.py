"""HTTP requests by the standard library: to the address that a user gave, and nowhere else."""

from __future__ import annotations

import ipaddress
from http.client import HTTPException, HTTPResponse
from urllib.error import URLError
from urllib.request import HTTPErrorProcessor, OpenerDirector, ProxyHandler, Request, build_opener


class _AsAnswered(HTTPErrorProcessor):
    """Leaves every answer to the caller: no redirection is followed, and no status is an exception."""

    def http_response(self, request: Request, response: HTTPResponse) -> HTTPResponse:  # noqa: ARG002  # urllib's
        return response

    https_response = http_response


def opener(*, by_proxy: bool) -> OpenerDirector:
    """An opener of URLs, perhaps by the proxies of the environment. Threads may share it."""
    return build_opener(ProxyHandler() if by_proxy else ProxyHandler({}), _AsAnswered)


def reason_of(error: OSError | HTTPException) -> str:
    """Why a server did not answer, in a few words."""
    reason = error.reason if isinstance(error, URLError) else error
    return str(getattr(reason, "strerror", None) or reason) or type(reason).__name__


def is_plain(text: str) -> bool:
    """Whether a text is printable ASCII without spaces, as an address is."""
    return text.isascii() and text.isprintable() and " " not in text


def is_loopback(address: str | None) -> bool:
    """Return whether an address is one of this machine's loopback interface."""
    try:
        parsed = ipaddress.ip_address(address or "")
    except ValueError:
        return False
    mapped = getattr(parsed, "ipv4_mapped", None)
    return (mapped or parsed).is_loopback
