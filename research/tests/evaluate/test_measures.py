"""Figures of rankings and how sure they are: the scorer by a case worked by hand, the bootstrap by a slow form."""

from __future__ import annotations

import math

import numpy as np
import pytest
from packages import needed

from semsearch_research.evaluate.retrieval import MEASURES, Figure, measure, resampled_means

needed("pytrec_eval")

RELEVANT = {"a": {"x": 3, "y": 1, "z": 0}, "b": {"y": 1}, "c": {"gone": 1}, "d": {"x": 1}}


def figures(rankings: dict[str, list[str]]) -> dict[str, list[float]]:
    return dict(zip(MEASURES, measure(RELEVANT, rankings).T.tolist(), strict=True))


def test_the_figures_are_those_worked_by_hand() -> None:
    others = [f"o{number}" for number in range(10)]
    found = figures({"a": ["z", "x", "o", "y"], "b": [*others, "y"], "c": ["x", "y"]})
    ideal = 3 / math.log2(2) + 1 / math.log2(3)
    gained = 3 / math.log2(3) + 1 / math.log2(5)
    assert found["ndcg@10"] == pytest.approx([gained / ideal, 0, 0, 0])
    assert found["mrr@10"] == pytest.approx([1 / 2, 0, 0, 0])
    assert found["recall@10"] == pytest.approx([1, 0, 0, 0])
    assert found["recall@100"] == pytest.approx([1, 1, 0, 0])
    assert found["map"] == pytest.approx([(1 / 2 + 2 / 4) / 2, 1 / 11, 0, 0])


def test_only_a_hundred_documents_count() -> None:
    others = [f"o{number}" for number in range(100)]
    found = figures({"b": [*others, "y"]})
    assert found["recall@100"] == [0, 0, 0, 0]
    assert found["map"] == [0, 0, 0, 0]
    assert figures({"b": [*others[1:], "y"]})["map"] == pytest.approx([0, 1 / 100, 0, 0])


def test_resampled_means_are_means_of_draws_with_replacement() -> None:
    values = np.random.default_rng(1).random((7, 2, 3))
    means = resampled_means(values, resamples=50, seed=4)
    generator = np.random.default_rng(4)
    for row, drawn in enumerate(generator.integers(0, 7, size=(50, 7))):
        assert means[row] == pytest.approx(values[drawn].mean(axis=0))


def test_draws_are_the_same_for_all_systems_so_that_equal_systems_never_differ() -> None:
    values = np.random.default_rng(2).random(20)
    means = resampled_means(np.stack([values, values, values + 0.1], axis=1), resamples=200)
    assert (means[:, 0] == means[:, 1]).all()
    assert means[:, 2] - means[:, 0] == pytest.approx(np.full(200, 0.1))


def test_an_interval_covers_as_the_theory_of_means_says() -> None:
    values = np.random.default_rng(3).standard_normal(400)
    figure = Figure.of(values.mean(), resampled_means(values[:, None])[:, 0])
    error = 1.96 * values.std() / math.sqrt(400)
    assert (figure.low, figure.high) == pytest.approx((values.mean() - error, values.mean() + error), abs=0.01)
