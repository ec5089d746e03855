"""Who may ask what: which Host and Origin a request may have, and when it needs the token.

Reading from this machine needs no token; anything else does. A page of another site that is open in the user's browser
also asks from this machine, so a browser's word on where a request comes from is checked (Origin, Sec-Fetch-Site), and
a name that leads here but is not ours (DNS rebinding) is refused by its Host.
"""

from __future__ import annotations

import hmac
import ipaddress
from collections.abc import Mapping
from dataclasses import dataclass
from http import HTTPStatus

from semsearch.serve.problems import ProblemDetails

LOOPBACK_NAMES = frozenset(("localhost", "127.0.0.1", "::1"))
_FORWARDING = ("forwarded", "x-forwarded-for", "x-real-ip", "via")  # a proxy has sent it on: who asks is not known
_OWN = ("same-origin", "none")  # Sec-Fetch-Site of our own page, and of what the user typed


@dataclass(frozen=True, slots=True)
class RequestFacts:
    """The facts of a request that the rules of access look at. Header names are in lower case."""

    method: str
    path: str
    client: str | None  # the address
    headers: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class AccessRules:
    """The rules of access of one server."""

    token: str
    hosts: frozenset[str]  # names it may be called by, in lower case
    by_address: bool = False  # whether any address may stand for a name: no other site has one for its name
    always_token: bool = False
    reading_posts: frozenset[str] = frozenset()  # paths that are read by POST
    open_paths: frozenset[str] = frozenset()  # paths that anyone may read: they hold no secret and ask for the token

    def refusal(self, facts: RequestFacts) -> ProblemDetails | None:
        """Why a request is not carried out; None if it may be."""
        return self._of_host(facts) or self._of_origin(facts) or self._of_token(facts)

    def _of_host(self, facts: RequestFacts) -> ProblemDetails | None:
        host = host_name(facts.headers.get("host", ""))
        if host in self.hosts or (self.by_address and is_address(host)):
            return None
        detail = f"this server is not called {host!r}; start it with --allow-host {host} if it should be"
        return ProblemDetails(HTTPStatus.MISDIRECTED_REQUEST, detail)

    def _of_origin(self, facts: RequestFacts) -> ProblemDetails | None:
        origin, site = facts.headers.get("origin"), facts.headers.get("sec-fetch-site")
        if origin is not None and origin.partition("://")[2].lower() != facts.headers.get("host", "").lower():
            return ProblemDetails(HTTPStatus.FORBIDDEN, "pages of other sites may not ask this server")
        opens_page = facts.method == "GET" and facts.headers.get("sec-fetch-mode") == "navigate"
        if site is not None and site not in _OWN and not opens_page:
            return ProblemDetails(HTTPStatus.FORBIDDEN, "pages of other sites may not ask this server")
        return None

    def _of_token(self, facts: RequestFacts) -> ProblemDetails | None:
        if not self._needs_token(facts):
            return None
        kind, _, token = facts.headers.get("authorization", "").partition(" ")
        if kind.lower() == "bearer" and hmac.compare_digest(token.strip().encode(), self.token.encode()):
            return None
        wrong = "the token is wrong" if kind else "this needs a token"
        detail = f"{wrong}; send it as `Authorization: Bearer TOKEN`; semsearch serve --show-token prints it"
        return ProblemDetails(HTTPStatus.UNAUTHORIZED, detail, headers={"WWW-Authenticate": 'Bearer realm="semsearch"'})

    def _needs_token(self, facts: RequestFacts) -> bool:
        gets = facts.method in ("GET", "HEAD")
        if gets and facts.path in self.open_paths:
            return False
        reads = gets or (facts.method == "POST" and facts.path in self.reading_posts)
        is_here = is_loopback(facts.client) and not any(name in facts.headers for name in _FORWARDING)
        return self.always_token or not reads or not is_here


def host_name(header: str) -> str:
    """The name in a Host header, without port and brackets, in lower case."""
    if header.startswith("["):
        return header[1:].partition("]")[0].lower()
    return header.partition(":")[0].lower().rstrip(".")


def is_address(name: str) -> bool:
    """Return whether a name is an IP address."""
    try:
        ipaddress.ip_address(name)
    except ValueError:
        return False
    return True


def is_loopback(address: str | None) -> bool:
    """Return whether an address is one of this machine's loopback interface."""
    try:
        found = ipaddress.ip_address(address or "")
    except ValueError:
        return False
    mapped = getattr(found, "ipv4_mapped", None)
    return (mapped or found).is_loopback
