"""Questions to a server over HTTP, by the standard library. Connections are kept, each lent to one thread at a time."""

from __future__ import annotations

import http.client
import json
import threading
from collections.abc import Mapping
from typing import Any
from urllib.parse import urlencode, urlsplit

from semsearch import errors
from semsearch.errors import SemsearchError, ServerError, UsageError

_IDLE = 8  # connections that are kept
_SHOWN = 200  # characters of an answer that is not understood


class ServerConnection:
    """The connections to one server. Threads may share it. The token is sent with every request, nowhere else."""

    def __init__(self, url: str, *, token: str | None, timeout: float) -> None:
        parts = urlsplit(url)
        if parts.scheme not in ("http", "https") or not parts.hostname or parts.query or parts.fragment:
            raise UsageError(f"{url!r} is not the address of a server; give one such as http://127.0.0.1:8765")
        if token is not None and not (token.isascii() and token.isprintable()):
            raise UsageError("the token has characters that no token has")
        self.url: str = url.rstrip("/")
        self._parts = parts
        self._timeout = timeout
        self._headers = {"Accept": "application/json"} | ({} if token is None else {"Authorization": f"Bearer {token}"})
        self._lock = threading.Lock()
        self._idle: list[http.client.HTTPConnection] = []

    def get(self, path: str, query: Mapping[str, Any]) -> Any:
        """Read what is at a path. Raises what the server answers with: the errors of an index, ServerError."""
        given = {name: _as_text(value) for name, value in query.items() if value is not None}
        return self._ask("GET", f"{path}?{urlencode(given, doseq=True)}" if given else path, None)

    def post(self, path: str, fields: Mapping[str, Any]) -> Any:
        """Ask with a JSON object. Raises as `get`."""
        return self._ask("POST", path, fields)

    def _ask(self, method: str, path: str, fields: Mapping[str, Any] | None) -> Any:
        try:
            body = None if fields is None else json.dumps(fields, allow_nan=False).encode()
        except (TypeError, ValueError) as error:
            raise UsageError(f"this cannot be sent as JSON: {error}") from None
        headers = self._headers if body is None else self._headers | {"Content-Type": "application/json"}
        try:
            status, text = self._sent(method, self._parts.path.rstrip("/") + path, body, headers)
        except (OSError, http.client.HTTPException) as error:
            reason = getattr(error, "strerror", None) or str(error) or type(error).__name__
            raise ServerError(
                f"the server {self.url} does not answer ({reason}); start it with: semsearch serve"
            ) from error
        return self._understood(status, text)

    def _sent(self, method: str, path: str, body: bytes | None, headers: Mapping[str, str]) -> tuple[int, bytes]:
        """Send a request on a kept connection, or on a new one where the server has closed that meanwhile."""
        with self._lock:
            kept = self._idle.pop() if self._idle else None
        if kept is not None:
            try:
                return self._on(kept, method, path, body, headers)
            except (ConnectionError, http.client.BadStatusLine):
                pass
        return self._on(self._opened(), method, path, body, headers)

    def _on(
        self,
        connection: http.client.HTTPConnection,
        method: str,
        path: str,
        body: bytes | None,
        headers: Mapping[str, str],
    ) -> tuple[int, bytes]:
        try:
            connection.request(method, path, body, dict(headers))
            answer = connection.getresponse()
            found = answer.status, answer.read()
        except BaseException:
            connection.close()
            raise
        with self._lock:
            keep = not answer.will_close and len(self._idle) < _IDLE
            if keep:
                self._idle.append(connection)
        if not keep:
            connection.close()
        return found

    def _opened(self) -> http.client.HTTPConnection:
        kind = http.client.HTTPSConnection if self._parts.scheme == "https" else http.client.HTTPConnection
        assert self._parts.hostname is not None  # checked when this was made
        try:
            return kind(self._parts.hostname, self._parts.port, timeout=self._timeout)
        except ValueError as error:
            raise UsageError(f"{self.url!r} is not the address of a server: {error}") from None

    def _understood(self, status: int, text: bytes) -> Any:
        """The answer of the server, as JSON. Raises the error that it stands for."""
        try:
            answer = json.loads(text)
        except (ValueError, RecursionError):
            shown = " ".join(text[:_SHOWN].decode("utf-8", "replace").split())
            raise ServerError(f"{self.url} is no semsearch server: it answers {status} with {shown!r}") from None
        if status == http.client.OK:
            return answer
        detail = str(answer.get("detail", answer)) if isinstance(answer, dict) else str(answer)
        kind = getattr(errors, str(answer.get("error")), None) if isinstance(answer, dict) else None
        if isinstance(kind, type) and issubclass(kind, SemsearchError) and kind is not errors.MissingExtra:
            raise kind(detail)
        raise ServerError(f"the server {self.url} refuses ({status}): {detail}")

    def close(self) -> None:
        """Close the connections that are kept."""
        with self._lock:
            idle, self._idle = self._idle, []
        for connection in idle:
            connection.close()


def _as_text(value: Any) -> Any:
    """A value as a query string has it."""
    if isinstance(value, bool):
        return "true" if value else "false"
    return list(value) if isinstance(value, tuple) else value
