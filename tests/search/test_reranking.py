"""A second look at the first hits: what a reranker says becomes a part of the score, and stands in the explanation."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

import numpy as np
import pytest
from small import index_of_articles, opening

from semsearch.errors import UsageError
from semsearch.index import Index
from semsearch.rerankers import Reranker
from semsearch.results.hits import Hit
from semsearch.tuning import TUNING

QUESTION = "the captain of the ship and the old bread"


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Index]:
    with index_of_articles(tmp_path_factory.mktemp("reranking"), 24) as index:
        yield index


@pytest.fixture
def opened(made: Index) -> Iterator[Callable[[Reranker], Index]]:
    """Opens the index with a reranker."""
    with opening(made) as open_:
        yield open_


def by_length(query: str, hits: Sequence[Hit]) -> list[int]:
    """One that finds long sentences to answer best."""
    assert query
    return [len(hit.sentence) ** 2 for hit in hits]


def test_hits_are_ordered_by_the_sum_of_both_z_scores(made: Index, opened: Callable[[Reranker], Index]) -> None:
    before = made.search(QUESTION, TUNING.reranked)
    scores, said = np.array([hit.score for hit in before]), np.array(by_length(QUESTION, before))
    standard = (scores - scores.mean()) / scores.std() + (said - said.mean()) / said.std()
    after = opened(by_length).search(QUESTION, TUNING.reranked)
    assert [hit.passage_id for hit in after] == [before[index].passage_id for index in np.argsort(-standard)]
    assert [hit.rank for hit in after] == list(range(1, len(before) + 1))
    assert np.mean([hit.score for hit in after]) == pytest.approx(scores.mean())


def test_the_first_fifty_are_read_however_few_are_asked_for(made: Index, opened: Callable[[Reranker], Index]) -> None:
    expected = [hit.passage_id for hit in made.search(QUESTION, TUNING.reranked)]
    assert len(expected) == TUNING.reranked
    read: list[list[int]] = []

    def last_first(_: str, hits: Sequence[Hit]) -> list[int]:
        read.append([hit.passage_id for hit in hits])
        return [1000 * hit.rank**3 for hit in hits]

    index = opened(last_first)
    assert len(index.search(QUESTION, 3)) == 3
    assert len(index.search(QUESTION, TUNING.reranked + 5)) == TUNING.reranked + 5
    assert read[0] == expected
    assert len(read[1]) == TUNING.reranked + 5
    assert index.search(QUESTION, 1)[0].passage_id not in expected[:5]


def test_the_explanation_adds_up_to_the_score_and_names_the_rerankers_part(opened: Callable[[Reranker], Index]) -> None:
    index = opened(by_length)
    for hit in index.search(QUESTION, 5, filters=["sea-*", "path!=sea-0.md"]):
        for found in (hit.explain(), index.explain(QUESTION, hit)):
            assert {"lexical", "dense", "feedback", "rerank"} <= found.points.keys()
            assert found.score == pytest.approx(hit.score, abs=1e-6)
            assert found.score == pytest.approx(sum(found.points.values()))
            part = found.rerank
            assert part is not None
            assert part.said == len(hit.sentence) ** 2
            assert part.points == pytest.approx(part.weight * (part.said - part.mean) / part.deviation)
            assert found.to_dict()["rerank"] == part.to_dict()


def test_contexts_and_batches_are_reranked_and_what_is_similar_is_not(
    made: Index, opened: Callable[[Reranker], Index]
) -> None:
    index = opened(by_length)
    best = index.search(QUESTION, 5)
    assert index.search_many([QUESTION, "the moon"], 5) == [best, index.search("the moon", 5)]
    (first, *_) = index.context(QUESTION).citations
    assert best[0].sentence in first.text
    assert index.context(QUESTION).text != made.context(QUESTION).text
    assert index.similar(best[0], k=5) == made.similar(best[0], k=5)


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        (lambda _, hits: [1.0] * (len(hits) - 1), "gave 49 numbers for 50 hits"),
        (lambda _, hits: [float("nan")] * len(hits), "not finite"),
        (lambda _, hits: [None] * len(hits), "must give a number for each hit"),
        (lambda _, hits: ["high"] * len(hits), "must give a number for each hit"),
        (lambda _, __: 3, "must give a number for each hit, not 3"),
    ],
)
def test_one_that_makes_no_sense_is_refused(opened: Callable[[Reranker], Index], wrong: Reranker, message: str) -> None:
    with pytest.raises(UsageError, match=message):
        opened(wrong).search(QUESTION)
