"""Access control: which Host and Origin a request may have, when it needs the token, and the security headers.

Reading from this machine needs no token; anything else does. A page of another site in the user's browser also asks
from this machine, so the browser's statement about the origin of a request is checked (Origin, Sec-Fetch-Site), and a
foreign name that resolves to this machine (DNS rebinding) is refused by its Host.
"""

from __future__ import annotations

import hmac
import ipaddress
import os
import re
import secrets
import stat
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from http import HTTPStatus
from pathlib import Path

from filelock import FileLock

from semsearch.errors import StorageError
from semsearch.server.problems import ProblemDetails
from semsearch.system.durable import replace_file
from semsearch.system.http_requests import is_loopback
from semsearch.system.locations import config_folder

# -- Headers -----------------------------------------------------------------------------------------------------------

_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data: blob:; font-src 'self'; "
    "connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
SECURITY_HEADERS = {
    "content-security-policy": _POLICY,
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
    "referrer-policy": "no-referrer",
    "cross-origin-resource-policy": "same-origin",
    "cross-origin-opener-policy": "same-origin",
    "cache-control": "no-store",
}
_ENCODED = [(name.encode(), value.encode()) for name, value in SECURITY_HEADERS.items()]
_CACHED = [(b"cache-control", b"no-cache")]  # but asked for again: a new version is used at once


def with_security(headers: Iterable[tuple[bytes, bytes]], *, is_page: bool) -> list[tuple[bytes, bytes]]:
    """The headers of an answer with SECURITY_HEADERS. Files of the web interface may be cached."""
    return [*headers, *(_ENCODED[:-1] if is_page else _ENCODED), *(_CACHED if is_page else [])]


# -- The token: created at the first start, in the configuration folder, readable by its user only ---------------------

_BYTES = 32
_OTHERS = stat.S_IRWXG | stat.S_IRWXO


def token_path() -> Path:
    """The path of the file that holds the token."""
    return config_folder() / "server-token"


def read_token(path: Path) -> str | None:
    """Read the token; None if there is none. Raises StorageError if others may read the file, or it cannot be read."""
    try:
        if os.name != "nt" and path.stat().st_mode & _OTHERS:
            raise StorageError(
                f"other users can read {path}, which holds the server's token; delete it, and a new one is created"
            )
        token = path.read_text(encoding="ascii").strip()
    except FileNotFoundError:
        return None
    except (OSError, ValueError) as error:
        raise StorageError(f"cannot read {path} ({error}); delete it, and a new token is created") from error
    if len(token) < _BYTES:
        raise StorageError(f"{path} holds no valid token; delete it, and a new one is created")
    return token


def make_token(path: Path) -> str:
    """Return the token, created now if there is none. Concurrent processes get the same one."""
    token = read_token(path)
    if token is not None:
        return token
    try:
        path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        with FileLock(path.with_name(path.name + ".lock")):
            return read_token(path) or _written(path)
    except OSError as error:
        raise StorageError(f"cannot write the server's token to {path} ({error.strerror})") from error


def _written(path: Path) -> str:
    """Write a new token. Only the user may read the file from the start, and it is complete when it gets its name."""
    token = secrets.token_urlsafe(_BYTES)
    temporary = path.with_name(path.name + ".tmp")
    temporary.unlink(missing_ok=True)
    descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(descriptor, "w", encoding="ascii") as file:
        file.write(token + "\n")
    replace_file(temporary, path)
    return token


# -- Access ------------------------------------------------------------------------------------------------------------

LOOPBACK_NAMES = frozenset(("localhost", "127.0.0.1", "::1"))
# what proxies add to what they send on: the client is unknown, whatever its address. Names or beginnings of names
_FORWARDING = tuple(
    "forwarded via x-forwarded x-original- x-real-ip x-client-ip x-cluster-client-ip x-envoy- x-proxy x-scheme x-amzn- "
    "x-arr- x-azure- true-client-ip cdn-loop cf- fastly- fly- tailscale-".split()
)
_HOST = re.compile(r"(?:\[(?P<address>[0-9a-f:.]+)\]|(?P<name>[^][:@/\s]*))(?::\d*)?")
_OWN = ("same-origin", "none")  # Sec-Fetch-Site of our own page, and of what the user typed


@dataclass(frozen=True, slots=True)
class RequestFacts:
    """The facts of a request that access depends on. Header names are in lower case."""

    method: str
    path: str
    client: str | None  # the address
    headers: Mapping[str, str]
    http_version: str = "1.1"

    @property
    def is_local(self) -> bool:
        """Whether a program of this machine sent the request, and no proxy that other machines may use.

        A proxy shows itself by a header that it adds, by the public name that it was called by, or, as nginx does
        where nothing is set, by HTTP/1.0.
        """
        host = host_name(self.headers.get("host", ""))
        is_called_so = host in LOOPBACK_NAMES or is_loopback(host)
        is_forwarded = any(name.startswith(_FORWARDING) for name in self.headers)
        return is_loopback(self.client) and is_called_so and not is_forwarded and self.http_version != "1.0"


@dataclass(frozen=True, slots=True)
class AccessRules:
    """The rules of access of one server."""

    token: str
    hosts: frozenset[str]  # accepted host names, in lower case
    by_address: bool = False  # whether any IP address is accepted as host: no other site has one as its name
    always_token: bool = False
    reading_posts: frozenset[str] = frozenset()  # paths that are read by POST

    def refusal(self, facts: RequestFacts) -> ProblemDetails | None:
        """Why a request is refused; None if it is allowed."""
        return self._of_host(facts) or self._of_origin(facts) or self._of_token(facts)

    def _of_host(self, facts: RequestFacts) -> ProblemDetails | None:
        host = host_name(facts.headers.get("host", ""))
        if host in self.hosts or (self.by_address and is_address(host)):
            return None
        accept = f"unknown host name {host!r}; to accept it, start the server with --allow-host {host}"
        detail = accept if host else "the Host header names no host, or several"
        return ProblemDetails(HTTPStatus.MISDIRECTED_REQUEST, detail)

    def _of_origin(self, facts: RequestFacts) -> ProblemDetails | None:
        origin, site = facts.headers.get("origin"), facts.headers.get("sec-fetch-site")
        if origin is not None and origin.partition("://")[2].lower() != facts.headers.get("host", "").lower():
            return ProblemDetails(HTTPStatus.FORBIDDEN, "pages of other sites may not use this server")
        opens_page = facts.method == "GET" and facts.headers.get("sec-fetch-mode") == "navigate"
        if site is not None and site not in _OWN and not opens_page:
            return ProblemDetails(HTTPStatus.FORBIDDEN, "pages of other sites may not use this server")
        return None

    def _of_token(self, facts: RequestFacts) -> ProblemDetails | None:
        if not self._needs_token(facts):
            return None
        kind, _, token = facts.headers.get("authorization", "").partition(" ")
        if kind.lower() == "bearer" and hmac.compare_digest(token.strip().encode(), self.token.encode()):
            return None
        wrong = "the token is wrong" if kind else "this request needs a token"
        detail = f"{wrong}; send it as `Authorization: Bearer TOKEN`; semsearch serve --show-token prints it"
        return ProblemDetails(HTTPStatus.UNAUTHORIZED, detail, headers={"WWW-Authenticate": 'Bearer realm="semsearch"'})

    def _needs_token(self, facts: RequestFacts) -> bool:
        gets = facts.method in ("GET", "HEAD")
        if gets and is_of_page(facts.path):
            return False
        reads = gets or (facts.method == "POST" and facts.path in self.reading_posts)
        return self.always_token or not reads or not facts.is_local


def is_of_page(path: str) -> bool:
    """Whether a path is one of the web interface, which anyone may read: it asks for the token by itself."""
    return path == "/" or path.startswith("/page/")


def host_name(header: str) -> str:
    """The name in a Host header, without port and brackets, in lower case; "" if it is not one."""
    parts = _HOST.fullmatch(header.lower())
    return "" if parts is None else (parts["address"] or parts["name"]).rstrip(".")


def is_address(name: str) -> bool:
    """Return whether a name is an IP address."""
    try:
        ipaddress.ip_address(name)
    except ValueError:
        return False
    return True
