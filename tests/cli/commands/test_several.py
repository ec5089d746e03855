"""`semsearch query`, `similar` and `context` of several indexes: one ranking, in which each hit says its index."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from console import index_docs, semsearch, write_docs

from semsearch.word_vectors.table import VectorTable

pytestmark = pytest.mark.usefixtures("here")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory, small_vectors: VectorTable) -> Path:
    """A folder with documents and an index of them."""
    folder = tmp_path_factory.mktemp("several")
    write_docs(folder)
    return index_docs(folder, small_vectors)


@pytest.fixture(scope="module")
def two(folder: Path, small_vectors: VectorTable) -> list[str]:
    """The options that name two indexes, of which the other has only the notes."""
    made = ["--indexes", folder / "indexes", "--vectors", small_vectors.folder]
    assert semsearch("index", folder / "docs" / "more", "--name", "notes", *made).status == 0
    return ["-i", "docs", "-i", "notes"]


def test_several_indexes_are_one_ranking_and_each_hit_says_its_own(two: list[str]) -> None:
    hits = semsearch("query", "a violin in the storm", *two, "--duplicates", "--json").json["hits"]
    assert {hit["index"] for hit in hits} == {"docs", "notes"}
    assert [hit["score"] for hit in hits] == sorted((hit["score"] for hit in hits), reverse=True)
    lines = semsearch("query", "a violin in the concert", *two).lines
    assert re.match(r"docs/more/notes\.txt:1  0\.\d{3}  \[(docs|notes)\]$", lines[0])
    assert "    + 1 near-duplicate: docs/more/notes.txt:1" in lines


def test_an_explanation_says_how_other_indexes_changed_the_score(two: list[str]) -> None:
    lines = semsearch("query", "the captain and the violin", *two, "--explain").lines
    alone = [line.strip() for line in lines if line.startswith("    alone")]
    assert alone
    assert all(re.match(r"alone   -?\d\.\d{3} before it was compared", line) for line in alone)


def test_a_context_and_similar_passages_name_their_index(two: list[str]) -> None:
    assert re.search(r"- \[1\] docs/guide\.md:10, Ships \[docs\]", semsearch("context", "captain", *two).out)
    assert 'source="docs/guide.md:10, Ships [docs]"' in semsearch("ask", "captain", *two, "--show-prompt").out
    assert all(
        hit["index"] == "docs" for hit in semsearch("similar", "docs/more/notes.txt", *two, "--json").json["hits"]
    )


def test_files_that_have_changed_are_told_with_the_command_for_each_index(two: list[str], folder: Path) -> None:
    notes = folder / "docs" / "more" / "notes.txt"
    before = notes.read_text(encoding="utf-8")
    notes.write_text(before + "A flute.", encoding="utf-8")
    told = semsearch("query", "a violin in the concert", *two, "--duplicates", "-k", "2").err
    notes.write_text(before, encoding="utf-8")
    assert "semsearch index --name ./indexes/docs && semsearch index --name ./indexes/notes" in told
