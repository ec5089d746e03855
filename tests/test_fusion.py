"""Two scores become one."""

from __future__ import annotations

import numpy as np
import pytest

from semsearch.fusion import fuse

NOTHING = float("nan")


def test_what_both_halves_find_best_is_best() -> None:
    fused = fuse(np.array([0.9, 0.5, 0.8]), np.array([12.0, 3.0, 2.0]))
    assert int(np.argmax(fused)) == 0
    assert fused[0] == pytest.approx(0.4 * 0.9 + 0.6)


def test_what_one_half_does_not_find_gets_nothing_from_it() -> None:
    fused = fuse(np.array([0.8, 0.8]), np.array([NOTHING, 5.0]))
    assert fused.tolist() == pytest.approx([0.4 * 0.8, 0.4 * 0.8 + 0.6])


def test_where_one_half_finds_nothing_the_other_decides_alone() -> None:
    dense, nothing = np.array([-0.2, 0.4]), np.array([NOTHING, NOTHING])
    assert fuse(dense, nothing).tolist() == dense.tolist()
    assert fuse(nothing, np.array([1.0, 2.0])).tolist() == [0.5, 1.0]
    assert fuse(np.zeros(0), np.zeros(0)).tolist() == []


def test_what_neither_half_knows_is_no_answer() -> None:
    assert np.isnan(fuse(np.array([0.1, NOTHING]), np.array([NOTHING, NOTHING]))).tolist() == [False, True]
    assert np.isnan(fuse(np.array([NOTHING, NOTHING]), np.array([2.0, NOTHING]))).tolist() == [False, True]
