"""A new passage lies with those that it is like, where most of them lie together."""

from __future__ import annotations

import numpy as np

from semsearch.mapping.arrange_passages import NEAR, beside

POINTS = np.array([[0.5, 0.5], [0.51, 0.5], [0.5, 0.51], [-0.9, -0.9], [-0.2, 0.9]], dtype=np.float32)


def place(*like: int) -> np.ndarray:
    return beside(POINTS, np.array([like]), np.array([7]))[0]


def test_it_lies_among_those_that_lie_together_and_not_between_them_and_others() -> None:
    assert np.linalg.norm(place(3, 0, 1, 2, 4) - POINTS[0]) < NEAR / 2


def test_of_scattered_ones_it_lies_with_the_likest() -> None:
    assert np.linalg.norm(place(4, 0, 3) - POINTS[4]) < NEAR / 2


def test_what_is_like_none_lies_in_the_middle() -> None:
    assert np.linalg.norm(place(-1, -1)) < NEAR


def test_several_at_one_place_can_be_told_apart() -> None:
    placed = beside(POINTS, np.full((3, 1), 3), np.arange(3))
    assert len(np.unique(placed, axis=0)) == 3
