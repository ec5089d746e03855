"""The protocol's own client gets along with the server: over pipes and HTTP, with a handshake and without one."""

from __future__ import annotations

import sys
from collections.abc import Awaitable, Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from pathlib import Path
from typing import Any

import pytest
from packages import needed
from processes.agent_process import environment
from serving import running

from semsearch.agents.http_transport import HttpAgents
from semsearch.agents.protocol import AgentProtocol
from semsearch.agents.tools import TOOLS
from semsearch.serve.open_indexes import OpenIndexes

needed("mcp", reason="a dependency of the tests alone")

Where = Callable[[Path], AbstractContextManager[Any]]


def over_pipes(folder: Path) -> AbstractContextManager[Any]:
    """The server as a program that the client starts."""
    from mcp.client.stdio import StdioServerParameters

    args = ["-m", "semsearch", "mcp"]
    return nullcontext(StdioServerParameters(command=sys.executable, args=args, cwd=folder, env=environment()))


@contextmanager
def over_http(folder: Path) -> Iterator[str]:
    """The server at an address."""
    pytest.importorskip("uvicorn", reason="an optional dependency")
    served = OpenIndexes(folder=folder / "indexes")
    agents = HttpAgents(AgentProtocol(lambda: served, served.descriptions))
    with running(served, messages=[agents]) as asker:
        yield f"{asker.url}/mcp"


def in_session(server: Any, mode: str, talk: Callable[[Any], Awaitable[None]]) -> None:
    """Connect a client, and talk."""
    import anyio
    from mcp.client.client import Client

    async def connected() -> None:
        async with Client(server, mode=mode) as client:
            await talk(client)

    anyio.run(connected)


@pytest.mark.parametrize("mode", ["auto", "legacy"])
@pytest.mark.parametrize("where", [over_pipes, over_http])
def test_a_session(folder: Path, where: Where, mode: str) -> None:
    async def talk(client: Any) -> None:
        assert "cite" in str(client.instructions).lower()
        assert client.protocol_version == ("2026-07-28" if mode == "auto" else "2025-11-25")
        listed = await client.list_tools()
        assert [tool.name for tool in listed.tools] == list(TOOLS)
        assert all(tool.annotations.read_only_hint for tool in listed.tools)
        found = await client.call_tool("search", {"query": "a ship in the storm", "index": "docs"})
        best = found.structured_content["results"][0]  # which the client has held against the schema
        read = await client.call_tool("read", {"citation": best["citation"], "index": "docs"})
        assert best["sentence"] in read.content[0].text.encode().decode("unicode_escape")
        for tool, given in (
            ("context", {"query": "a ship", "index": "docs"}),
            ("similar", {"citation": best["citation"], "index": "docs"}),
            ("list_documents", {"index": "docs"}),
            ("status", {}),
        ):
            assert (await client.call_tool(tool, given)).structured_content
        refused = await client.call_tool("search", {"query": "a ship", "collection": "docs"})
        assert refused.is_error
        resources = await client.list_resources()
        contents = await client.read_resource(resources.resources[0].uri)
        assert contents.contents[0].text

    with where(folder) as server:
        in_session(server, mode, talk)
