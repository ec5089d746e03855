"""The skill for agents has the form that agents read, is small, and every command in it runs."""

from __future__ import annotations

import json
import shlex
from pathlib import Path

import pytest
from console import semsearch, work_in
from guide import blocks, make_world, read

SKILL = "skills/semsearch/SKILL.md"
COMMANDS = [line for block in blocks(read(SKILL)) for line in block.code.splitlines()]


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("world")
    make_world(folder)
    assert semsearch("index", folder / "notes", "--indexes", folder / "indexes").status == 0
    return folder


def test_the_skill_shows_commands() -> None:
    assert len(COMMANDS) > 6
    assert {shlex.split(command)[:1][0] for command in COMMANDS} == {"semsearch"}
    assert read("docs/agents.md").count("skills/semsearch") >= 1


@pytest.mark.parametrize("command", COMMANDS)
def test_a_command_of_the_skill_runs(command: str, world: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    work_in(world, monkeypatch)
    result = semsearch(*shlex.split(command)[1:])
    assert (result.status, result.err) == (0, "")
    if "--json" in command:
        assert json.loads(result.out)


def test_results_have_the_keys_that_the_skill_names(world: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    work_in(world, monkeypatch)
    found = semsearch("query", "how do I rotate the keys?", "--json").json
    assert "answered" in found
    assert {"path", "line", "page", "place", "headings", "sentence", "passage", "stale"} <= set(found["hits"][0])
    assert {"text", "citations"} <= set(semsearch("context", "how do I rotate the keys?", "--json").json)
    nothing = semsearch("context", "who wrote Hamlet?", "--json")
    assert (nothing.status, nothing.json["citations"]) == (1, [])
