"""The server for agents, asked by the protocol's own client: over pipes and HTTP, with a handshake and without one."""

from __future__ import annotations

import json
import sys
import threading
from collections.abc import Awaitable, Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from pathlib import Path
from typing import Any

import pytest
from packages import needed
from processes.agent_process import environment
from serving import TOKEN, running

from semsearch.index import Index
from semsearch.mcp import http_application, instructions, make_server
from semsearch.server.open_indexes import OpenIndexes
from semsearch.server.running import ServerSettings

needed("mcp", reason="an optional dependency")

TOOLS = ["search", "similar", "read", "list_documents", "status"]
Where = Callable[[Path], AbstractContextManager[Any]]
Talk = Callable[[Any], Awaitable[None]]


def over_pipes(folder: Path, *options: str) -> AbstractContextManager[Any]:
    """The server as a program that the client starts."""
    from mcp.client.stdio import StdioServerParameters, stdio_client

    args = ["-m", "semsearch", "mcp", *options]
    return nullcontext(
        stdio_client(StdioServerParameters(command=sys.executable, args=args, cwd=folder, env=environment()))
    )


@contextmanager
def over_http(folder: Path) -> Iterator[str]:
    """The server at an address."""
    served = OpenIndexes(folder=folder / "indexes")
    application = http_application(make_server(lambda: served, served.descriptions(), seconds=60))
    with running(served, mcp=application) as asker:
        yield f"{asker.url}/mcp"


def within(indexes: OpenIndexes, *, seconds: float = 60) -> Any:
    """The server in this process."""
    return make_server(lambda: indexes, indexes.descriptions(), seconds=seconds)


def talk_to(server: Any, talk: Talk, mode: str = "auto") -> None:
    """Connect a client, and talk."""
    import anyio
    from mcp import Client

    async def connected() -> None:
        async with Client(server, mode=mode) as client:
            await talk(client)

    anyio.run(connected)


def answer(result: Any) -> Any:
    """What a tool answers."""
    assert not result.is_error, result.content[0].text
    assert result.structured_content is None  # the same again
    return json.loads(result.content[0].text)


@pytest.mark.parametrize("mode", ["auto", "legacy"])
@pytest.mark.parametrize("where", [over_pipes, over_http])
def test_a_session(folder: Path, where: Where, mode: str) -> None:
    async def talk(client: Any) -> None:
        assert "cite" in str(client.instructions).lower()
        assert "docs, notes" in client.instructions
        assert [tool.name for tool in (await client.list_tools()).tools] == TOOLS
        found = answer(await client.call_tool("search", {"query": "a ship in the storm", "index": "docs"}))
        best = found["results"][0]
        read = answer(await client.call_tool("read", {"citation": best["citation"], "index": "docs"}))
        assert any(best["sentence"] in passage["text"] for passage in read["passages"])
        assert answer(await client.call_tool("status", {}))["indexes"]

    with where(folder) as server:
        talk_to(server, talk, mode)


def test_definitions_are_small_and_plain(indexes: OpenIndexes) -> None:
    async def talk(client: Any) -> None:
        listed = (await client.list_tools()).model_dump(mode="json", by_alias=True, exclude_none=True)["tools"]
        text = json.dumps(listed, separators=(",", ":"))
        assert len(text) < 4_000  # about 1,000 tokens
        for word in ("anyOf", "oneOf", "$ref", '"null"'):  # which models fill wrongly
            assert word not in text
        for tool in listed:
            assert tool["annotations"]["readOnlyHint"] is True
            assert all(schema["description"] for schema in tool["inputSchema"]["properties"].values())

    talk_to(within(indexes), talk)


@pytest.mark.parametrize(
    ("tool", "arguments", "reason"),
    [
        ("search", {"query": "a ship", "index": "nowhere"}, "the server has: docs, notes"),
        ("search", {"query": "a ship", "limit": 0}, "limit: Input should be greater than or equal to 1, not 0"),
        ("search", {"query": "a ship", "cursor": "no number"}, "cursor: Input should be a valid integer"),
        ("search", {}, "query is missing"),
        ("search", {"query": "a ship", "top_k": 3}, "there is no parameter top_k"),
        ("read", {"citation": "/etc/passwd"}, "not in the index"),
    ],
)
def test_an_error_tells_the_model_what_is_wrong(
    indexes: OpenIndexes, tool: str, arguments: dict[str, Any], reason: str
) -> None:
    async def talk(client: Any) -> None:
        refused = await client.call_tool(tool, arguments)
        assert refused.is_error
        assert reason in refused.content[0].text
        assert "\n" not in refused.content[0].text

    talk_to(within(indexes), talk)


def test_a_call_that_takes_too_long_is_an_error_and_the_next_is_answered(folder: Path) -> None:
    class Held(OpenIndexes):
        go = threading.Event()

        def get(self, name: str | None) -> Index:
            self.go.wait()
            return super().get(name)

    held = Held(folder=folder / "indexes")

    async def talk(client: Any) -> None:
        late = await client.call_tool("search", {"query": "a ship", "index": "docs"})
        held.go.set()
        assert late.is_error
        assert "longer than 0.05 seconds" in late.content[0].text
        assert [tool.name for tool in (await client.list_tools()).tools] == TOOLS

    talk_to(within(held, seconds=0.05), talk)
    held.close()


def test_only_the_named_index_can_be_reached(folder: Path) -> None:
    async def talk(client: Any) -> None:
        assert "docs" not in client.instructions.split("documents.")[1]
        assert (await client.call_tool("search", {"query": "a ship", "index": "docs"})).is_error
        assert answer(await client.call_tool("read", {"citation": "cases"}))["index"] == "notes"

    with over_pipes(folder, "-i", "notes") as server:
        talk_to(server, talk)


def test_who_may_ask_over_http_is_for_the_server_to_say(folder: Path) -> None:
    served = OpenIndexes(folder=folder / "indexes")
    application = http_application(make_server(lambda: served, {}, seconds=60))
    ping = {"jsonrpc": "2.0", "id": 1, "method": "ping"}
    accepted = {"Accept": "application/json, text/event-stream"}
    with running(served, ServerSettings(port=0, always_token=True), mcp=application) as asker:
        assert asker.post("/mcp", ping, headers=accepted).status == 401
        assert asker.post("/mcp", ping, headers={**accepted, "Host": "evil.example"}).status == 421
        allowed = asker.post("/mcp", ping, headers={**accepted, "Authorization": f"Bearer {TOKEN}"})
        assert (allowed.status, allowed.json["result"]) == (200, {})
        stream = asker.get("/mcp", headers={"Accept": "text/event-stream", "Authorization": f"Bearer {TOKEN}"})
        assert stream.status == 405  # nothing would ever be sent on it


def test_instructions_name_the_indexes_and_what_they_hold() -> None:
    assert "Indexes" not in instructions({"docs": ""})
    assert "Indexes: docs (minutes of meetings), notes." in instructions({"docs": "minutes of meetings.", "notes": ""})
    assert "and 5 more." in instructions({f"index {number}": "" for number in range(25)})
    assert len(instructions({f"index {number}": "word " * 100 for number in range(25)})) < 4_000
