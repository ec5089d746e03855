"""How likely hits answer, and the floor below which the end of an answer is left out."""

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
from semsearch.results.hits import FLOOR, Hit, above_threshold
from semsearch.results.options import SearchOptions
from semsearch.search.ranking import beyond_doubt, relevance


@pytest.fixture(scope="module")
def index(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Index]:
    folder = tmp_path_factory.mktemp("relevance")
    with Index.create(folder / "index", vectors=small_vectors(folder)) as index:
        topics = ("sea", "kitchen", "night", "garden")
        index.add([Text(f"{topic}-{n}", article(topic, n), title=topic) for topic in topics for n in range(3)])
        index.add([Text("note", "The zyzzyva is an insect. A ship is not.", title="Insects")])
        yield index


def with_relevance(hits: list[Hit], values: list[float | None]) -> list[Hit]:
    return [replace(hit, relevance=value) for hit, value in zip(hits, values, strict=False)]


def test_it_rises_with_the_cosine_and_with_the_words_and_is_a_probability() -> None:
    cosines, covered = np.meshgrid(np.linspace(-1, 1, 21), np.linspace(0, 1, 11))
    values = relevance(cosines, covered)
    assert ((values >= 0) & (values <= 1)).all()
    assert (np.diff(values, axis=1) >= 0).all()
    assert (np.diff(values, axis=0) >= 0).all()
    assert np.isnan(relevance(np.array([np.nan, 0.5]), np.array([0.5, np.nan]))).all()


def test_without_topics_nothing_is_said_between_one_and_three_per_cent() -> None:
    told = beyond_doubt(np.array([0.0, 0.0099, 0.01, 0.0299, 0.03, 1.0]))
    assert np.isnan(told).tolist() == [False, False, True, True, False, False]


def test_a_hit_has_what_its_cosine_and_words_say(index: Index) -> None:
    for hit in index.search("the captain of the ship and his zyzzyva"):
        likely = hit.explain().relevance
        if likely is None:
            assert hit.relevance is None
            continue
        assert hit.relevance == likely.probability
        expected = relevance(np.array([likely.cosine]), np.array([likely.covered]))
        assert likely.probability == pytest.approx(float(expected[0]), abs=2e-4)


def test_a_word_that_no_passage_has_counts_as_a_rare_one(index: Index) -> None:
    (known,) = index.search("captain", 1)
    (missing,) = index.search("captain planetarium", 1, syntax="plain")
    whole, part = index.explain("captain", known).relevance, missing.explain().relevance
    assert whole is not None
    assert whole.covered == 1
    assert part is None or part.covered < 0.5


def test_it_is_the_same_for_a_passage_however_many_are_asked_for(index: Index) -> None:
    few, many = index.search("captain of a ship", 2), index.search("captain of a ship", 30)
    assert [hit.relevance for hit in few] == [hit.relevance for hit in many[:2]]


@pytest.mark.parametrize(
    ("query", "mode"),
    [
        ("captain ship", "dense"),
        ("captain ship", "lexical"),
        ("insect insects", "hybrid"),
        ('"captain"', "hybrid"),
    ],
    ids=["meaning alone", "words alone", "words without vectors", "a phrase"],
)
def test_where_it_cannot_be_told_it_is_none_and_nothing_is_cut(index: Index, query: str, mode: str) -> None:
    hits = index.search(query, mode=mode)  # type: ignore[arg-type]  # the parameters are of one type
    assert hits
    assert all(hit.relevance is None for hit in hits)
    assert index.search(query, mode=mode, floor=1.0) == hits  # type: ignore[arg-type]  # likewise


def test_what_is_similar_has_no_relevance(index: Index) -> None:
    assert all(hit.relevance is None for hit in index.similar("sea-1", floor=1.0))


def test_only_the_end_is_cut_and_nothing_is_reordered(index: Index) -> None:
    hits = index.search("captain ship", 6)
    assert above_threshold(with_relevance(hits, [0.5, 0.01, 0.2, 0.01, 0.0]))[-1].relevance == 0.2
    assert len(above_threshold(with_relevance(hits, [0.5, 0.01, 0.2, 0.01, 0.0]))) == 3
    assert len(above_threshold(with_relevance(hits, [0.01, None, 0.0]))) == 2
    assert above_threshold(with_relevance(hits, [0.01, 0.0])) == []
    assert above_threshold([]) == []


def test_the_library_cuts_only_when_it_is_asked_to(index: Index) -> None:
    every = index.search("captain ship", 30)
    cut = index.search("captain ship", 30, floor=FLOOR)
    assert any(hit.relevance is not None and hit.relevance < FLOOR for hit in every)
    assert list(cut) == above_threshold(every)
    assert 0 < len(cut) < len(every)
    with pytest.raises(UsageError, match="number from 0 to 1"):
        SearchOptions(floor=2)
    with pytest.raises(UsageError, match="must be a number"):
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
        every, cut = both.search("captain ship", 30), both.search("captain ship", 30, floor=FLOOR)
        assert list(cut) == above_threshold(every)
        assert 0 < len(cut) < len(every)
        assert both.context("violin melody", filters=["law"]).weak
