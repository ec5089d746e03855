"""The recipes of the guide configure a server that starts."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import anyio
import pytest
from guide import blocks, read
from mcp import Client
from mcp.client.stdio import StdioServerParameters, stdio_client
from processes.agent_process import environment

JSON = [block.code for block in blocks(read("docs/agents.md")) if block.language == "json"]


@pytest.mark.parametrize("recipe", JSON, ids=range(len(JSON)))
def test_a_recipe_starts_the_server(recipe: str, folder: Path) -> None:
    ((_, servers),) = json.loads(recipe).items()
    (server,) = servers.values()
    assert server["command"] == "semsearch"
    name, *options = server["args"]
    assert name == "mcp"
    given: list[Any] = [str(folder / "indexes") if option.startswith("/") else option for option in options]

    async def connected() -> None:
        command = StdioServerParameters(
            command=sys.executable, args=["-m", "semsearch", "mcp", *given], cwd=folder.parent, env=environment()
        )
        async with Client(stdio_client(command)) as client:
            assert "docs, notes" in str(client.instructions)

    anyio.run(connected)
