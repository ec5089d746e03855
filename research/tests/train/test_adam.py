"""Adam beside the formulas of its paper, for whole arrays and for some rows of one."""

from __future__ import annotations

import math

import numpy as np
import pytest

from semsearch_research.train import adam as module
from semsearch_research.train.adam import Adam


@pytest.mark.parametrize("near", [1, 4, 65_536])
def test_adam_is_that_of_its_paper_however_many_numbers_are_moved_at_a_time(
    near: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "_NEAR", near)
    generator = np.random.default_rng(0)
    values = generator.standard_normal((3, 2))
    expected, mean, square = values.copy(), np.zeros((3, 2)), np.zeros((3, 2))
    adam = Adam([values], rate=0.01)
    for number in range(1, 6):
        given = generator.standard_normal((3, 2))
        gradient = given + 0.1 * expected
        mean = 0.9 * mean + 0.1 * gradient
        square = 0.999 * square + 0.001 * gradient**2
        # the paper's shorter form, in which ε stands beside the uncorrected root
        rate = 0.01 * math.sqrt(1 - 0.999**number) / (1 - 0.9**number)
        expected = expected - rate * mean / (np.sqrt(square) + 1e-8)
        adam.step([given], 0.1)
        assert values == pytest.approx(expected)
