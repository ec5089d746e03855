"""Matching a teacher's similarities: the losses and their gradient are what the formulae say; training lowers them."""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt
import pytest

from semsearch.text.ragged import Ragged
from semsearch_research.train.matching import Matching, loss_and_gradient, match

Float32 = npt.NDArray[np.float32]


def unit(rows: npt.NDArray[np.floating]) -> npt.NDArray[np.floating]:
    return np.asarray(rows / np.linalg.norm(rows, axis=1, keepdims=True))


def literal_loss(averages: Float32, targets: Float32, ranking: float, temperature: float) -> float:
    """The two losses, pair by pair."""
    student, teacher = unit(averages.astype(np.float64)), targets.astype(np.float64)
    count, squares, divergence = len(student), 0.0, 0.0
    for i in range(count):
        others = [j for j in range(count) if j != i]
        mine = {j: float(student[i] @ student[j]) for j in others}
        right = {j: float(teacher[i] @ teacher[j]) for j in others}
        squares += sum((mine[j] - right[j]) ** 2 for j in others)
        found = {j: math.exp(mine[j] / temperature) for j in others}
        wanted = {j: math.exp(right[j] / temperature) for j in others}
        for j in others:
            share = wanted[j] / sum(wanted.values())
            divergence += share * (math.log(share) - math.log(found[j] / sum(found.values())))
    return squares / (count * (count - 1)) + ranking * divergence / count


@pytest.fixture
def generator() -> np.random.Generator:
    return np.random.default_rng(2)


@pytest.mark.parametrize("ranking", [0.0, 0.5])
def test_the_loss_and_its_gradient_are_the_literal_ones(generator: np.random.Generator, ranking: float) -> None:
    averages = generator.standard_normal((7, 4)).astype(np.float32)
    targets = unit(generator.standard_normal((7, 5))).astype(np.float32)
    loss, gradient = loss_and_gradient(averages, targets, ranking=ranking, temperature=0.3)
    assert loss == pytest.approx(literal_loss(averages, targets, ranking, 0.3), rel=1e-4)
    step = 1e-3
    for row, column in np.ndindex(averages.shape):
        moved = [averages.copy(), averages.copy()]
        moved[0][row, column] += step
        moved[1][row, column] -= step
        slope = np.subtract(*(literal_loss(part, targets, ranking, 0.3) for part in moved)) / (2 * step)
        assert gradient[row, column] == pytest.approx(slope, abs=2e-4)


def test_a_student_that_agrees_has_no_loss_and_no_gradient(generator: np.random.Generator) -> None:
    targets = unit(generator.standard_normal((6, 4))).astype(np.float32)
    loss, gradient = loss_and_gradient(3 * targets, targets, ranking=1, temperature=0.1)
    assert loss == pytest.approx(0, abs=1e-6)
    assert np.allclose(gradient, 0, atol=1e-5)


def test_words_of_no_text_stay_as_they_were(generator: np.random.Generator) -> None:
    words = generator.standard_normal((8, 4)).astype(np.float32)
    texts = Ragged(np.array([0, 1, 2, 3, 1], dtype=np.int32), np.array([0, 2, 4, 5]))
    targets = unit(generator.standard_normal((3, 6))).astype(np.float16)
    heard: list[tuple[int, int]] = []
    trained = match(
        words, np.full(8, 1e-3, np.float32), texts, targets, Matching(epochs=3, batch=2, groups=2, clusters=3),
        progress=lambda done, total: heard.append((done, total)),
    )  # fmt: skip
    assert np.array_equal(trained[4:], words[4:])
    assert not np.allclose(trained[:4], words[:4])
    assert heard == [(step, 4) for step in range(1, 5)]


NAN, INFINITE = float("nan"), float("inf")
