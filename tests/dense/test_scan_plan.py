"""Which segments get codes, and how far a scan must go for a recall."""

from __future__ import annotations

import numpy as np
import pytest

from semsearch.dense.scan_plan import CODED, ScanOptions, evenly, least_step


def test_codes_are_for_many_vectors_of_an_even_number_of_dimensions() -> None:
    assert not ScanOptions().has_codes(CODED - 1, 448)
    assert ScanOptions().has_codes(CODED, 448)
    assert not ScanOptions().has_codes(CODED, 449)
    assert ScanOptions(listed=100).has_codes(100, 448)
    assert not ScanOptions(exact=True).has_codes(10_000_000, 448)


def test_a_sample_is_even_and_not_larger_than_what_there_is() -> None:
    assert evenly(10, 5).tolist() == [0, 2, 4, 6, 8]
    assert evenly(3, 5).tolist() == [0, 1, 2]
    assert evenly(0, 5).tolist() == []


def test_the_least_step_is_chosen_by_one_half_of_the_questions_and_measured_by_the_other() -> None:
    asked: list[tuple[int, slice]] = []
    of_step = {1: [0.5, 1.0], 2: [1.0, 0.8], 3: [1.0, 0.9], 4: [1.0, 1.0]}  # of the half that chooses, and the other

    def shares(step: int, part: slice) -> np.ndarray:
        asked.append((step, part))
        return np.full(8, of_step[step][part.start or 0], np.float32)

    least = least_step([1, 2, 3, 4], shares, 0.9 - 1e-6)
    assert (least.step, least.questions) == (3, 8)
    assert least.recall == pytest.approx(0.9)
    assert [step for step, part in asked if part.start] == [2, 3]
    last = least_step([1, 2], shares, 0.95)
    assert (last.step, last.recall) == (2, pytest.approx(0.8))
