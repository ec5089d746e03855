"""Two scores become one."""

from __future__ import annotations

import numpy as np
import pytest

from semsearch.results.options import Weights
from semsearch.search.ranking import fuse, weigh, weights_of
from semsearch.tuning import TUNING

DENSE_WEIGHT = TUNING.dense_weight

NOTHING = float("nan")


def test_what_both_halves_find_best_is_best() -> None:
    fused = fuse(np.array([0.9, 0.5, 0.8]), np.array([12.0, 3.0, 2.0]))
    assert int(np.argmax(fused)) == 0
    assert fused[0] == pytest.approx(DENSE_WEIGHT * 0.9 + 1 - DENSE_WEIGHT)


def test_what_one_half_does_not_find_gets_nothing_from_it() -> None:
    fused = fuse(np.array([0.8, 0.8]), np.array([NOTHING, 5.0]))
    assert fused.tolist() == pytest.approx([DENSE_WEIGHT * 0.8, DENSE_WEIGHT * 0.8 + 1 - DENSE_WEIGHT])


def test_where_one_half_finds_nothing_the_other_decides_alone() -> None:
    dense, nothing = np.array([-0.2, 0.4]), np.array([NOTHING, NOTHING])
    assert fuse(dense, nothing).tolist() == dense.tolist()
    assert fuse(nothing, np.array([1.0, 2.0])).tolist() == [0.5, 1.0]
    assert fuse(np.zeros(0), np.zeros(0)).tolist() == []


def test_what_neither_half_knows_is_no_answer() -> None:
    assert np.isnan(fuse(np.array([0.1, NOTHING]), np.array([NOTHING, NOTHING]))).tolist() == [False, True]
    assert np.isnan(fuse(np.array([NOTHING, NOTHING]), np.array([2.0, NOTHING]))).tolist() == [False, True]


def test_the_weights_are_those_by_which_scores_are_fused() -> None:
    for dense, lexical in (
        ([0.9, 0.5, NOTHING], [12.0, NOTHING, 2.0]),
        ([0.9, 0.5, 0.1], [NOTHING, NOTHING, NOTHING]),
        ([NOTHING, NOTHING, NOTHING], [12.0, 1.0, 2.0]),
    ):
        weights = weights_of(np.array(dense), np.array(lexical))
        expected = [
            weights.dense * np.nan_to_num(one) + weights.lexical * np.nan_to_num(other) / weights.best
            for one, other in zip(dense, lexical, strict=True)
        ]
        assert fuse(np.array(dense), np.array(lexical)).tolist() == pytest.approx(expected)
    assert weigh(is_dense=True, best=5.0) == Weights(DENSE_WEIGHT, 1 - DENSE_WEIGHT, 5.0)
    near = weigh(is_dense=True, best=5.0, near=0.2)
    assert (near.dense + near.lexical + near.near, near.near) == (pytest.approx(1), 0.2)
    assert weigh(is_dense=False, best=5.0, near=0.2).near == weigh(is_dense=True, best=0.0, near=0.2).near == 0
    assert weigh(is_dense=False, best=5.0) == Weights(0.0, 1.0, 5.0)
    assert weigh(is_dense=True, best=0.0) == Weights(1.0, 0.0, 1.0)


def test_given_weights_are_taken() -> None:
    alone = fuse(np.array([NOTHING, NOTHING]), np.array([12.0, NOTHING]), Weights(0.0, 1.0))
    assert alone[0] == 12
    assert np.isnan(alone[1])
