"""The recipes of the guide configure a server that starts."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from agent_messages import hello
from guide import blocks, read
from processes.agent_process import agent_process

JSON = [block.code for block in blocks(read("docs/agents.md")) if block.language == "json"]


@pytest.mark.parametrize("recipe", JSON, ids=range(len(JSON)))
def test_a_recipe_starts_the_server(recipe: str, folder: Path) -> None:
    ((_, servers),) = json.loads(recipe).items()
    (server,) = servers.values()
    assert server["command"] == "semsearch"
    name, *options = server["args"]
    assert name == "mcp"
    given: list[Any] = [str(folder / "indexes") if option.startswith("/") else option for option in options]
    with agent_process(folder.parent, *given) as agent:
        assert "docs, notes" in agent.ask(hello())["result"]["instructions"]
        assert agent.end() == ([], "")


def test_the_codex_recipe_starts_the_same() -> None:
    (recipe,) = [block.code for block in blocks(read("docs/agents.md")) if block.language == "toml"]
    assert 'args = ["mcp", "--indexes",' in recipe
