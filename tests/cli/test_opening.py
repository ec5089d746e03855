"""Opening a hit: the editor at its line, the indexed text; and `semsearch query --open`."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from console import INDEX, index_docs, semsearch, work_in, write_docs

from semsearch.cli.open_hit import editing, show_hit
from semsearch.errors import UsageError
from semsearch.index import Index
from semsearch.results.hits import Hit
from semsearch.word_vectors.table import VectorTable

pytestmark = pytest.mark.skipif(os.name == "nt", reason="the programs that are opened here are shell scripts")
PROGRAM = '#!/bin/sh\nfor each in "$@"; do printf "%s\\0" "$each"; done > "$0.was-given"\n'


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory, small_vectors: VectorTable) -> Path:
    """A folder with documents, and an index of them and of a text that a program added."""
    folder = tmp_path_factory.mktemp("work")
    write_docs(folder)
    hostile = folder / "docs" / "-c\x1b]0;evil\x07 it's $(here)\n.txt"
    hostile.write_text("Wheat on the farm.\n\nThe cow in the barn and the \x1b[31mhay.\n", encoding="utf-8")
    index_docs(folder, small_vectors)
    with Index.open(folder / INDEX) as index:
        index.add([("added", "The planet is in orbit. " * 100 + "\n\nThe star and the \x1b[2Jcomet.")])
    return folder


@pytest.fixture
def bin_(tmp_path: Path) -> Path:
    folder = tmp_path / "bin"
    folder.mkdir()
    return folder


@pytest.fixture(autouse=True)
def here(folder: Path, bin_: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    work_in(folder, monkeypatch)
    monkeypatch.setenv("PATH", str(bin_))  # nothing of this machine is started
    for name in ("VISUAL", "EDITOR"):
        monkeypatch.setenv(name, "")


def program(folder: Path, name: str) -> Path:
    """A program that writes down what it is given."""
    path = folder / name
    path.write_text(PROGRAM, encoding="utf-8")
    path.chmod(0o755)
    return path


def given(program: Path) -> list[str]:
    return Path(f"{program}.was-given").read_text(encoding="utf-8").split("\0")[:-1]


def ask(query: str, index: Index) -> Hit:
    return index.search(query, k=1)[0]


@pytest.mark.parametrize(
    ("command", "arguments"),
    [
        ("vim.tiny -u NONE", ["-u", "NONE", "+7", "/work/-a b.md"]),
        ("code --wait", ["--wait", "--goto", "/work/-a b.md:7"]),
        ("hx", ["/work/-a b.md:7"]),
        ("an-editor-of-mine '--title=a b'", ["--title=a b", "/work/-a b.md"]),
    ],
)
def test_an_editor_is_given_the_line_as_it_takes_it(
    command: str, arguments: list[str], bin_: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = program(bin_, command.split()[0])
    monkeypatch.setenv("EDITOR", command)
    assert editing(Path("/work/-a b.md"), 7) == [str(path), *arguments]


def test_visual_wins_and_an_editor_that_is_not_there_is_said(bin_: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("EDITOR", "vim")
    monkeypatch.setenv("VISUAL", "nowhere --wait")
    with pytest.raises(UsageError, match=r"'nowhere' was not found; set \$VISUAL"):
        editing(Path("a.md"), 1)
    monkeypatch.setenv("VISUAL", "vim 'unclosed")
    with pytest.raises(UsageError, match="is not a valid command"):
        editing(Path("a.md"), 1)


def test_a_batch_file_is_given_no_path_that_it_would_obey(bin_: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    program(bin_, "code.cmd")
    monkeypatch.setenv("EDITOR", "code.cmd")
    assert editing(Path("/a b.md"), 7)[1:] == ["--goto", "/a b.md:7"]
    with pytest.raises(UsageError, match="batch file"):
        editing(Path('/a" & calc & ".md'), 7)


def test_the_name_of_a_document_is_one_argument_whatever_it_is(
    bin_: Path, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    vim = program(bin_, "vim")
    monkeypatch.setenv("EDITOR", "vim")
    monkeypatch.chdir(folder / "docs")
    with Index.open(folder / INDEX) as index:
        hit = ask("the cow in the barn", index)
        assert hit.path.startswith("-c\x1b")
        assert show_hit(hit, index) == ""
    assert given(vim) == ["+3", str(folder / "docs" / hit.path)]


def test_a_hit_beyond_the_first_ten_may_be_opened_and_one_that_is_not_there_is_said(
    bin_: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    program(bin_, "vim")
    monkeypatch.setenv("EDITOR", "vim")
    asked = "captain ship bread violin judge"
    there = len(semsearch("query", asked, "-k", "99", "--json").json["hits"])
    beyond = semsearch("query", asked, "--open", "99")
    assert beyond.status == 2
    assert f"only {there}" in beyond.err
    none = semsearch("query", "captain", "--filter", "nowhere/*", "--open", "1")
    assert (none.status, none.out) == (1, "")
    assert "no hits" in none.err
    for options in (("--json",), ("--explain",)):
        assert "--open prints no hits" in semsearch("query", "captain", "--open", "1", *options).err


def test_without_an_editor_the_indexed_text_is_shown_from_the_passage_on_without_what_a_terminal_obeys() -> None:
    shown = semsearch("query", "the cow in the barn", "--open", "1")
    assert (shown.status, shown.err) == (0, "")
    assert shown.lines[2:] == ["Wheat on the farm.", "", "The cow in the barn and the  [31mhay."]
    added = semsearch("query", "the star", "--open", "1")
    assert added.lines[-1] == "The star and the  [2Jcomet."
    assert added.out.count("planet") < 90


def test_what_has_gone_is_shown_as_it_was_indexed(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    with Index.open(INDEX) as index:
        hit = ask("the violin in the concert", index)
        Path("docs/more/notes.txt").rename("notes.txt")
        try:
            assert "cannot be opened: No such file or directory" in show_hit(hit, index)
        finally:
            Path("notes.txt").rename("docs/more/notes.txt")
    assert "A violin and a piano in the concert." in capsys.readouterr().out
