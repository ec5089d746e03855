"""Retrieval on a made-up collection: our modes, the peers, the rows."""

from __future__ import annotations

import math
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest
from collections_made import collection
from small import sentence

from semsearch import Index, Text
from semsearch.errors import MissingExtra
from semsearch.word_vectors.table import VectorTable
from semsearch_research.evaluate.rankers import ModeRanker, ScoredRanker, fused, open_peers
from semsearch_research.evaluate.retrieval import MEASURES, RetrievalRow, evaluate_retrieval


def by_mode(rows: list[RetrievalRow], name: str) -> dict[str, RetrievalRow]:
    return {row.mode: row for row in rows if row.collection == name}


# -- our modes ---------------------------------------------------------------------------------------------------------


def test_each_mode_has_a_row_on_each_collection_and_one_for_their_mean(
    tmp_path: Path, small_vectors: VectorTable
) -> None:
    pytest.importorskip("pytrec_eval")
    one, two = collection(tmp_path / "one"), collection(tmp_path / "two", queries={"sea": "harbour oven captain"})
    rows = evaluate_retrieval([one, two], vectors=small_vectors)
    names = [(row.collection, row.mode) for row in rows]
    assert names == [(name, mode) for name in ("one", "two", "mean") for mode in ("hybrid", "dense", "lexical")]
    for mode, row in by_mode(rows, "mean").items():
        parts = [by_mode(rows, name)[mode] for name in ("one", "two")]
        for measure in MEASURES:
            assert row.figures[measure].value == pytest.approx(np.mean([part.figures[measure].value for part in parts]))
        assert (row.queries, parts[0].queries, parts[1].queries) == (7, 6, 1)
        assert row.index_seconds == pytest.approx(sum(part.index_seconds for part in parts))


def test_what_has_the_words_of_a_topic_is_found_first(tmp_path: Path, small_vectors: VectorTable) -> None:
    pytest.importorskip("pytrec_eval")
    rows = by_mode(evaluate_retrieval([collection(tmp_path / "c")], vectors=small_vectors), "c")
    for row in rows.values():
        assert row.figures["mrr@10"].value == 1
        assert row.figures["ndcg@10"].value > 0.75  # at random: 5 of 30 documents
        for figure in row.figures.values():
            assert 0 <= figure.low <= figure.value <= figure.high <= 1 + 1e-9
        assert row.queries_per_second > 0


def test_differences_are_to_every_other_mode_and_have_their_own_intervals(
    tmp_path: Path, small_vectors: VectorTable
) -> None:
    pytest.importorskip("pytrec_eval")
    rows = by_mode(evaluate_retrieval([collection(tmp_path / "c")], vectors=small_vectors), "c")
    there, back = rows["hybrid"].differences["lexical"], rows["lexical"].differences["hybrid"]
    assert set(rows["hybrid"].differences) == {"dense", "lexical"}
    values = [rows[mode].figures["ndcg@10"].value for mode in ("hybrid", "lexical")]
    assert there.value == pytest.approx(values[0] - values[1])
    assert (there.low, there.high) == pytest.approx((-back.high, -back.low))


def test_a_query_of_no_words_or_unknown_ones_scores_nothing_and_counts(
    tmp_path: Path, small_vectors: VectorTable, caplog: pytest.LogCaptureFixture
) -> None:
    pytest.importorskip("pytrec_eval")
    asked = {"sea": "ship sail harbour", "law": "?!", "night": "xyzzy"}
    rows = by_mode(evaluate_retrieval([collection(tmp_path / "c", queries=asked)], vectors=small_vectors), "c")
    for row in rows.values():
        assert row.queries == 3
        assert row.figures["mrr@10"].value == pytest.approx(1 / 3)
    assert not caplog.messages  # a warning for each query would bury the table


def test_as_many_documents_are_ranked_as_are_asked_for_however_long_they_are(
    tmp_path: Path, small_vectors: VectorTable
) -> None:
    long = " ".join(sentence("sea", number, words=40) for number in range(60))
    with Index.create(tmp_path / "index", vectors=small_vectors) as index:
        index.add([Text("long", long), *(Text(f"d{number}", sentence("sea", 1000 + number)) for number in range(6))])
        hits = index.search("ship", 4, mode="dense")
        assert len(hits) == 4
        ranking = ModeRanker("dense", "dense", index, 0.0).rank("ship sail", 7)
        everything = index.search("ship sail", 1000, mode="dense", duplicates=True)
    assert ranking == list(dict.fromkeys(hit.document for hit in everything))
    assert len(ranking) == 7


def test_without_the_scorer_the_extra_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pytrec_eval", None)
    with pytest.raises(MissingExtra, match=r"pip install ./research"):
        evaluate_retrieval([collection(tmp_path / "c")])


# -- peers -------------------------------------------------------------------------------------------------------------


def test_bm25s_is_a_row_like_a_mode(tmp_path: Path, small_vectors: VectorTable) -> None:
    pytest.importorskip("pytrec_eval")
    pytest.importorskip("bm25s")
    folder = collection(tmp_path / "c", queries={"sea": "ships of the harbour", "law": "the", "night": "xyzzy"})
    rows = by_mode(evaluate_retrieval([folder], vectors=small_vectors, peers=["bm25s"]), "c")
    assert list(rows) == ["hybrid", "dense", "lexical", "bm25s"]
    assert rows["bm25s"].figures["mrr@10"].value == pytest.approx(1 / 3)  # stop words and unknown ones find nothing
    assert set(rows["hybrid"].differences) == {"dense", "lexical", "bm25s"}


def test_bm25s_scores_are_bm25_over_stems_of_title_and_text() -> None:
    pytest.importorskip("bm25s")
    documents = [Text("a", "and the ovens", title="Bread"), Text("b", "bread bread oven moon"), Text("c", "the moon")]
    [peer] = open_peers(["bm25s"])
    ranker = peer.on(documents)
    terms = [["bread", "oven"], ["bread", "bread", "oven", "moon"], ["moon"]]
    mean = sum(map(len, terms)) / 3
    expected = []
    for document in terms:
        idf = math.log(1 + (3 - 2 + 0.5) / (2 + 0.5))
        f = document.count("bread")
        expected.append(idf * f / (f + 1.2 * (1 - 0.75 + 0.75 * len(document) / mean)))
    assert ranker.scores("Breads") == pytest.approx(expected, rel=1e-5)
    assert ranker.rank("the bread", 10) == ["a", "b"] if expected[0] > expected[1] else ["b", "a"]
    assert open_peers(["bm25s"])[0].on([Text("a", "the")]).rank("the", 10) == []


class FakeModel:
    """Encodes a text as how often it has each of three words."""

    max_seq_length = 512
    loaded: str

    @classmethod
    def from_pretrained(cls, name: str) -> FakeModel:
        if name == "broken":
            raise OSError("no\nsuch model")
        model = cls()
        model.loaded = name
        return model

    def encode(self, texts: list[str], **_: Any) -> np.ndarray:
        return np.array([[text.count(word) for word in ("ship", "bread", "moon")] for text in texts], dtype=np.float32)


@pytest.fixture
def fakes(monkeypatch: pytest.MonkeyPatch) -> list[FakeModel]:
    """The two packages of encoders, made up; the models that were loaded by them."""
    loaded: list[FakeModel] = []

    def load(name: str) -> FakeModel:
        loaded.append(FakeModel.from_pretrained(name))
        return loaded[-1]

    transformers, static = ModuleType("sentence_transformers"), ModuleType("model2vec")
    transformers.SentenceTransformer = load  # type: ignore[attr-defined]
    static.StaticModel = FakeModel  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "sentence_transformers", transformers)
    monkeypatch.setitem(sys.modules, "model2vec", static)
    return loaded


def test_encoders_rank_by_cosine_and_an_empty_vector_by_nothing(fakes: list[FakeModel]) -> None:
    documents = [Text("a", "ship bread"), Text("b", "ship ship", title="ship"), Text("c", "xyzzy")]
    for spec in ("minilm", "model2vec:some/where"):
        ranker = open_peers([spec])[0].on(documents)
        assert ranker.rank("ship", 3) == ["b", "a", "c"]
        assert ranker.scores("ship") == pytest.approx([math.sqrt(0.5), 1, 0])
        assert ranker.scores("nothing known").tolist() == [0, 0, 0]


def test_minilm_and_bm25s_are_fused_by_the_sum_of_their_z_scores() -> None:
    ids = ["a", "b", "c"]
    dense = ScoredRanker("minilm", ids, lambda _: np.array([0.9, 0.8, 0.1]), 2.0)
    words = ScoredRanker("bm25s", ids, lambda _: np.array([0.0, 5.0, 1.0]), 0.5, floor=0.0)
    [both] = fused([words, dense])
    by_hand = [sum((x - np.mean(xs)) / np.std(xs) for x, xs in pair) for pair in zip(
        [(x, [0.9, 0.8, 0.1]) for x in (0.9, 0.8, 0.1)], [(x, [0, 5, 1]) for x in (0, 5, 1)], strict=True
    )]  # fmt: skip
    assert (both.name, both.index_seconds) == ("minilm+bm25s", 2.5)
    assert both.scores("x") == pytest.approx(by_hand)
    assert both.rank("x", 2) == ["b", "a"]
    assert fused([dense]) == fused([words]) == []
