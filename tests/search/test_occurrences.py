"""Mode "exact": every literal occurrence, counted, in the order of the documents, wherever one asks."""

from __future__ import annotations

from pathlib import Path

import pytest
from console import semsearch, work_in

from semsearch import Index, MultiIndex
from semsearch.errors import UsageError
from semsearch.word_vectors.table import VectorTable

TEXTS = {
    "b.txt": "The storm broke the mast. A stormy night, and a storm again.\n\nNo wind.\n",
    "a.md": "---\ntitle: Weather\n---\n# The storm\n\nRain fell.\n\n## After the storm\n\nA new\nmast was made.\n",
    "c.html": "<html><body><h1>Ships</h1><p>The sto<b>rm</b> broke the mast.</p></body></html>",
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory, small_vectors: VectorTable) -> Path:
    """A folder with an index of texts in three formats."""
    folder = tmp_path_factory.mktemp("exact")
    (folder / "docs").mkdir()
    for name, text in TEXTS.items():
        (folder / "docs" / name).write_text(text, encoding="utf-8")
    with Index.create(folder / "indexes" / "docs", vectors=small_vectors) as index:
        index.sync(folder / "docs")
    return folder


def test_each_occurrence_is_counted_once_in_any_format_and_headings_too(folder: Path) -> None:
    with Index.open(folder / "indexes" / "docs") as index:
        hits = index.search("storm", mode="exact")
        counts = {name: sum(hit.occurrences or 0 for hit in hits if hit.document == name) for name in TEXTS}
        assert counts == {"a.md": 2, "b.txt": 3, "c.html": 1}
        assert hits.total is not None
        assert (hits.total.occurrences, hits.total.passages, hits.total.documents) == (6, len(hits), 3)
        assert [hit.document for hit in hits] == sorted(hit.document for hit in hits)
        assert index.search("storm", 1, mode="exact").total == hits.total  # of all, however many are shown


def test_case_counts_a_space_is_any_white_space_and_filters_hold(folder: Path) -> None:
    with Index.open(folder / "indexes" / "docs") as index:
        assert not index.search("Storm", mode="exact")
        (hit,) = index.search("new mast", mode="exact")
        assert (hit.document, hit.line, hit.sentence) == ("a.md", 10, "A new\nmast was made.")
        hits = index.search("storm", mode="exact", filters=["*.txt"])
        assert {hit.document for hit in hits} == {"b.txt"}


def test_without_a_text_the_matches_of_regular_expressions_are_counted(folder: Path) -> None:
    with Index.open(folder / "indexes" / "docs") as index:
        hits = index.search("", mode="exact", regex=[r"\bstorm\b", "mast"])
        assert {hit.document: hit.occurrences for hit in hits} == {"a.md": 2, "b.txt": 3, "c.html": 2}
        with pytest.raises(UsageError, match="a text or a regular expression"):
            index.search(" ", mode="exact")


def test_several_indexes_add_up(folder: Path) -> None:
    index = folder / "indexes" / "docs"
    with Index.open(index) as one, Index.open(index) as other, MultiIndex({"one": one, "other": other}) as both:
        hits = both.search("storm", 100, mode="exact")
        assert hits.total is not None
        assert hits.total.occurrences == 12
        assert [hit.index for hit in hits] == ["one"] * (len(hits) // 2) + ["other"] * (len(hits) // 2)


def test_the_command_line_lists_them_with_their_number(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    work_in(folder, monkeypatch)
    heading, first, *_ = semsearch("query", "--mode", "exact", "storm", "-f", "*.txt").lines
    assert heading == "3 occurrences in 1 passage of 1 document:"
    assert first.startswith("docs/b.txt:1  3×")
    answer = semsearch("query", "--mode", "exact", "storm", "--json").json
    assert answer["total"]["occurrences"] == sum(hit["occurrences"] for hit in answer["hits"]) == 6
    assert semsearch("query", "--regex", "sto.m", "--json").json["total"] == answer["total"]
    assert semsearch("query", "--mode", "exact", "gale").status == 1
    assert semsearch("query").status == 2
