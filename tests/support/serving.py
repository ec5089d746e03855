"""A server on a free port in a thread of its own, and a client that says what came back."""

from __future__ import annotations

import http.client
import json
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any
from urllib.parse import urlencode

from semsearch.server.open_indexes import OpenIndexes
from semsearch.server.running import RunningServer, ServerSettings, listen

if TYPE_CHECKING:
    from starlette.applications import Starlette

TOKEN = "a token for tests, of enough characters"
PATIENT = ServerSettings(port=0, seconds=600)  # other programs may have the processor


@dataclass(frozen=True)
class Reply:
    """A status with headers, whose names are in lower case, and body."""

    status: int
    headers: Mapping[str, str]
    body: bytes

    @property
    def json(self) -> Any:
        return json.loads(self.body)

    @property
    def detail(self) -> str:
        """The detail of a problem."""
        assert self.headers["content-type"] == "application/problem+json"
        assert self.json["status"] == self.status
        return str(self.json["detail"])


@dataclass(frozen=True)
class Asker:
    """A client of a server."""

    port: int
    headers: Mapping[str, str] = field(default_factory=dict)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def get(self, path: str, /, *, headers: Mapping[str, str] | None = None, **query: Any) -> Reply:
        """GET a path; lists are given item by item."""
        return self.ask("GET", f"{path}?{urlencode(query, doseq=True)}" if query else path, headers=headers)

    def post(self, path: str, value: Any, *, headers: Mapping[str, str] | None = None) -> Reply:
        """POST a value as JSON."""
        return self.ask("POST", path, json.dumps(value).encode(), headers=headers)

    @property
    def writer(self) -> Asker:
        """A client that has the token."""
        return Asker(self.port, {**self.headers, "Authorization": f"Bearer {TOKEN}"})

    def put(self, path: str, value: Any) -> Reply:
        """PUT a value as JSON."""
        return self.ask("PUT", path, json.dumps(value).encode())

    def ask(
        self, method: str, path: str, body: bytes | None = None, *, headers: Mapping[str, str] | None = None
    ) -> Reply:
        """Send a request. Headers that are given replace the usual ones."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=600)
        usual = {"Content-Type": "application/json"} if body is not None else {}
        try:
            connection.request(method, path, body, {**usual, **self.headers, **(headers or {})})
            answer = connection.getresponse()
            return Reply(answer.status, {name.lower(): value for name, value in answer.getheaders()}, answer.read())
        finally:
            connection.close()


@contextmanager
def running(
    indexes: OpenIndexes,
    settings: ServerSettings | None = None,
    *,
    mcp: Starlette | None = None,
) -> Iterator[Asker]:
    """Serve indexes while the block runs. Who connects before the server is ready waits in the socket's queue."""
    settings = settings or PATIENT
    listening = listen(settings)
    port = listening.getsockname()[1]
    server = RunningServer(indexes, settings, TOKEN, listening, mcp=mcp)
    thread = threading.Thread(target=server.run)
    thread.start()
    try:
        yield Asker(port)
    finally:
        server.stop()
        thread.join()
        indexes.close()
