"""A search answers queries, and refuses options that make no sense."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from small import small_vectors, write_articles

from semsearch.index import Index
from semsearch.readers.document import Text
from semsearch.tuning import TUNING


@pytest.fixture(scope="module")
def index(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Index]:
    folder = tmp_path_factory.mktemp("searching")
    write_articles(folder / "docs", 30)
    (folder / "docs" / "tale.md").write_text(
        "---\nauthor: Ada\ntags: [old, true]\n---\n# Tale\n\nThe captain sleeps. The xylograph sings. A bee waits.\n\n"
        "## Later\n\nThe moon is up. Nobody knows the zyzzyva. The end.\n"
    )
    with Index.create(folder / "index", vectors=small_vectors(folder), components=1) as made:
        made.sync(folder / "docs")
        yield made


@pytest.mark.parametrize("mode", ["hybrid", "dense", "lexical"])
def test_each_mode_finds_the_topic(index: Index, mode: str) -> None:
    hits = index.search("the telescope and the comet", 5, mode=mode)  # type: ignore[arg-type]
    assert [hit.rank for hit in hits] == [1, 2, 3, 4, 5]
    assert all(hit.document.startswith("night") for hit in hits)
    assert [hit.score for hit in hits] == sorted((hit.score for hit in hits), reverse=True)
    assert all((hit.dense is None) == (mode == "lexical") for hit in hits)
    assert all(hit.lexical is None for hit in hits) if mode == "dense" else hits[0].lexical is not None


def test_a_hit_leads_to_its_sentence_in_the_file(index: Index) -> None:
    for hit in index.search("rose and soil", 10):
        source = Path(hit.path).read_text(encoding="utf-8")
        assert source[hit.start : hit.end] == hit.sentence
        assert source.count("\n", 0, hit.start) + 1 == hit.line
        assert hit.sentence in hit.passage
        assert hit.headings[0] == hit.title


def test_the_dense_score_is_the_mean_of_the_passages_the_best_sentences_and_the_titles_cosine(index: Index) -> None:
    with index._database.reading() as db:
        from semsearch.storage.fitted import load_embedder
        from semsearch.storage.passage_rows import get_passages, stored_texts

        embedder = load_embedder(db, index._vectors())
        assert embedder is not None
        (query,) = embedder.transform(["violin concert"])
        for hit in index.search("violin concert", 5, mode="dense"):
            (stored,) = stored_texts(db, get_passages(db, [hit.passage_id]).values())
            sentences = embedder.transform(stored.sentences) @ query
            words = embedder.tokenize([stored.heading, *stored.sentences])
            whole = embedder.transform_ragged(words.joined(np.array([0, len(words)])))[0] @ query
            title = embedder.transform([hit.title])[0] @ query
            assert title
            assert hit.dense == pytest.approx((3 * whole + 3 * sentences.max() + title) / 7, abs=2e-3)
            assert hit.explain().sentence == stored.sentences[int(sentences.argmax())]
            assert hit.sentence in stored.sentences


def test_a_query_of_unknown_words_is_answered_by_its_words_and_says_so(
    index: Index, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.WARNING):
        (hit,) = index.search("zyzzyva")
    assert hit.sentence == "Nobody knows the zyzzyva."
    assert hit.dense is None
    assert "only the lexical retriever answers" in caplog.text
    assert index.search("zyzzyva", mode="dense") == []
    assert index.search("qwertyuiop") == []


def test_filters_come_before_the_best_k(index: Index) -> None:
    hits = index.search("telescope", 3, filters=["law-5.md"])
    assert [hit.document for hit in hits] == ["law-5.md"] * 3
    assert [hit.document for hit in index.search("captain", filters=["author=ada", "tags=old"])] == ["tale.md"] * 2
    assert index.search("captain", filters=["author=nobody"]) == []


def test_a_filter_of_any_size_gives_what_filtering_everything_would(
    index: Index, monkeypatch: pytest.MonkeyPatch
) -> None:
    everything = [hit for hit in index.search("ship and bread", 1000) if hit.document < "m"]
    few = index.search("ship and bread", 1000, filters=["[a-l]*"])
    monkeypatch.setattr("semsearch.tuning.TUNING", TUNING._replace(few_allowed=0))
    many = index.search("ship and bread", 1000, filters=["[a-l]*"])
    assert {hit.passage_id for hit in few} == {hit.passage_id for hit in everything}
    assert [(hit.passage_id, hit.score) for hit in many] == [(hit.passage_id, hit.score) for hit in few]


def test_a_least_score_cuts_the_list(index: Index) -> None:
    hits = index.search("captain", 50)
    least = hits[3].score
    assert index.search("captain", 50, min_score=least) == [hit for hit in hits if hit.score >= least]
    assert index.search("captain", 50, min_score=2) == []


def test_neighbouring_sentences_go_over_the_ends_of_passages_but_not_of_documents(index: Index) -> None:
    (hit,) = (hit for hit in index.search("zyzzyva", context=3) if hit.document == "tale.md")
    assert hit.before == ("The xylograph sings.", "A bee waits.", "The moon is up.")
    assert hit.after == ("The end.",)
    assert index.search("zyzzyva")[0].before == ()


def test_an_empty_index_answers_with_nothing(tmp_path: Path) -> None:
    with Index.create(tmp_path / "index", vectors=small_vectors(tmp_path), components=1) as index:
        assert index.search("moon") == []
        assert index.verify() == []
        assert index.context("moon").text == ""
        index.add([Text("a", "Qwerty uiop."), Text("b", "Asdf.")])
        assert index.verify() == []
        assert [hit.document for hit in index.search("asdf")] == ["b"]
