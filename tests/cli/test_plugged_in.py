"""Commands of other distributions: found when they are named or listed, and never in the way of semsearch's own."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from console import index_docs, semsearch, write_docs
from guide import blocks, read
from plugged_in import install, installed
from typer.main import get_command

from semsearch.cli import plugged_in
from semsearch.cli.main import COMMANDS, app
from semsearch.cli.plugged_in import GROUP, IN_REPOSITORY
from semsearch.word_vectors.table import VectorTable

SHOUT = """
import typer
from semsearch.commands import complain

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
    (announced,) = [block.code for block in page if block.language == "toml" and GROUP in block.code]
    name, _, value = announced.splitlines()[-1].partition(" = ")
    write_docs(tmp_path)
    index_docs(tmp_path, small_vectors)
    install(tmp_path / "site", "longest_passages", code, GROUP, **{name: value.strip('"')})
    with installed(tmp_path / "site"):
        found = semsearch("longest", "--indexes", tmp_path / "indexes")
        assert (found.status, found.err) == (0, "")
        assert [line.split()[1].endswith(("guide.md", "notes.txt")) for line in found.lines] == [True, True]
        assert "Print the documents with the most passages." in semsearch("--help").out
    assert semsearch("longest").status == 2


def test_commands_join_semsearch_and_its_groups(tmp_path: Path) -> None:
    announce(tmp_path, shout="shouting:shout", many="shouting:several", **{"evaluate.loud": "shouting:shout"})
    with installed(tmp_path):
        assert semsearch("shout", "hello", "--times", 2).out == "HELLO HELLO\n"
        assert semsearch("many", "two").out == "two\n"
        assert semsearch("evaluate", "loud", "hello").out == "HELLO\n"
        assert semsearch("loud", "hello").status == 2
        assert "loud " in semsearch("evaluate", "--help").out
        assert "loud " not in semsearch("--help").out


def test_a_command_that_fails_is_one_line_and_the_others_go_on(tmp_path: Path) -> None:
    announce(tmp_path, gone="nowhere:shout", nothing="shouting:nothing", lost="shouting:lost", shout="shouting:shout")
    with installed(tmp_path):
        for name in ("gone", "nothing", "lost"):
            found = semsearch(name)
            assert (found.status, found.out, len(found.err.splitlines())) == (2, "", 1)
            assert f"the command {name} of shouting cannot be loaded (" in found.err
        listed = semsearch("--help")
        assert listed.status == 0
        assert {"query", "shout"} <= {line.split()[0] for line in listed.lines if line.startswith("  ")}
        assert len([line for line in listed.err.splitlines() if line.startswith("semsearch: warning: ")]) == 3
        assert semsearch("shout", "hello").out == "HELLO\n"
        assert semsearch("config", "path").err == ""


def test_a_command_of_semsearch_is_not_replaced(tmp_path: Path) -> None:
    announce(tmp_path, query="shouting:shout", **{"evaluate.golden": "shouting:shout"})
    with installed(tmp_path):
        assert "Search an index." in semsearch("query", "--help").out
        assert semsearch("--help").err == (
            "semsearch: warning: shouting announces the command query, which is built in; it is ignored\n"
        )
        assert "Run your own questions" in semsearch("evaluate", "golden", "--help").out
        assert "the command evaluate golden, which is built in" in semsearch("evaluate", "--help").err


@pytest.mark.parametrize("command", ["bench", "evaluate report", "evaluate weights"])
def test_a_command_of_research_says_how_to_install_it(command: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(plugged_in, "installed_points", list)
    found = semsearch(*command.split(), "--json")
    assert (found.status, found.out) == (2, "")
    assert found.err == (
        f"semsearch: semsearch {command} is part of semsearch-research; install it with: "
        "pip install . ./research (in a clone of the repository)\n"
    )
    assert command.split()[-1] not in semsearch(*command.split()[:-1], "--help").out.split()


@pytest.mark.parametrize("folder", ["research", "scale"])
def test_the_commands_of_other_distributions_are_those_that_they_announce(folder: str) -> None:
    tomllib = pytest.importorskip("tomllib")
    project = tomllib.loads(read(f"{folder}/pyproject.toml"))["project"]
    announced = {
        ".".join(filter(None, (group, name)))
        for group, commands in IN_REPOSITORY.items()
        for name, brought_by in commands.items()
        if brought_by == folder
    }
    assert set(project["entry-points"][GROUP]) == announced


def test_a_query_does_not_look_for_commands(tmp_path: Path, small_vectors: VectorTable) -> None:
    write_docs(tmp_path)
    folder = index_docs(tmp_path, small_vectors)
    announce(tmp_path / "site", shout="shouting:shout")
    code = (
        "import atexit, sys\n"
        f"sys.argv = ['semsearch', 'query', 'a ship', '--indexes', {str(folder / 'indexes')!r}]\n"
        "needless = {'semsearch.cli.plugged_in', 'shouting', 'typer'}\n"
        "atexit.register(lambda: print(needless & {*sys.modules}, flush=True))\n"
        "from semsearch.__main__ import main\nmain()\n"
    )
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(tmp_path / "site"), *sys.path])}
    done = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1] == "set()"
    assert "guide.md" in done.stdout


@pytest.mark.parametrize("name", COMMANDS)
def test_the_list_of_commands_has_the_first_sentence_of_each_help(name: str) -> None:
    group: Any = get_command(app)
    help_text = " ".join(group.own_command(None, name).help.split("\n\n")[0].split())
    assert f"{help_text} ".startswith(f"{COMMANDS[name].summary} ")
