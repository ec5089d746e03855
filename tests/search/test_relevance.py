"""How likely hits answer, the verdict on a query, and the threshold below which the end of an answer is left out."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from small import article, small_vectors

from semsearch.errors import UsageError
from semsearch.index import Index
from semsearch.multi_index import MultiIndex
from semsearch.readers.document import Text
from semsearch.results.hits import FLOOR, Hits, above_threshold
from semsearch.results.options import Mode, SearchOptions
from semsearch.search.index_reader import IndexView
from semsearch.search.relevance import cosine_confidence, likelihood, logit_of_best, relevance_weights
from semsearch.tuning import TUNING

MODES: tuple[Mode, ...] = ("hybrid", "dense", "lexical")


@pytest.fixture(scope="module")
def index(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Index]:
    folder = tmp_path_factory.mktemp("relevance")
    with Index.create(folder / "index", vectors=small_vectors(folder)) as index:
        topics = ("sea", "kitchen", "night", "garden")
        index.add([Text(f"{topic}-{n}", article(topic, n), title=topic) for topic in topics for n in range(3)])
        index.add([Text("note", "The zyzzyva is an insect. A ship is not.", title="Insects")])
        yield index


def with_relevance(hits: Hits, values: list[float | None]) -> Hits:
    return Hits(replace(hit, relevance=value) for hit, value in zip(hits, values, strict=False))


@pytest.mark.parametrize(("vector", "words"), [(True, True), (True, False), (False, True)])
def test_it_rises_with_cosine_words_and_share_and_is_a_probability(*, vector: bool, words: bool) -> None:
    numbers, shares = relevance_weights(vector=vector, words=words), np.linspace(0, 1, 7)
    for unknown in (0.0, 0.5, 1.0):
        levels = np.array(
            [
                [logit_of_best(numbers, cosine=cosine, words=bm25, unknown=unknown) for bm25 in np.linspace(0.1, 3, 11)]
                for cosine in np.linspace(-1, 1, 21)
            ]
        )
        assert (np.diff(levels, axis=0) > 0).all() == vector
        assert (np.diff(levels, axis=1) > 0).all() == words
        values = np.array([likelihood(level, shares) for level in levels.ravel()])
        assert ((values >= 0) & (values <= 1) & (np.diff(values, axis=1, prepend=0) >= 0)).all()


@pytest.mark.parametrize("mode", MODES)
def test_it_agrees_with_the_order(index: Index, mode: Mode) -> None:
    for query in ("the captain of the ship and his zyzzyva", "captain", "a night in the garden"):
        relevances = [hit.relevance or 0.0 for hit in index.search(query, 30, mode=mode)]
        assert relevances == sorted(relevances, reverse=True)
        assert len({*relevances}) > 1


def test_a_cosine_counts_less_from_the_usual_spread_on() -> None:
    assert cosine_confidence(np.array([0.0, 0.05, 0.1, 0.2, 0.4])).tolist() == [1, 1, 1, 0.5, 0.25]


def test_the_spread_is_that_of_all_passages_and_the_usual_one(index: Index) -> None:
    def spreads(view: IndexView) -> tuple[float, float]:
        (query,), reader = index.embed(["the captain of a ship"]), view.reader
        ids = np.array([id_ for (id_,) in view.db.execute("SELECT id FROM passages")])
        cosines = reader.halves.general(reader.passage_vectors.fetch(ids).rows) @ query
        known = TUNING.spread_prior * TUNING.usual_spread**2
        expected = (len(ids) * cosines.var() + known) / (len(ids) + TUNING.spread_prior)
        return reader.spread(query), expected**0.5

    found, expected = index.searcher.in_one_generation(spreads)
    assert found == pytest.approx(expected, rel=1e-5)


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("query", ["the captain of the ship and his zyzzyva", "zyzzyva", "insect", '"captain" ship'])
def test_every_hit_has_what_its_explanation_says(index: Index, query: str, mode: Mode) -> None:
    hits = index.search(query, mode=mode)
    for hit in hits:
        likely = hit.explain().relevance
        assert likely is not None
        assert hit.relevance == pytest.approx(likely.probability, abs=2e-4)
        assert (likely.words is None) == (mode == "dense")
        numbers = relevance_weights(vector=likely.cosine is not None, words=likely.words is not None, topics=False)
        cosine, words = (likely.cosine or 0.0) * (likely.trust or 0.0), likely.words or 0.0
        level = logit_of_best(numbers, cosine=cosine, words=words, unknown=likely.unknown)
        expected = likelihood(level, np.array([likely.share]))
        assert likely.probability == pytest.approx(float(expected[0]), abs=2e-4)
    assert bool(hits) == ((query, mode) not in (("zyzzyva", "dense"), ("insect", "dense")))


@pytest.mark.parametrize("mode", MODES)
def test_another_question_is_explained_as_its_own_search_would_find_it(index: Index, mode: Mode) -> None:
    query = "captain ship"
    for hit in index.search(query, mode=mode):
        likely = index.explain(query, replace(hit, origin=None), mode=mode).relevance
        assert likely is not None
        assert likely.probability == pytest.approx(hit.relevance, abs=2e-4)


def test_a_word_that_no_passage_has_counts_as_a_rare_one(index: Index) -> None:
    (known,) = index.search("captain", 1)
    (missing,) = index.search("captain planetarium", 1, syntax="plain")
    whole, part = known.explain().relevance, missing.explain().relevance
    assert whole is not None
    assert part is not None
    assert whole.words is not None
    assert part.words is not None
    assert part.words < whole.words / 1.2


def test_it_is_the_same_for_a_passage_however_many_are_asked_for(index: Index) -> None:
    few, many = index.search("captain of a ship", 2), index.search("captain of a ship", 30)
    assert [hit.relevance for hit in few] == [hit.relevance for hit in many[:2]]


def test_a_filter_leaves_the_first_hit_as_likely_as_it_was(index: Index) -> None:
    first = index.search("captain ship", 1)[0]
    assert index.search("captain ship", 1, filters=[first.document])[0].relevance == first.relevance


def test_what_is_similar_has_no_relevance_and_nothing_is_cut(index: Index) -> None:
    hits = index.similar("sea-1", floor=1.0)
    assert hits == index.similar("sea-1")
    assert (hits.answered, hits.verdict) == (True, None)
    assert all(hit.relevance is None for hit in hits)


@pytest.mark.parametrize("mode", MODES)
def test_nonsense_is_not_here_and_what_is_missing_is_named(index: Index, mode: Mode) -> None:
    nonsense, sense = index.search("a qwrtzx flimnarp", mode=mode), index.search("the captain of a ship", mode=mode)
    assert (nonsense.verdict, nonsense.answered, nonsense.missing) == ("not here", False, ("qwrtzx", "flimnarp"))
    assert (sense.verdict, sense.answered, sense.missing) == ("answers", True, ())


def test_words_that_are_missing_make_a_verdict_worse(index: Index) -> None:
    assert index.search("captain ship").verdict == "answers"
    for query in ("captain qwrtzx", "captain qwrtzx flimnarp", "captain qwrtzx flimnarp vboggle"):
        hits = index.search(query, syntax="plain")
        assert hits.verdict != "answers"
        assert hits.missing == tuple(query.split()[1:])


def test_the_verdict_is_that_of_the_query_whatever_of_its_hits_is_taken(index: Index) -> None:
    hits = index.search("qwrtzx flimnarp", 30)
    assert {hits[:1].verdict, hits[2:].verdict, hits[:0].verdict} == {"not here"}
    for query in ("qwrtzx flimnarp", "captain qwrtzx", "captain of a ship"):
        assert len({index.search(query, k, duplicates=k == 2).verdict for k in (1, 2, 3, 30)}) == 1
    assert hits[:1].missing == hits.missing
    assert not Hits().answered


def test_where_something_is_not_here_nothing_is_above_the_threshold(index: Index) -> None:
    hits = index.search("captain ship", 6)
    likely = Hits(hits, verdict="not here")
    assert (len(above_threshold(likely)), len(above_threshold(likely, 0))) == (0, 6)
    assert "nothing answers this; nearest:" in likely._repr_html_()
    assert "perhaps among these:" in Hits(hits, verdict="perhaps")._repr_html_()
    unsure = Hits(hits, verdict="perhaps", missing=("sextant",))
    assert str(unsure).startswith("perhaps among these (no document has: sextant):\n")


def test_only_the_end_is_cut_and_nothing_is_reordered(index: Index) -> None:
    hits = index.search("captain ship", 6)
    assert above_threshold(with_relevance(hits, [0.5, 0.001, 0.2, 0.001, 0.0]))[-1].relevance == 0.2
    assert len(above_threshold(with_relevance(hits, [0.5, 0.001, 0.2, 0.001, 0.0]))) == 3
    assert len(above_threshold(with_relevance(hits, [0.5, 0.2, 0.1, 0.01]), 0.15)) == 2
    assert len(above_threshold(with_relevance(hits, [0.001, None, 0.0]))) == 2
    assert above_threshold(Hits()) == []


def test_the_library_cuts_only_when_it_is_asked_to(index: Index) -> None:
    every = index.search("captain ship", 30)
    cut = index.search("captain ship", 30, floor=FLOOR)
    assert any(hit.relevance is not None and hit.relevance < FLOOR for hit in every)
    assert list(cut) == above_threshold(every)
    assert 0 < len(cut) < len(every)
    with pytest.raises(UsageError, match="number from 0 to 1"):
        SearchOptions(floor=2)
    with pytest.raises(UsageError, match="must be a finite number"):
        SearchOptions(floor="high")  # type: ignore[arg-type]  # what a user may write


def test_a_context_leaves_out_what_does_not_answer(index: Index) -> None:
    made, whole = index.context("captain ship", max_words=2000), index.context("captain ship", max_words=2000, floor=0)
    assert 0 < len(made.text) < len(whole.text)
    nothing = index.context("captain ship", filters=["kitchen-1"])
    assert (nothing.text, nothing.citations) == ("", ())
    assert nothing.weak
    assert index.context("captain ship", filters=["kitchen-1"], floor=0).text
    assert whole.weak is None


def test_several_indexes_cut_one_ranking(index: Index, tmp_path: Path) -> None:
    with Index.create(tmp_path / "other", vectors=small_vectors(tmp_path)) as other:
        other.add([Text("law", article("law", 1), title="law")])
        both = MultiIndex({"one": index, "two": other})
        assert both.search("captain ship").verdict == "answers"
        assert both.search("flimnarp captain law", syntax="plain").missing == ("flimnarp",)
        assert both.search("qwrtzx flimnarp").verdict == "not here"
        every, cut = both.search("captain ship", 30), both.search("captain ship", 30, floor=FLOOR)
        assert list(cut) == above_threshold(every)
        assert 0 < len(cut) < len(every)
        assert both.context("violin melody", filters=["law"]).weak
