"""Commands of other distributions: found when they are named or listed, and never in the way of semsearch's own."""

from __future__ import annotations

from pathlib import Path

import pytest
from console import index_docs, semsearch, write_docs
from guide import blocks, read
from plugged_in import install, installed

from semsearch.cli import plugged_in
from semsearch.cli.plugged_in import GROUP
from semsearch.word_vectors.table import VectorTable

SHOUT = """
import typer
from semsearch.commands import print_stderr

def shout(word: str, times: int = 1) -> None:
    \"\"\"Say a word aloud.\"\"\"
    print(" ".join([word.upper()] * times))

several = typer.Typer()

@several.command()
def one() -> None:
    print("one")

@several.command()
def two() -> None:
    print("two")

nothing = 7
"""


def announce(folder: Path, **points: str) -> None:
    install(folder, "shouting", SHOUT, GROUP, **points)


def test_the_guides_command_is_a_command(tmp_path: Path, small_vectors: VectorTable) -> None:
    page = blocks(read("docs/developers/python.md"))
    (code,) = [block.code for block in page if block.language == "python" and "semsearch.commands" in block.code]
    (plugin_commands,) = [block.code for block in page if block.language == "toml" and GROUP in block.code]
    name, _, value = plugin_commands.splitlines()[-1].partition(" = ")
    write_docs(tmp_path)
    index_docs(tmp_path, small_vectors)
    install(tmp_path / "site", "longest_passages", code, GROUP, **{name: value.strip('"')})
    with installed(tmp_path / "site"):
        found = semsearch("longest", "--indexes", tmp_path / "indexes")
        assert (found.status, found.err) == (0, "")
        assert [line.split()[1].endswith(("guide.md", "notes.txt")) for line in found.lines] == [True, True]
        assert "longest" in semsearch("--help").out
    assert semsearch("longest").status == 2


def test_commands_join_semsearch_and_its_groups(tmp_path: Path) -> None:
    announce(tmp_path, shout="shouting:shout", many="shouting:several", **{"evaluate.loud": "shouting:shout"})
    with installed(tmp_path):
        assert semsearch("shout", "hello", "--times", 2).out == "HELLO HELLO\n"
        assert semsearch("many", "two").out == "two\n"
        assert semsearch("evaluate", "loud", "hello").out == "HELLO\n"
        assert semsearch("loud", "hello").status == 2
        assert "Say a word aloud." in semsearch("evaluate", "--help").out
        assert "many " in semsearch("--help").out
        assert "loud " not in semsearch("--help").out


def test_a_command_that_fails_is_one_line_and_the_others_go_on(tmp_path: Path) -> None:
    announce(tmp_path, gone="nowhere:shout", nothing="shouting:nothing", lost="shouting:lost", shout="shouting:shout")
    with installed(tmp_path):
        for name in ("gone", "nothing", "lost"):
            found = semsearch(name)
            assert (found.status, found.out, len(found.err.splitlines())) == (2, "", 1)
            assert name in found.err
            assert "cannot be loaded" in found.err
        listed = semsearch("--help")
        assert listed.status == 0
        assert {"query", "shout"} <= {*listed.out.split()}
        assert semsearch("shout", "hello").out == "HELLO\n"
        assert semsearch("vectors", "list").err == ""


def test_a_command_of_semsearch_is_not_replaced(tmp_path: Path) -> None:
    announce(tmp_path, query="shouting:shout", **{"evaluate.golden": "shouting:shout"})
    with installed(tmp_path):
        assert "Search an index." in semsearch("query", "--help").out
        assert "Run your own questions" in semsearch("evaluate", "golden", "--help").out


@pytest.mark.parametrize("command", ["bench", "evaluate report", "publish"])
def test_a_command_of_another_distribution_says_how_to_install_it(
    command: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(plugged_in, "plugin_commands", lambda _: {})
    result = semsearch(*command.split(), "--json")
    assert (result.status, result.out) == (2, "")
    assert f"semsearch: semsearch {command} is no command, or part of semsearch-" in result.err
