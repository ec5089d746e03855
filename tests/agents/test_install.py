"""`semsearch mcp install`: the configuration of a client gets the server, and keeps all else."""

from __future__ import annotations

import json
import tomllib
from pathlib import Path
from typing import Any

import pytest
from console import semsearch, work_in

from semsearch.cli.commands.mcp_install import CLIENTS


@pytest.fixture(autouse=True)
def _at_home(folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Path, "home", lambda: tmp_path / "home")
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "home" / ".config"))
    (tmp_path / "work").mkdir()
    work_in(tmp_path / "work", monkeypatch)


def servers(name: str) -> Any:
    """The servers in the configuration of a client."""
    text = CLIENTS[name].file().read_text(encoding="utf-8")
    return (tomllib.loads(text) if name == "codex" else json.loads(text))[CLIENTS[name].key]


@pytest.mark.parametrize("name", CLIENTS)
def test_the_entry_starts_the_server_and_what_was_there_stays(name: str, folder: Path) -> None:
    file = CLIENTS[name].file()
    file.parent.mkdir(parents=True, exist_ok=True)
    other = {"command": "other", "args": ["é"]}
    before = f"# mine\n[{CLIENTS[name].key}.other]\ncommand = 'other'\nargs = ['é']\n"
    file.write_text(before if name == "codex" else json.dumps({CLIENTS[name].key: {"other": other}}), encoding="utf-8")
    asked = ("mcp", "install", name, "--indexes", folder / "indexes")
    refused = semsearch(*asked)
    assert (refused.status, "nothing was written" in refused.err, set(servers(name))) == (2, True, {"other"})
    assert "+" in refused.out
    assert semsearch(*asked, "--yes").status == 0
    entry = servers(name)["semsearch"]
    assert entry["args"][-3:] == ["mcp", "--indexes", str(folder / "indexes")]
    assert servers(name)["other"] == other
    if name == "codex":
        assert file.read_text(encoding="utf-8").startswith(before)
    printed = semsearch(*asked, "--print").out
    assert (tomllib.loads(printed) if name == "codex" else json.loads(printed))[CLIENTS[name].key]["semsearch"] == entry
    again = semsearch(*asked, "--yes")
    assert (again.status, "already" in again.err) == (2 if name == "codex" else 0, True)


@pytest.mark.parametrize("text", ["{ // a comment\n}", "[]", '{"mcpServers": 3}'])
def test_a_file_that_would_lose_something_is_left_alone(text: str) -> None:
    file = CLIENTS["cursor"].file()
    file.parent.mkdir(parents=True)
    file.write_text(text)
    result = semsearch("mcp", "install", "cursor", "--yes")
    assert (result.status, "--print" in result.err, file.read_text()) == (2, True, text)


@pytest.mark.parametrize("words", [("install",), ("install", "emacs"), ("cursor",)])
def test_without_a_program_that_is_known_the_programs_are_named(words: tuple[str, ...]) -> None:
    result = semsearch("mcp", *words, "--print")
    assert result.status == 2
    assert "names none of these programs: claude-code, " in result.err
    assert "semsearch mcp install claude-code" in result.err
