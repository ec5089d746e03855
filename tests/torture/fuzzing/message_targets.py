"""Targets that are messages to a server: requests over HTTP, and messages of the Model Context Protocol."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from agent_messages import META, call, hello, message

from fuzzing.small_index import made_index
from fuzzing.target import Run, Target
from semsearch.agents.http_transport import HttpAgents
from semsearch.agents.protocol import AgentProtocol
from semsearch.agents.tools import TOOLS
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
    words = (*_JSON_WORDS, "tools/call", "resources/read", "semsearch://", "initialize", "_meta", "arguments", "#L")
    yield Target("mcp", _messaging, _messages, words)


def _requesting(folder: Path, *, writes: bool) -> Run:
    """An input is a method and an address on the first line, a type on the second, and a body."""
    indexes = OpenIndexes(folder=made_index(folder).parent)
    server = RunningServer(indexes, ServerSettings(port=0), _TOKEN, listen(ServerSettings(port=0)))
    application: Any = server._server.config.app
    loop = asyncio.new_event_loop()

    def run(data: bytes) -> None:
        first, _, rest = data.partition(b"\n")
        kind, _, body = rest.partition(b"\n")
        method, _, target = first.decode("latin-1").partition(" ")
        path, _, query = target.partition("?")
        headers = [(b"host", b"127.0.0.1"), (b"content-type", kind), (b"content-length", str(len(body)).encode())]
        if writes:
            headers.append((b"authorization", f"Bearer {_TOKEN}".encode()))
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
            "client": ("127.0.0.1", 1),
            "server": ("127.0.0.1", 80),
        }
        status, answer = loop.run_until_complete(_answered(application, scope, body))
        assert status < 500, f"status {status}: {answer[:200]!r}"
        if status >= 400:
            assert json.loads(answer)["detail"], "a refusal without a reason"

    return run


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


def _messages() -> Iterator[bytes]:
    values: dict[str, Any] = {"query": "a ship", "citation": "sea-0.md:5", "index": "docs", "k": 3}
    for tool, declared in TOOLS.items():
        arguments = {each.name: values[each.name] for each in declared.parameters if each.name in values}
        yield b"\x01" + json.dumps(call(tool, **arguments)).encode()
        yield b"\x03" + json.dumps(call(tool, stateless=True, **arguments)).encode()
    for each in (hello(), message("resources/read", uri="semsearch://docs/sea-0.md#L5"), message("tools/list")):
        yield b"\x02" + json.dumps(each).encode()
    yield b"\x01" + json.dumps([message("ping"), message("ping", id=2), {"_meta": META}]).encode()
