"""Indexes that are searched as one: what is found, where it is from, and why it has its score."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from small import write_articles

from semsearch.errors import IndexNotFound, SourceError, UsageError
from semsearch.index import Index
from semsearch.multi_index import MultiIndex, names_of
from semsearch.readers.document import Text
from semsearch.word_vectors.table import VectorTable

QUERY = "a ship in the storm"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory, small_vectors: VectorTable) -> Path:
    """Two indexes of different documents, and one text in both."""
    folder = tmp_path_factory.mktemp("several")
    for number, name in enumerate(("notes", "work")):
        write_articles(folder / "docs" / name, 12, first=12 * number)
        with Index.create(folder / name, vectors=small_vectors) as index:
            index.sync(folder / "docs" / name)
            index.add([Text("both", "The ship sailed to the island in a storm.")])
    return folder


@pytest.fixture(scope="module")
def several(folder: Path) -> Iterator[MultiIndex]:
    with MultiIndex.open(folder / "notes", folder / "work") as several:
        yield several


def test_each_hit_says_its_index_and_both_answer(several: MultiIndex) -> None:
    hits = several.search(QUERY)
    assert {hit.index for hit in hits} == {"notes", "work"}
    assert [hit.rank for hit in hits] == list(range(1, 11))
    assert all(f"/{hit.index}/" in hit.path for hit in hits if hit.root)


def test_a_text_of_both_is_one_hit(several: MultiIndex) -> None:
    (hit,) = [hit for hit in several.search(QUERY, 20) if hit.document == "both"]
    assert {hit.index, *(other.index for other in hit.duplicates)} == {"notes", "work"}
    both = [hit for hit in several.search(QUERY, 20, duplicates=True) if hit.document == "both"]
    assert {hit.index for hit in both} == {"notes", "work"}


@pytest.mark.parametrize("mode", ["hybrid", "dense", "lexical"])
def test_every_score_is_explained_and_adds_up(mode: str, several: MultiIndex) -> None:
    for hit in several.search(QUERY, 8, mode=mode):  # type: ignore[arg-type]  # one of the modes
        explanation = hit.explain()
        assert explanation.score == pytest.approx(hit.score)
        assert explanation == several.explain(QUERY, hit)
        assert explanation.fused is not None
        assert explanation.fused.indexes == ("notes", "work")
        alone = several.indexes[str(hit.index)].explain(QUERY, hit)
        assert explanation.quoted_for == alone.quoted_for  # sentences are compared as in the index by itself


def test_words_are_weighed_as_in_one_index_of_all(tmp_path: Path, small_vectors: VectorTable) -> None:
    seen = [f"a {kind} sails past {place} at noon" for kind in ("ship", "boat") for place in ("Malta", "Crete", "Rome")]
    texts = [*seen[:1], *["the sea lies still and grey today"] * 9, *seen[1:]]
    documents = [Text(f"document{number}", text) for number, text in enumerate(texts)]
    for name, part in {"notes": documents[:10], "work": documents[10:], "all": documents}.items():
        with Index.create(tmp_path / name, vectors=small_vectors) as index:
            index.add(part)
    with MultiIndex.open(tmp_path / "notes", tmp_path / "work") as several, Index.open(tmp_path / "all") as one:
        for query in ("a ship past Malta", "sails on a grey sea"):
            apart, together = (each.search(query, 20, mode="lexical", duplicates=True) for each in (several, one))
            assert [hit.document for hit in apart] == [hit.document for hit in together]
            assert [hit.score for hit in apart] == pytest.approx([hit.score for hit in together])


def test_similar_passages_come_from_the_index_of_the_example(several: MultiIndex) -> None:
    (hit,) = several.search(QUERY, 1, filters=["*.md"])
    similar = several.similar(hit)
    assert {other.index for other in similar} == {hit.index}
    assert similar == [replace(other, index=hit.index) for other in several.indexes[str(hit.index)].similar(hit)]
    assert several.similar(hit.path, hit.line) == similar


def test_ids_of_passages_say_nothing_where_there_are_several(several: MultiIndex) -> None:
    with pytest.raises(UsageError, match="of one index"):
        several.search(QUERY, passages=[1])


def test_a_hit_of_nowhere_has_no_index_to_ask(several: MultiIndex) -> None:
    (hit,) = several.indexes["notes"].search(QUERY, 1)
    with pytest.raises(UsageError, match="has no index name; expected one of notes, work"):
        several.explain(QUERY, hit)
    with pytest.raises(SourceError, match=r"nowhere\.md is not in the index; .*asked: notes, work"):
        several.similar("nowhere.md")


def test_citations_name_their_index(several: MultiIndex) -> None:
    context = several.context(QUERY, max_words=120)
    assert {cited.index for cited in context.citations} == {"notes", "work"}
    assert all(f"[{cited.index}]" in context.text for cited in context.citations)
    assert context.words <= 120


def test_an_index_that_is_missing_closes_the_others(folder: Path) -> None:
    with pytest.raises(IndexNotFound):
        MultiIndex.open(folder / "notes", folder / "none")


@pytest.mark.parametrize("given", [{}, [], {"a": "notes"}])
def test_what_is_no_index_is_a_usage_error(given: object) -> None:
    with pytest.raises(UsageError):
        MultiIndex(given)  # type: ignore[arg-type]  # that is the point


def test_indexes_are_named_by_as_much_of_their_paths_as_tells_them_apart(tmp_path: Path) -> None:
    a, b, c = tmp_path / "a/docs", tmp_path / "b/docs", tmp_path / "c"
    assert names_of([a, c]) == {"docs": a, "c": c}
    assert list(names_of([a, b])) == ["a/docs", "b/docs"]
    assert names_of([a, a, tmp_path / "b/../a/docs"]) == {"docs": a}
