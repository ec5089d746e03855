"""Indexes merged to one: all documents and roots, one fit, nothing read again."""

from __future__ import annotations

from pathlib import Path

import pytest
from small import write_articles

from semsearch import Index, VectorTable
from semsearch.errors import IndexExists, IndexNotFound, UsageError


def made(path: Path, vectors: VectorTable, *roots: Path, **options: object) -> Path:
    with Index.create(path, vectors=vectors, **options) as index:  # type: ignore[arg-type]
        if roots:
            index.sync(*roots)
    return path


@pytest.fixture
def docs(tmp_path: Path) -> Path:
    write_articles(tmp_path / "docs" / "first", 7)
    write_articles(tmp_path / "docs" / "second", 12, first=7)
    return tmp_path / "docs"


def found(index: Index, query: str) -> list[tuple[str, int, float]]:
    return [(hit.path, hit.line, round(hit.score, 5)) for hit in index.search(query, 5)]


def test_a_merged_index_answers_as_one_that_was_made_of_all(
    docs: Path, small_vectors: VectorTable, tmp_path: Path
) -> None:
    parts = [made(tmp_path / name, small_vectors, docs / name) for name in ("first", "second")]
    with (
        Index.merge(tmp_path / "merged", *parts, vectors=small_vectors) as merged,
        Index.open(made(tmp_path / "whole", small_vectors, docs / "first", docs / "second")) as whole,
    ):
        assert merged.verify() == []
        assert merged.roots == whole.roots
        for query in ("a ship in the storm", "bread", "the judge"):
            assert found(merged, query) == found(whole, query)
        again = merged.sync()
        assert (again.unchanged, again.added, again.changed, again.removed) == (19, 0, 0, 0)


def test_what_several_indexes_have_comes_once_and_roots_become_parts_of_those_around(
    docs: Path, small_vectors: VectorTable, tmp_path: Path
) -> None:
    inner = made(tmp_path / "inner", small_vectors, docs / "second", docs / "first" / "sea-0.md")
    outer = made(tmp_path / "outer", small_vectors, docs)
    for path, text in ((inner, "A bee."), (outer, "A moon.")):
        with Index.open(path) as index:
            index.add([("a", text)])
    with Index.merge(tmp_path / "merged", inner, outer) as merged:
        assert merged.roots == (str(docs),)
        assert len(merged) == 20
        assert merged.document("a").text == "A bee."
        assert merged.sync().unchanged == 19
        assert merged.verify() == []


def test_settings_are_those_of_the_first_unless_others_are_given(
    docs: Path, small_vectors: VectorTable, tmp_path: Path
) -> None:
    first = made(tmp_path / "one", small_vectors, docs / "first", method="usif", components=2, adapt=False)
    second = made(tmp_path / "two", small_vectors, docs / "second")
    with Index.merge(tmp_path / "merged", first, second) as merged, Index.open(first) as one:
        assert merged.settings == one.settings
    with Index.merge(tmp_path / "other", first, second, method="mean") as merged:
        assert (merged.settings.method, merged.settings.components) == ("mean", 2)


def test_the_indexes_that_are_merged_stay_as_they_are(docs: Path, small_vectors: VectorTable, tmp_path: Path) -> None:
    first = made(tmp_path / "one", small_vectors, docs / "first")
    with Index.open(first) as index:
        before = index.status()
    Index.merge(tmp_path / "merged", first).close()
    with Index.open(first) as index:
        assert index.status() == before


def test_nothing_is_left_of_a_merge_that_fails(docs: Path, small_vectors: VectorTable, tmp_path: Path) -> None:
    first = made(tmp_path / "one", small_vectors, docs / "first")
    with pytest.raises(IndexNotFound):
        Index.merge(tmp_path / "merged", first, tmp_path / "nowhere")
    with pytest.raises(UsageError, match="no indexes to merge"):
        Index.merge(tmp_path / "merged")

    def fail(_: object) -> None:
        raise RuntimeError("no more")

    with pytest.raises(RuntimeError):
        Index.merge(tmp_path / "merged", first, progress=fail)
    assert not (tmp_path / "merged").exists()
    with pytest.raises(IndexExists):
        Index.merge(first, first)
    with Index.open(first) as index:
        assert len(index) == 7
