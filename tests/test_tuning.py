"""The numbers of the ranking stand in one place: each of them is read there, and changes what is found."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import fields, replace
from pathlib import Path
from typing import Any

import pytest
from small import small_vectors, write_articles

from semsearch import tuning
from semsearch.index import Index
from semsearch.readers.document import Text
from semsearch.results.options import Mode
from semsearch.search import pipeline, searcher
from semsearch.search.candidates import Candidates, IndexView, Query
from semsearch.search.index_reader import IndexReader
from semsearch.search.scoring import dense_weight
from semsearch.topics import topic_fit
from semsearch.tuning import TUNING, Tuning

OF_SCORES: dict[str, Any] = {
    "dense_weight": 0.5, "near_weight": 0.1, "topics_share": 2, "passage_share": 5,
    "sentence_share": 1, "title_share": 4, "k1": 0.9, "b": 0.4, "neighbour_weight": 0.25, "heading_weight": 1,
    "support_weight": 0.1, "support_passages": 1, "support_least": 2.0,
}  # fmt: skip
OF_LENGTHS = {"length_from": 40, "length_weight": 0.3, "length_most": 0.01}  # where the others make documents long
OF_DEPTHS = {
    "depth",
    "depth_per_hit",
    "deeper",
    "deeper_for_boosts",
    "deepest",
    "few_allowed",
    "telling_terms",
    "reranked",
}
OF_RELEVANCE: dict[str, Any] = {
    "relevance": (-4.0, 5.0, 1.0, 2.0, 1.0), "usual_spread": 0.05, "spread_prior": 1, "least_share": 0.9,
    "relevance_of_all": 0.99, "relevance_of_small": 1.5,
    "relevance_without_words": (-4.0, 5.0, 0.0, 2.0, 0.0), "relevance_without_vectors": (-4.0, 0.0, 5.0, 2.0, 0.0),
}  # fmt: skip
MODES: dict[str, Mode] = {"relevance_without_words": "dense", "relevance_without_vectors": "lexical"}
OF_LANGUAGES = {"dense_weight_unknown", "known_least", "least_known"}
OF_PLACES: dict[str, Any] = {
    "short_weight": 0.0,
    "short_words": 1,
    "short_from": 9,
    "proximity_weight": 0.0,
    "proximity_words": 1,
}
ACROSS = {"words_across", "aligned_across", "relevance_aligned"}  # tests/search/test_languages.py
QUESTION = "the captain of the old ship and a rose"


def test_every_number_is_tried_here() -> None:
    known = set(OF_SCORES) | set(OF_LENGTHS) | OF_DEPTHS | set(OF_RELEVANCE) | OF_LANGUAGES | ACROSS
    known |= set(OF_PLACES)
    assert {field.name for field in fields(Tuning)} == known


@pytest.mark.parametrize("name", OF_LENGTHS)
def test_each_number_of_a_documents_length_changes_the_score(
    usual: Index, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    long = replace(TUNING, length_from=1)
    monkeypatch.setattr(tuning, "TUNING", long)
    before = answer(usual)
    monkeypatch.setattr(tuning, "TUNING", replace(long, **{name: OF_LENGTHS[name]}))
    assert answer(usual) != before
    for hit in usual.search(QUESTION, 5):
        assert hit.explain().score == pytest.approx(hit.score, abs=1e-5)


@pytest.mark.parametrize("name", OF_PLACES)
def test_each_number_of_a_section_changes_the_score(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    (tmp_path / "docs").mkdir()
    rest = "".join(f"## Part {number}\n\nCats sleep, and bread is baked.\n\n" for number in range(3))
    (tmp_path / "docs" / "ship.md").write_text(f"# Ships\n\nA captain whom the ship knows and a garden rose.\n\n{rest}")
    with Index.create(tmp_path / "index", vectors=small_vectors(tmp_path)) as index:
        index.sync(tmp_path / "docs")
        before = index.search("rose garden ship captain")[0]
        monkeypatch.setattr(tuning, "TUNING", replace(TUNING, **{name: OF_PLACES[name]}))
        hit = index.search("rose garden ship captain")[0]
        assert hit.score != before.score
        assert hit.explain().score == pytest.approx(hit.score, abs=1e-5)


@pytest.mark.parametrize("name", OF_RELEVANCE)
def test_a_number_of_the_relevance_changes_it_and_nothing_else(
    usual: Index, small: Index, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    usual = small if name == "relevance_of_small" else usual
    question = "ship" if name == "relevance_of_all" else QUESTION
    before = usual.search(question, mode=MODES.get(name, "hybrid"))
    monkeypatch.setattr(tuning, "TUNING", replace(TUNING, **{name: OF_RELEVANCE[name]}))
    after = usual.search(question, mode=MODES.get(name, "hybrid"))
    assert before[0].relevance is not None
    assert [hit.relevance for hit in before] != [hit.relevance for hit in after]
    assert [replace(hit, relevance=None) for hit in before] == [replace(hit, relevance=None) for hit in after]


def test_scores_are_put_together_as_measured() -> None:
    assert (TUNING.dense_weight, TUNING.near_weight) == (0.7, 0.2)
    assert (TUNING.topics_share, TUNING.passage_share, TUNING.sentence_share, TUNING.title_share) == (4, 3, 3, 1)
    assert (TUNING.support_weight, TUNING.support_passages, TUNING.support_least) == (0.5, 2, 0.4)
    assert (TUNING.length_weight, TUNING.length_from, TUNING.length_most) == (0.12, 40, 0.5)
    assert (TUNING.short_weight, TUNING.short_from, TUNING.short_words) == (0.1, 3, 40)
    assert (TUNING.proximity_weight, TUNING.proximity_words) == (0.1, 3)
    assert (TUNING.k1, TUNING.b, TUNING.neighbour_weight, TUNING.heading_weight) == (1.2, 0.75, 0.5, 2)


def made(folder: Path, name: str) -> Index:
    """An index with topics, of documents several passages long."""
    index = Index.create(folder / name, vectors=small_vectors(folder, name=f"of-{name}"))
    index.sync(folder / "docs")
    return index


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    folder = tmp_path_factory.mktemp("tuning")
    write_articles(folder / "docs", 24)
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(topic_fit.fit_topics.__kwdefaults__ or {}, "least", 20)
        yield folder


@pytest.fixture(scope="module")
def usual(folder: Path) -> Iterator[Index]:
    with made(folder, "usual") as index:
        assert index.status().adapted is not None
        yield index


@pytest.fixture(scope="module")
def small(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Index]:
    folder = tmp_path_factory.mktemp("small")
    with Index.create(folder / "index", vectors=small_vectors(folder)) as index:
        index.add([Text("a", "The captain has a ship."), Text("b", "A rose is in the garden.")])
        assert index.status().adapted is None
        yield index


def answer(index: Index) -> list[tuple[int, float]]:
    return [(hit.passage_id, hit.score) for hit in index.search(QUESTION, 20)]


@pytest.mark.parametrize("name", sorted(OF_SCORES))
def test_each_number_of_the_score_changes_the_score(
    name: str, folder: Path, usual: Index, monkeypatch: pytest.MonkeyPatch
) -> None:
    expected = answer(usual)
    monkeypatch.setattr(tuning, "TUNING", replace(TUNING, **{name: OF_SCORES[name]}))
    with made(folder, name) as index:  # anew: some numbers shape what is stored
        assert answer(index) != expected


@pytest.mark.parametrize("name", sorted(OF_SCORES))
def test_an_explanation_adds_up_whatever_the_numbers(name: str, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tuning, "TUNING", replace(TUNING, **{name: OF_SCORES[name]}))
    with made(folder, f"{name}-explained") as index:
        for hit in index.search(QUESTION, 5):
            assert hit.explain().score == pytest.approx(hit.score, abs=1e-5)


def test_meaning_weighs_less_where_few_words_of_the_question_are_known(monkeypatch: pytest.MonkeyPatch) -> None:
    assert [dense_weight(known) for known in (0, 0.6, 0.8, 1)] == pytest.approx([0.4, 0.4, 0.55, 0.7])
    monkeypatch.setattr(tuning, "TUNING", replace(TUNING, dense_weight_unknown=0.1, known_least=0.5))
    assert [dense_weight(known) for known in (0, 0.75, 1)] == pytest.approx([0.1, 0.4, 0.7])


def depths(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """The depths to which passages are ranked, in order."""
    found: list[int] = []
    find = pipeline.find

    def noted(query: Query, depth: int, index: IndexView) -> Candidates:
        found.append(depth)
        return find(query, depth, index)

    monkeypatch.setattr(pipeline, "find", noted)
    return found


def test_depths_are_those_of_the_tuning(usual: Index, monkeypatch: pytest.MonkeyPatch) -> None:
    found = depths(monkeypatch)
    usual.search(QUESTION, 3)
    usual.search(QUESTION, 20)
    monkeypatch.setattr(tuning, "TUNING", replace(TUNING, depth=9, depth_per_hit=2))
    usual.search(QUESTION, 3)
    usual.search(QUESTION, 20)
    assert found == [50, 100, 9, 40]


def test_it_looks_deeper_and_ever_deeper_where_many_say_the_same(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with Index.create(tmp_path / "index", vectors=small_vectors(tmp_path)) as index:
        index.add([Text(str(number), "The captain has a ship and a sail.") for number in range(60)])
        found = depths(monkeypatch)
        for deepest in (3000, 20, 1):
            monkeypatch.setattr(tuning, "TUNING", replace(TUNING, depth=6, depth_per_hit=1, deeper=3, deepest=deepest))
            index.search("captain", 3)
    assert found == [6, 18, 54, 162, 486, 6, 18, 54, 6]  # 162 found the last six, 486 no more


def test_few_allowed_passages_are_not_scanned(usual: Index, monkeypatch: pytest.MonkeyPatch) -> None:
    scans: list[int] = []
    scan = IndexReader.scan

    def scanned(*arguments: Any, **named: Any) -> Any:
        scans.append(1)
        return scan(*arguments, **named)

    monkeypatch.setattr(IndexReader, "scan", scanned)
    expected = usual.search(QUESTION, filters=["sea-*"], mode="dense")
    assert scans == []
    monkeypatch.setattr(tuning, "TUNING", replace(TUNING, few_allowed=3))
    assert [hit.passage_id for hit in usual.search(QUESTION, filters=["sea-*"], mode="dense")] == [
        hit.passage_id for hit in expected
    ]
    assert scans == [1]


def test_so_many_terms_stand_for_a_passage(usual: Index, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[int] = []
    ask = searcher.query_of_passages

    def asking(*arguments: Any) -> Any:
        query = ask(*arguments)
        asked.append(0 if query.words is None else len(query.words.lookup.terms))
        return query

    monkeypatch.setattr(searcher, "query_of_passages", asking)
    like = usual.search(QUESTION, 1)[0]
    usual.similar(like)
    monkeypatch.setattr(tuning, "TUNING", replace(TUNING, telling_terms=2))
    usual.similar(like)
    assert asked[0] > 2
    assert asked[1] == 2


def test_so_many_hits_are_reranked(usual: Index, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tuning, "TUNING", replace(TUNING, reranked=7))
    read: list[int] = []

    def reranker(_: str, hits: Any) -> list[int]:
        read.append(len(hits))
        return [hit.rank for hit in hits]

    with Index.open(usual.path, vectors=usual._vectors(), reranker=reranker) as index:
        index.search(QUESTION, 2)
    assert read == [7]
