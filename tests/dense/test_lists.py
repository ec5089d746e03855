"""An index of many passages, as a user meets it: chosen by size, told by status, exact where it is asked to be."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from small import small_vectors, write_articles

from semsearch.index import Index
from semsearch.indexing import generation
from semsearch.indexing.generation import questions_of
from semsearch.word_vectors.table import VectorTable


@pytest.fixture(autouse=True)
def _listed(monkeypatch: pytest.MonkeyPatch) -> None:
    """Thirty passages are many."""
    monkeypatch.setattr("semsearch.indexing.generation.LISTED", 30)


@pytest.fixture
def vectors(tmp_path: Path) -> VectorTable:
    return small_vectors(tmp_path)


@pytest.fixture
def index(tmp_path: Path, vectors: VectorTable) -> Iterator[Index]:
    """36 passages with codes."""
    write_articles(tmp_path / "docs", 12)
    with Index.create(tmp_path / "index", vectors=vectors) as made:
        made.sync(tmp_path / "docs")
        yield made
        assert made.verify() == []


def passages(index: Index, query: str, k: int = 5) -> list[int]:
    return [hit.passage_id for hit in index.search(query, k, mode="dense", duplicates=True)]


def test_status_says_what_was_chosen_and_what_it_finds(index: Index) -> None:
    (scan,) = index.status().scans
    assert scan.factory.endswith("x4fs,Refine(SQfp16)")
    assert (scan.vectors, scan.lists, scan.probes) == (36, 0, 8)
    assert scan.recall >= 0.95
    assert scan.questions == 18


def test_an_exact_index_has_no_codes_and_finds_the_same_where_it_is_easy(
    index: Index, tmp_path: Path, vectors: VectorTable
) -> None:
    with Index.create(tmp_path / "exact", vectors=vectors, exact=True) as exact:
        exact.sync(tmp_path / "docs")
        status = exact.status()
        assert (status.scans, status.target_recall) == ((), None)
        for query in ("the captain of the ship", "bread from the oven"):
            assert passages(index, query, 1) == passages(exact, query, 1)


def test_recall_is_measured_with_questions_about_the_passages_themselves(
    index: Index, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[list[int]] = []

    def watched(*arguments: Any) -> Any:
        asked.append(arguments[-1].tolist())
        return questions_of(*arguments)

    monkeypatch.setattr(generation, "questions_of", watched)
    index.refit()
    assert asked == [[*range(1, 37)]]
    index.remove(index.path.parent / "docs" / "sea-0.md")
    index.compact()
    assert asked[1:] == [[*range(1, 31), 34, 35, 36]]


def test_what_is_removed_is_not_found_and_what_is_added_is(index: Index, tmp_path: Path) -> None:
    (tmp_path / "docs" / "sea-0.md").unlink()
    (tmp_path / "docs" / "new.md").write_text("# Harbour\n\nThe sailor and the anchor of the old boat.\n")
    index.sync()
    hits = index.search("sailor anchor boat", 36)
    assert all(hit.document != "sea-0.md" for hit in hits)
    assert any(hit.document == "new.md" for hit in hits)
    status = index.status()
    assert status.passages == 34
    assert [scan.vectors for scan in status.scans] == [36]


def test_a_rebuild_makes_it_exact_or_not_and_keeps_what_is_not_given(index: Index) -> None:
    index.rebuild(exact=True)
    assert index.status().scans == ()
    index.rebuild(method="usif")
    assert index.status().scans == ()
    index.rebuild(exact=False, target_recall=0.5)
    (scan,) = index.status().scans
    assert scan.factory.startswith("PQ")
    assert index.status().target_recall == 0.5
