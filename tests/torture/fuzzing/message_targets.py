"""Targets that are messages to a server: requests over HTTP, and messages of the Model Context Protocol."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Iterator
from contextlib import suppress
from inspect import signature
from pathlib import Path
from typing import Any

from operations import operations

from fuzzing.small_index import made_index
from fuzzing.target import Run, Target
from semsearch.errors import SemsearchError
from semsearch.mcp import Tools, use
from semsearch.server.connections import ConnectionLimits, limited
from semsearch.server.open_indexes import OpenIndexes
from semsearch.server.running import RunningServer, ServerSettings, listen

_TOKEN = "a token for tests, of enough characters"  # of no server but this one
_QUERY_WORDS = ("&", "=", "%00", "%ED%A0%80", "index=docs", "query=", "filters=", "k=", "offset=", "1e9", "-1", "true")
_JSON_WORDS = ('{"', '":', "[", "]", "null", "true", "1e999", "\\ud800", '"query"', '"index":"docs"', "-0.0", "NaN")


def targets() -> Iterator[Target]:
    """All targets that are messages."""
    yield Target(
        "http",
        lambda folder: _requesting(folder, writes=False),
        lambda: _requests(writes=False),
        (*_QUERY_WORDS, *_JSON_WORDS),
    )
    yield Target(
        "http-writing",
        lambda folder: _requesting(folder, writes=True),
        lambda: _requests(writes=True),
        (*_QUERY_WORDS, *_JSON_WORDS),
    )
    yield Target(
        "http-headers", _with_headers, _headers, ("host:", "origin: ", "authorization: Bearer ", "x-", "[::1]")
    )
    yield Target("mcp", _calling, _calls, ("*.md", "year>=", "sea-0.md:", " p. ", "–", '"', "|", "!"))
    yield Target(
        "http-bytes",
        _connected,
        _sent,
        ("\r\n", "HTTP/1.1", "Host: localhost", "Transfer-Encoding: chunked", "Content-Length: "),
    )


def _requesting(folder: Path, *, writes: bool) -> Run:
    """An input is a method and an address on the first line, a type on the second, and a body."""
    ask = _server_of(folder)

    def run(data: bytes) -> None:
        first, _, rest = data.partition(b"\n")
        kind, _, body = rest.partition(b"\n")
        headers = [(b"host", b"127.0.0.1"), (b"content-type", kind), (b"content-length", str(len(body)).encode())]
        if writes:
            headers.append((b"authorization", f"Bearer {_TOKEN}".encode()))
        ask(first.decode("latin-1"), headers, body)

    return run


def _with_headers(folder: Path) -> Run:
    """An input is headers, a line each; a read and a write of a client on another machine or this one have them."""
    ask = _server_of(folder)

    def run(data: bytes) -> None:
        lines = [line.partition(b":") for line in data[1:].split(b"\n") if line]
        headers = [(name.strip().lower(), value.strip()) for name, _, value in lines]
        client = "192.0.2.1" if data[:1] == b"\x01" else "127.0.0.1"
        has_token = any(_TOKEN.encode() in value for _, value in headers)
        for first, body in (("GET /v1/search?query=ship", b""), ("POST /v1/sync", b"{}")):
            status = ask(first, headers, body, client=client)
            refused = status >= 400 or has_token
            assert refused or (client == "127.0.0.1" and first.startswith("GET")), f"{status} without the token"

    return run


def _headers() -> Iterator[bytes]:
    yield b"\x00host: 127.0.0.1\naccept: text/html\nrange: bytes=0-5\nif-none-match: x\ncookie: a=b"
    yield b"\x01host: localhost:8765\norigin: http://localhost:8765\nsec-fetch-site: same-origin"
    yield b"\x00host: [::1]:80\nx-forwarded-for: 1.2.3.4\nforwarded: for=a\ncontent-length: -1\ncontent-type: \xff"
    yield b"\x01host: 127.0.0.1\nauthorization: Bearer " + _TOKEN.encode() + b"\naccept-encoding: gzip, *;q=0"
    yield b"\x01host: example.org\nauthorization: Bearer \xe4\nmcp-protocol-version: 2025-11-25\nexpect: 100-continue"


def _server_of(folder: Path) -> Callable[..., int]:
    """What sends a request to a server of a small index, and returns its status: below 500; refusals explained."""
    indexes = OpenIndexes(folder=made_index(folder).parent)
    server = RunningServer(indexes, ServerSettings(port=0), _TOKEN, listen(ServerSettings(port=0)))
    application: Any = server._server.config.app
    loop = asyncio.new_event_loop()

    def ask(first: str, headers: list[tuple[bytes, bytes]], body: bytes, *, client: str = "127.0.0.1") -> int:
        method, _, target = first.partition(" ")
        path, _, query = target.partition("?")
        scope = {
            "type": "http",
            "asgi": {"version": "3.0"},
            "http_version": "1.1",
            "method": method,
            "scheme": "http",
            "path": _unquoted(path),
            "raw_path": path.encode("latin-1"),
            "query_string": query.encode("latin-1"),
            "headers": headers,
            "client": (client, 1),
            "server": ("127.0.0.1", 80),
        }
        status, answer = loop.run_until_complete(_answered(application, scope, body))
        assert status < 500, f"status {status}: {answer[:200]!r}"
        if status >= 400:
            assert json.loads(answer)["detail"], "a refusal without a reason"
        return status

    return ask


def _unquoted(path: str) -> str:
    from urllib.parse import unquote

    return unquote(path)  # as uvicorn does


async def _answered(application: Any, scope: dict[str, Any], body: bytes) -> tuple[int, bytes]:
    sent = list[dict[str, Any]]()
    received = iter([{"type": "http.request", "body": body, "more_body": False}])

    async def receive() -> dict[str, Any]:
        return next(received, {"type": "http.disconnect"})

    async def send(message: dict[str, Any]) -> None:
        sent.append(message)

    await application(scope, receive, send)
    return sent[0]["status"], b"".join(each.get("body", b"") for each in sent[1:])


_VALUES: dict[str, Any] = {
    "query": "a ship",
    "queries": ["a ship"],
    "input": "a ship",
    "text": "A ship.",
    "ids": [1],
    "page": 1,
    "hit": {},
    "citation": "sea-0.md:5",
}


def _requests(*, writes: bool) -> Iterator[bytes]:
    """A request of each operation."""
    for operation in operations():
        if operation.is_write != writes:
            continue
        values = {"index": "docs"} | {name: _VALUES[name] for name in operation.required}
        path = operation.path.replace("{id}", "added")
        if operation.has_body:
            yield f"{operation.method} {path}\napplication/json\n{json.dumps(values)}".encode()
        else:
            query = "&".join(f"{name}={value}" for name, value in values.items())
            yield f"{operation.method} {path}?{query}\n\n".encode()


_TOOLS = ("search", "context", "similar", "read", "list_documents", "status")


def _calling(folder: Path) -> Run:
    """The first byte chooses a tool; the rest is the text that it is asked, and a filter."""
    indexes = OpenIndexes(folder=made_index(folder).parent)

    def run(data: bytes) -> None:
        name = _TOOLS[data[0] % len(_TOOLS) if data else 0]
        text, _, other = data[1:].decode("utf-8", "surrogateescape").partition("\n")
        arguments: dict[str, Any] = {"index": "docs", "filters": [other], "query": text, "citation": text}
        tool = getattr(Tools(lambda: indexes), name)
        taken = {key: value for key, value in arguments.items() if key in signature(tool).parameters}
        with suppress(SemsearchError):
            json.dumps(use(tool, **taken))

    return run


def _calls() -> Iterator[bytes]:
    for number in range(len(_TOOLS)):
        yield bytes([number]) + b"a ship\n*.md"
        yield bytes([number]) + b"sea-0.md:5\nyear>=2020"


def _connected(folder: Path) -> Run:
    """The input is what a client sends on a connection; the protocol closes it, or keeps it, and never fails."""
    from uvicorn.server import ServerState

    indexes = OpenIndexes(folder=made_index(folder).parent)
    server = RunningServer(indexes, ServerSettings(port=0), _TOKEN, listen(ServerSettings(port=0)))
    loop = asyncio.new_event_loop()
    config: Any = server._server.config
    config.load()
    failed = list[str]()
    loop.set_exception_handler(lambda _, context: failed.append(str(context)))

    async def exchange(data: bytes) -> bytes:
        protocol = limited(ConnectionLimits())
        listening = await loop.create_server(
            lambda: protocol(config=config, server_state=ServerState(), app_state={}), "127.0.0.1", 0
        )
        reader, writer = await asyncio.open_connection(*listening.sockets[0].getsockname())
        answer = b""
        with suppress(ConnectionError):  # it is closed before all is read
            writer.write(data)
            writer.write_eof()
            answer = await asyncio.wait_for(reader.read(), 30)
        writer.close()
        listening.close()
        return answer

    def run(data: bytes) -> None:
        answer = loop.run_until_complete(exchange(data))
        assert not answer or answer.startswith(b"HTTP/1.1 "), f"an answer of no status: {answer[:60]!r}"
        assert not answer.startswith(b"HTTP/1.1 500"), f"a failure: {answer[:200]!r}"
        assert not failed, failed.pop()

    return run


def _sent() -> Iterator[bytes]:
    first = b"GET /v1/search?query=ship HTTP/1.1\r\nHost: localhost\r\n"
    yield first + b"Connection: close\r\n\r\n"
    yield (first + b"\r\n") * 3
    yield first + b"Content-Length: 9\r\n\r\n{}"
    chunked = b"Content-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n"
    yield b"POST /v1/search HTTP/1.1\r\nHost: localhost\r\n" + chunked + b'13\r\n{"queries":["ship"]}\r\n0\r\n\r\n'
    yield first + b"Expect: 100-continue\r\nUpgrade: websocket\r\nConnection: upgrade\r\nX: \xff\r\n\r\n"
    yield b"GET http://localhost/v1/status HTTP/1.0\r\n\r\n"
