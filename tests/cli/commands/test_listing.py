"""`semsearch list`: which indexes there are, and which documents one has."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from console import index_docs, semsearch, work_in, write_docs

from semsearch.word_vectors.table import VectorTable


@pytest.fixture
def made(tmp_path: Path, small_vectors: VectorTable, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder to work in, with an index of its documents."""
    write_docs(tmp_path)
    work_in(index_docs(tmp_path, small_vectors), monkeypatch)
    os.utime(tmp_path / "docs" / "guide.md", (10**9, 10**9))
    assert semsearch("index").status == 0
    return tmp_path


@pytest.mark.parametrize("which", [["--documents"], ["-d"], ["-i", "docs"], ["--index", "./indexes/docs"]])
def test_the_documents_of_an_index_have_a_line_each(made: Path, which: list[str]) -> None:
    header, guide, notes = semsearch("list", *which).lines
    assert header.split() == ["passages", "format", "date", "document"]
    assert guide.split() == ["2", "markdown", "2001-09-09", "docs/guide.md", "›", "The", "guide"]
    assert (notes.split()[:2], notes.split()[3]) == (["1", "text"], "docs/more/notes.txt")


@pytest.mark.skipif(os.name == "nt", reason="no name has such characters there")
def test_a_name_that_the_terminal_would_obey_is_shown_by_no_command(made: Path) -> None:
    folder = Path("red\x1b[31m\nline")
    (made / "docs").rename(folder)
    for arguments in (
        ["index", folder],
        ["index", folder, "--dry-run"],
        ["list"],
        ["status"],
        ["verify"],
        ["refit", "-i", folder],
    ):
        result = semsearch(*arguments)
        assert result.status == 0
        assert "\x1b" not in result.out + result.err
        assert "red?[31m?line" in result.out


def test_a_filter_is_of_documents(made: Path) -> None:
    assert [item["path"] for item in semsearch("list", "--filter", "docs/more/", "--json").json] == [
        "docs/more/notes.txt"
    ]
    nothing = semsearch("list", "--filter", "format=pdf")
    assert (nothing.status, nothing.err) == (0, "semsearch: no documents\n")
    assert semsearch("list", "--filter", "format=pdf", "--json").json == []
    assert semsearch("list", "--filter", "a>").status == 2
