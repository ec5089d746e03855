"""An index of many passages, as a user meets it: by codes, and exact where it is asked to be."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from small import small_vectors, write_articles

from semsearch.dense.faiss_store import OpenedFaissSegment
from semsearch.index import Index
from semsearch.storage.segments import get_segments
from semsearch.word_vectors.table import VectorTable


@pytest.fixture(autouse=True)
def _coded(monkeypatch: pytest.MonkeyPatch) -> None:
    """Thirty passages are many."""
    monkeypatch.setattr("semsearch.dense.faiss_store.CODED", 30)


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


def have_codes(index: Index) -> list[bool]:
    with index._database.reading() as db:
        segments = get_segments(db, "passage")
    return [OpenedFaissSegment(index.path / "segments" / segment.file, segment).has_codes for segment in segments]


def test_an_exact_index_has_no_codes_and_finds_the_same_where_it_is_easy(
    index: Index, tmp_path: Path, vectors: VectorTable
) -> None:
    assert have_codes(index) == [True]
    with Index.create(tmp_path / "exact", vectors=vectors, exact=True) as exact:
        exact.sync(tmp_path / "docs")
        assert have_codes(exact) == [False]
        assert exact.status().exact
        for query in ("the captain of the ship", "bread from the oven"):
            assert passages(index, query, 1) == passages(exact, query, 1)


def test_what_is_removed_is_not_found_and_what_is_added_is(index: Index, tmp_path: Path) -> None:
    (tmp_path / "docs" / "sea-0.md").unlink()
    (tmp_path / "docs" / "new.md").write_text("# Harbour\n\nThe sailor and the anchor of the old boat.\n")
    index.sync()
    hits = index.search("sailor anchor boat", 36)
    assert all(hit.document != "sea-0.md" for hit in hits)
    assert any(hit.document == "new.md" for hit in hits)
    assert index.status().passages == 34
    assert have_codes(index) == [True, False]


def test_a_rebuild_makes_it_exact_or_not_and_keeps_what_is_not_given(index: Index) -> None:
    index.rebuild(exact=True)
    assert have_codes(index) == [False]
    index.rebuild(method="usif")
    assert have_codes(index) == [False]
    index.rebuild(exact=False)
    assert have_codes(index) == [True]
