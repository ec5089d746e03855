"""What is read without typer is what typer reads, and the process that asks plainly ends as any other does."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from functools import wraps
from importlib import import_module
from inspect import signature
from pathlib import Path
from typing import Any

import pytest
from console import index_docs, on_terminal, semsearch, work_in, write_docs
from hypothesis import given, settings, strategies as st
from typer.main import get_command

from semsearch.cli.declared import for_typer, function_of, in_order, plainly
from semsearch.cli.help_panels import command_from
from semsearch.cli.history import read_history
from semsearch.cli.main import COMMANDS, app
from semsearch.cli.start import PLAIN
from semsearch.word_vectors.table import VectorTable

WORDS = (
    *("ship", "the captain", "-", "--", "", "-1", "3", "x=1", "lexical", "hybrid", "json", "a/b", "plain", "-k", "-k3"),
    *("-k=3", "-k0", "-i", "--index", "--name=docs", "-idocs", "--index=", "-m", "--mode=dense", "-mdense", "-f"),
    *("--filter", "--context=2", "-C", "-C1", "--json", "--jsonl", "--json=yes", "--explain", "--all", "--format"),
    *("-ojson", "--format=plain", "--show=passage", "--open", "--open=0", "--min-score", "--min-score=.5", "--mark=1"),
    *("--golden", "--indexes", "--indexes=a/b", "--group=document", "--rerank", "--rerank=none", "--boost=a^1", "-x"),
    *("--help", "-h", "--nope", "--ind", "--no-json", "-jk", "--per-document=1_0", "--syntax", "--refresh"),
    *("-w", "-w9", "--max-words=0", "--port=0", "--port", "--port=65536", "--port=-1", "--host=::1", "--open=1"),
    *("--require-token", "--show-token", "--allow-host=a", "--workers=2", "--workers=65"),
    *("--timeout=.05", "--timeout=1", "--vectors=en", "--facets", "-d", "--documents"),
    *("--components", "--coverage", "--problems", "a.md:3"),
)  # fmt: skip


def function(command: str) -> Callable[..., None]:
    """The function of a command."""
    found: Callable[..., None] = getattr(
        import_module(f"semsearch.cli.commands.{PLAIN[command]}"), function_of(command)
    )
    return found


def by_typer(command: str, words: list[str]) -> dict[str, Any] | None:
    """The values that typer gives to a command; None if it gives none."""
    found = list[dict[str, Any]]()

    @wraps(for_typer(function(command)))
    def noted(**values: Any) -> None:
        found.append(values)

    made = get_command(app).make_context("semsearch", [command])  # type: ignore[attr-defined]  # of click
    try:
        command_from(noted, command).main(words, command, standalone_mode=False, parent=made)
    except Exception:  # a mistake, which typer tells
        return None
    return found[0] if found else None


def without_typer(command: str, words: list[str], defaults: dict[str, Any] | None = None) -> dict[str, Any] | None:
    """The values that a command gets without typer; None if they are left to it."""
    found = list[dict[str, Any]]()

    @wraps(function(command))
    def noted(**values: Any) -> None:
        made = signature(function(command)).bind(**values)
        made.apply_defaults()
        found.append(made.arguments)

    if (call := plainly(noted, words, os.environ)) is None:
        return None
    call(defaults or {})
    return found[0]


@pytest.mark.parametrize("folder", ["", "elsewhere"])
@pytest.mark.parametrize("command", PLAIN)
@given(words=st.lists(st.sampled_from(WORDS), max_size=6))
@settings(max_examples=60, deadline=None)
def test_what_is_read_without_typer_is_what_typer_reads(command: str, folder: str, words: list[str]) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("SEMSEARCH_INDEXES", folder)
        if (plain := without_typer(command, words)) is not None:
            full = by_typer(command, words)
            assert full is not None
            assert {**plain, "called": None} == {**full, "called": None}


def test_commands_that_are_read_without_typer_are_those_of_typer() -> None:
    assert {name: COMMANDS[name].module for name in PLAIN} == {name: f"commands.{PLAIN[name]}" for name in PLAIN}


def test_usual_questions_are_read_without_typer_and_the_rest_is_left() -> None:
    words = in_order(["-i", "docs", "search", "the", "captain", "-k3", "-m", "lexical", "-f", "*.md", "--json"])
    found = without_typer("query", words[1:], {"k": 5, "context": 2, "indexes": "here"})
    assert (words[0], found is None) == ("query", False)
    asked = {name: found[name] for name in ("index", "text", "k", "mode", "filters", "json", "context", "explain")}
    assert asked == {
        "index": ["docs"], "text": ["the", "captain"], "k": 3, "mode": "lexical", "filters": ["*.md"], "json": True,
        "context": 2, "explain": False,
    }  # fmt: skip
    assert found["indexes"] == Path("here")
    for left in (["x", "--help"], ["x", "--rerank"], ["x", "-k", "many"], ["x", "-m", "best"], ["x", "-k"], ["--json"]):
        assert without_typer("query", left) is None


def asked(*words: object, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "semsearch", *map(str, words)], capture_output=True, text=True, check=False,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path), **environment},
    )  # fmt: skip


@pytest.fixture
def folder(tmp_path: Path, small_vectors: VectorTable, monkeypatch: pytest.MonkeyPatch) -> Path:
    write_docs(tmp_path)
    work_in(index_docs(tmp_path, small_vectors), monkeypatch)
    return tmp_path


def test_the_process_answers_as_the_commands_do(folder: Path) -> None:
    for words in (
        ["query", "captain", "-k2"],
        ["query", "captain", "--json"],
        ["query", "zebra zoo"],
        ["query", "captain", "-i", "none"],
        ["query", "a", "-k", "0"],
        ["similar", "docs/guide.md", "--json"],
        ["similar", "nothing.md"],
        ["context", "captain", "-w", "50"],
        ["context", "captain", "-w", "0"],
        ["list"],
        ["ls", "docs", "--json"],
        ["status", "--problems"],
        ["serve", "-i", "none"],
        ["mcp", "-i", "none"],
    ):
        done, same = asked(*words), semsearch(*words)
        assert (done.returncode, done.stdout, done.stderr) == (same.status, same.out, same.err)
    (folder / "semsearch.toml").write_text("[search]\nk = 1\nmode = 'lexical'\n")
    assert asked("query", "captain", "--json").stdout == semsearch("query", "captain", "--json").out
    assert "lexical" in asked("query", "captain", "--json").stdout


def test_a_question_at_a_terminal_is_kept_with_its_options(folder: Path) -> None:
    on_terminal("query", "-k2", "the captain", "--name", "docs", "--indexes", folder / "indexes", "--json")
    (kept,) = read_history().questions
    assert kept.options == ("-k", "2", "--index", "docs", "--indexes", str(folder / "indexes"))


def test_the_end_of_the_process_runs_what_waits_for_it() -> None:
    code = "import atexit, threading; from semsearch.cli.messages import leave\natexit.register(print, 'at exit')\n"
    thread = "threading.Timer(.2, print, ['a thread']).start()\n"
    for made, said in (("", "at exit\n"), (thread, "a thread\nat exit\n")):
        done = subprocess.run(
            [sys.executable, "-c", f"{code}{made}leave(SystemExit(3))"], capture_output=True, text=True, check=False
        )
        assert (done.returncode, done.stdout) == (3, said)
