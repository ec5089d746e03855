"""Targets that are messages to a server: requests over HTTP, and messages of the Model Context Protocol."""

from __future__ import annotations

import asyncio
import json
import os
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

from agent_messages import META, call, hello, message

from fuzzing.small_index import made_index
from fuzzing.target import Run, Target
from semsearch.agents.http_transport import HttpAgents
from semsearch.agents.protocol import AgentProtocol
from semsearch.agents.stdio_transport import MessagePipes, StdioServer
from semsearch.agents.tools import TOOLS
from semsearch.serve.connection_limits import ConnectionLimits, Connections
from semsearch.serve.open_indexes import OpenIndexes
from semsearch.serve.openapi import OPERATIONS
from semsearch.serve.server import RunningServer, ServerSettings, listen

_TOKEN = "a token for tests, of enough characters"  # of no server but this one
_VERSIONS: tuple[dict[str, str], ...] = (
    {},
    {"mcp-protocol-version": "2025-03-26"},
    {"mcp-protocol-version": "2025-11-25"},
    {"mcp-protocol-version": "2026-07-28", "mcp-method": "tools/call", "mcp-name": "search"},
)
_QUERY_WORDS = ("&", "=", "%00", "%ED%A0%80", "index=docs", "query=", "filters=", "k=", "offset=", "1e9", "-1", "true")
_JSON_WORDS = ('{"', '":', "[", "]", "null", "true", "1e999", "\\ud800", '"query"', '"index":"docs"', "-0.0", "NaN")
_INTERNAL_ERROR = -32603


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
    words = (*_JSON_WORDS, "tools/call", "resources/read", "semsearch://", "initialize", "_meta", "arguments", "#L")
    yield Target("mcp", _messaging, _messages, words)
    yield Target("mcp-lines", _speaking, _lines, words)
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


def _requests(*, writes: bool) -> Iterator[bytes]:
    """The example of each operation."""
    for operation in OPERATIONS:
        if operation.is_write != writes:
            continue
        values = {"index": "docs", **operation.example}
        path = operation.path
        if operation.in_path is not None:
            values.pop(operation.in_path.name, None)
            path = path.replace("{" + operation.in_path.name + "}", "added")
        if operation.has_body:
            yield f"{operation.method} {path}\napplication/json\n{json.dumps(values)}".encode()
        else:
            query = "&".join(f"{name}={value}" for name, value in values.items())
            yield f"{operation.method} {path}?{query}\n\n".encode()


def _messaging(folder: Path) -> Run:
    """The first byte chooses the headers; the rest is the body."""
    indexes = OpenIndexes(folder=made_index(folder).parent)
    agents = HttpAgents(AgentProtocol(lambda: indexes, indexes.descriptions))

    def run(data: bytes) -> None:
        reply = agents.reply(data[1:], _VERSIONS[data[0] % len(_VERSIONS) if data else 0])
        assert reply.status < 500, f"status {reply.status}"
        answers = json.loads(reply.body) if reply.body else []
        for answer in answers if isinstance(answers, list) else [answers]:
            assert answer.get("error", {}).get("code") != _INTERNAL_ERROR, f"an internal error: {answer}"

    return run


def _speaking(folder: Path) -> Run:
    """The input is what a client writes to standard input: each request is answered once, by a line of JSON."""
    indexes = OpenIndexes(folder=made_index(folder).parent)
    protocol = AgentProtocol(lambda: indexes, indexes.descriptions)

    def run(data: bytes) -> None:
        (folder / "asked").write_bytes(data)
        (folder / "answered").write_bytes(b"")
        asked, answered = os.open(folder / "asked", os.O_RDONLY), os.open(folder / "answered", os.O_WRONLY)
        pipes = MessagePipes(asked, answered, most=100_000)
        try:
            StdioServer(protocol, pipes, seconds=60).run()
        finally:
            pipes.close()
        for line in (folder / "answered").read_bytes().splitlines():
            answer = json.loads(line)
            for each in answer if isinstance(answer, list) else [answer]:
                assert each.get("error", {}).get("code") != _INTERNAL_ERROR, f"an internal error: {each}"

    return run


def _lines() -> Iterator[bytes]:
    messages = [each[1:] for each in _messages()]
    yield b"\n".join(messages) + b"\n"
    yield from (json.dumps(hello()).encode() + b"\n" + each + b"\n" for each in messages)


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
        connections = Connections(ConnectionLimits())
        listening = await loop.create_server(
            lambda: connections.protocol(config=config, server_state=ServerState(), app_state={}), "127.0.0.1", 0
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


def _messages() -> Iterator[bytes]:
    values: dict[str, Any] = {"query": "a ship", "citation": "sea-0.md:5", "index": "docs", "k": 3}
    for tool, declared in TOOLS.items():
        arguments = {each.name: values[each.name] for each in declared.parameters if each.name in values}
        yield b"\x01" + json.dumps(call(tool, **arguments)).encode()
        yield b"\x03" + json.dumps(call(tool, stateless=True, **arguments)).encode()
    for each in (hello(), message("resources/read", uri="semsearch://docs/sea-0.md#L5"), message("tools/list")):
        yield b"\x02" + json.dumps(each).encode()
    yield b"\x01" + json.dumps([message("ping"), message("ping", id=2), {"_meta": META}]).encode()
