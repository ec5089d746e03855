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
    assert header.split() == ["path", "passages", "format", "date", "title"]
    assert guide.split() == ["docs/guide.md", "2", "markdown", "2001-09-09", "The", "guide"]
    assert notes.split()[:3] == ["docs/more/notes.txt", "1", "text"]


def test_a_filter_is_of_documents(made: Path) -> None:
    assert [item["path"] for item in semsearch("list", "--filter", "docs/more/", "--json").json] == [
        "docs/more/notes.txt"
    ]
    nothing = semsearch("list", "--filter", "format=pdf")
    assert (nothing.status, nothing.err) == (0, "semsearch: no documents\n")
    assert semsearch("list", "--filter", "format=pdf", "--json").json == []
    assert semsearch("list", "--filter", "[").status == 2


def test_facets_are_lines_with_the_filter_of_each(made: Path) -> None:
    lines = [line.split() for line in semsearch("list", "--facets").lines]
    assert lines[:2] == [["by", "value", "documents", "filter"], ["all", "2"]]
    assert ["folder", "more", "1", f"{Path.cwd().as_posix()}/docs/more/"] in lines
    assert ["format", "markdown", "1", "format=markdown"] in lines
    (made / "docs" / "long.md").write_text(f"---\nabout: {'x' * 60}\n---\nA ship.", encoding="utf-8")
    assert semsearch("index").status == 0
    (long,) = [line.split() for line in semsearch("list", "--facets").lines if line.startswith("about")]
    assert long == ["about", "x" * 39 + "…", "1", "about=" + "x" * 60]
    (made / "docs" / "long.md").unlink()
    assert semsearch("index").status == 0
    chosen = semsearch("list", "--facets", "--filter", "format=markdown", "--json").json
    assert (chosen["documents"], chosen["formats"]["own"]) == (1, ["format=markdown"])
    assert len(semsearch("list", "--facets", "--jsonl").lines) == 1
