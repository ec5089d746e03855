"""Scores of several indexes are made comparable by what hits know of them."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from some_hit import some_hit

from semsearch.multi_index import deduplicate, fuse_answers, together
from semsearch.results.hits import Hit, Hits
from semsearch.results.origin import Origin, Rerank, Weights

BOTH = {"dense": 0.56, "lexical": 0.24, "near": 0.2}


def hit(
    passage: str, dense: float | None, lexical: float | None, weights: Weights, near: float = 0.0, **changed: Any
) -> Hit:
    """A hit as a search makes it: its score is that of its parts."""
    points = {
        "dense": weights.dense * (dense or 0),
        "lexical": weights.lexical * (lexical or 0) / weights.best,
        "feedback": weights.near * near,
    }
    fields: dict[str, Any] = {
        "score": sum(points.values()),
        "dense": dense,
        "lexical": lexical,
        "path": f"{passage}.md",
        "origin": Origin("query", "hybrid", 1, weights, points=points),
    }
    return some_hit(passage, **fields | changed)


GOOD, POOR = Weights(best=20.0, **BOTH), Weights(best=2.0, **BOTH)


def scores(hits: list[Hit]) -> dict[str, float]:
    return {hit.passage: hit.score for hit in hits}


def test_words_count_by_the_best_of_all_indexes() -> None:
    answers = {"a": [hit("good", 0.5, 20.0, GOOD)], "b": [hit("poor", 0.5, 2.0, POOR)]}
    found = fuse_answers(answers, "hybrid")
    assert [(each.passage, each.index) for each in found] == [("good", "a"), ("poor", "b")]
    assert scores(found) == {"good": pytest.approx(0.52), "poor": pytest.approx(0.28 + 0.24 * 2 / 20)}


def test_nearness_counts_by_how_good_the_best_passage_of_its_index_is() -> None:
    answers = {"a": [hit("good", 0.5, 20.0, GOOD, near=1.0)], "b": [hit("poor", 0.1, 2.0, POOR, near=1.0)]}
    share = (0.056 + 0.024) / (0.28 + 0.24)  # its square counts
    found = scores(fuse_answers(answers, "hybrid"))
    assert found == {"good": pytest.approx(0.72), "poor": pytest.approx(0.056 + 0.024 + 0.2 * share**2)}


def test_the_verdict_is_that_of_the_index_of_the_first_hit() -> None:
    good, poor = hit("good", 0.5, 20.0, GOOD), hit("poor", 0.1, 2.0, POOR)
    answers = {"a": Hits([poor], verdict="answers"), "b": Hits([good], verdict="not here")}
    assert together(answers, fuse_answers(answers, "hybrid")).verdict == "not here"


def test_an_index_without_the_words_is_weighed_as_the_others() -> None:
    answers = {"a": [hit("good", 0.3, 20.0, GOOD)], "b": [hit("no words", 0.4, None, Weights(1.0, 0.0))]}
    assert scores(fuse_answers(answers, "hybrid"))["no words"] == pytest.approx(0.56 * 0.4)


def test_indexes_of_which_each_knows_one_half_share_the_usual_weights() -> None:
    answers = {"a": [hit("meant", 0.5, None, Weights(1.0, 0.0))], "b": [hit("said", None, 8.0, Weights(0.0, 1.0, 8.0))]}
    assert scores(fuse_answers(answers, "hybrid")) == {"meant": pytest.approx(0.35), "said": pytest.approx(0.3)}


def test_one_index_that_answers_keeps_its_very_scores() -> None:
    own = [hit("good", 0.5, 20.0, GOOD, 0.7), hit("next", 0.3, 11.0, GOOD, 0.1)]
    found = fuse_answers({"a": own, "b": []}, "hybrid")
    assert [each.score for each in found] == [each.score for each in own]
    assert [each.origin.weights for each in found if each.origin] == [GOOD, GOOD]


def test_a_rerankers_part_stays_as_it_is() -> None:
    rerank = Rerank(0.3, 0.1, 2.0, 1.0, 1.0)
    plain = hit("poor", 0.1, 2.0, POOR)
    assert plain.origin is not None
    origin = replace(plain.origin.with_points(rerank=0.3), rerank=rerank)
    reranked = replace(plain, score=plain.score + 0.3, origin=origin)
    good = [hit("good", 0.5, 20.0, GOOD)]
    assert scores(fuse_answers({"a": good, "b": [reranked]}, "hybrid"))["poor"] == pytest.approx(
        scores(fuse_answers({"a": good, "b": [plain]}, "hybrid"))["poor"] + 0.3
    )


def test_what_says_the_same_in_two_indexes_is_one_hit() -> None:
    text = "The keys are rotated every ninety days by the platform team."
    answers = {"a": [hit(text, 0.5, 2.0, POOR)], "b": [hit(text, 0.6, 2.0, POOR), hit("Another text.", 0.1, 1.0, POOR)]}
    (best, other) = deduplicate(fuse_answers(answers, "hybrid"))
    assert (best.index, [each.index for each in best.duplicates]) == ("b", ["a"])
    assert (other.passage, other.duplicates) == ("Another text.", ())
