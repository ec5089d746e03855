"""The numbers of the ranking stand in one place, and are read there at each search."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from small import small_vectors, write_articles

from semsearch import tuning
from semsearch.dense.segments_reader import SegmentsReader
from semsearch.index import Index
from semsearch.readers.document import Text
from semsearch.search import pipeline
from semsearch.search.candidates import Candidates, Query
from semsearch.search.index_reader import IndexView
from semsearch.search.scoring import dense_weight
from semsearch.topics import topic_fit
from semsearch.tuning import TUNING

QUESTION = "the captain of the old ship and a rose"


@pytest.fixture(scope="module")
def usual(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Index]:
    """An index with topics, of documents several passages long."""
    folder = tmp_path_factory.mktemp("tuning")
    write_articles(folder / "docs", 24)
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(topic_fit.fit_topics.__kwdefaults__ or {}, "least", 20)
        with Index.create(folder / "index", vectors=small_vectors(folder)) as index:
            index.sync(folder / "docs")
            assert index.status().adapted is not None
            yield index


def test_an_explanation_adds_up_whatever_the_numbers(usual: Index, monkeypatch: pytest.MonkeyPatch) -> None:
    before = [(hit.passage_id, hit.score) for hit in usual.search(QUESTION, 5)]
    others = {"dense_weight": 0.5, "near_weight": 0.1, "topics_share": 2, "passage_share": 5, "support_weight": 0.1}
    monkeypatch.setattr(tuning, "TUNING", replace(TUNING, **others))  # type: ignore[arg-type]  # of several types
    hits = usual.search(QUESTION, 5)
    assert [(hit.passage_id, hit.score) for hit in hits] != before
    for hit in hits:
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
    scan = SegmentsReader.search

    def scanned(*arguments: Any, **named: Any) -> Any:
        scans.append(1)
        return scan(*arguments, **named)

    monkeypatch.setattr(SegmentsReader, "search", scanned)
    expected = usual.search(QUESTION, filters=["sea-*"], mode="dense")
    assert scans == []
    monkeypatch.setattr(tuning, "TUNING", replace(TUNING, few_allowed=3))
    assert [hit.passage_id for hit in usual.search(QUESTION, filters=["sea-*"], mode="dense")] == [
        hit.passage_id for hit in expected
    ]
    assert scans == [1]


def test_so_many_hits_are_reranked(usual: Index, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tuning, "TUNING", replace(TUNING, reranked=7))
    read: list[int] = []

    def reranker(_: str, hits: Any) -> list[int]:
        read.append(len(hits))
        return [hit.rank for hit in hits]

    with Index.open(usual.path, vectors=usual._vectors(), reranker=reranker) as index:
        index.search(QUESTION, 2)
    assert read == [7]
