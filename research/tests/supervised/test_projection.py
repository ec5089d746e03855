"""The classifiers of supervised tasks: gradients, the papers' formulas one text at a time, and how they are learned."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import pytest

from semsearch_research.supervised.descent import Pace, Setting, learn, probabilities
from semsearch_research.supervised.projection import Array, Inputs, PairClassifier, TextClassifier, one_hot, spread

Classifier = PairClassifier | TextClassifier
CASES = {
    "pairs": (PairClassifier, 2, 7),
    "pairs without a projection": (PairClassifier, 2, 0),
    "texts": (TextClassifier, 1, 7),
    "texts without a projection": (TextClassifier, 1, 0),
}


def exact(case: str, *, dimension: int = 4, hidden: int = 3, classes: int = 5) -> tuple[Classifier, Inputs]:
    """A classifier in float64 with six inputs, so that differences of the loss can be trusted."""
    kind, columns, width = CASES[case]
    generator = np.random.default_rng(3)
    classifier = kind(dimension, width, hidden, classes, generator)
    for name in ("P", "U", "T"):
        if getattr(classifier, name, None) is not None:
            setattr(classifier, name, generator.standard_normal(getattr(classifier, name).shape))
    shapes = [values.shape for values in classifier.head.parameters]
    classifier.head = type(classifier.head)(*(generator.standard_normal(shape) for shape in shapes))
    return classifier, tuple(generator.standard_normal((6, dimension)) for _ in range(columns))


def sigmoid(x: float) -> float:
    return 1 / (1 + math.exp(-x))


def literal(classifier: Classifier, texts: list[Array]) -> list[float]:
    """p of one text or pair, number by number; of a pair as Tai et al. have it, after the SIF paper's projection."""
    P = np.eye(len(texts[0])) if classifier.P is None else classifier.P
    h = [[sum(x[i] * P[i, j] for i in range(len(x))) for j in range(P.shape[1])] for x in texts]
    if isinstance(classifier, PairClassifier):
        left, right = h
        features = [one * two for one, two in zip(left, right, strict=True)]
        features += [abs(one - two) for one, two in zip(left, right, strict=True)]
        matrix = np.vstack((classifier.U, classifier.T))
    else:
        [features] = h
        matrix = classifier.U
    b, V, c = classifier.head.parameters
    active = [sigmoid(b[j] + sum(value * matrix[i, j] for i, value in enumerate(features))) for j in range(len(b))]
    exponentials = [math.exp(c[k] + sum(active[j] * V[j, k] for j in range(len(b)))) for k in range(len(c))]
    return [value / sum(exponentials) for value in exponentials]


@pytest.mark.parametrize("case", list(CASES))
def test_probabilities_are_those_of_the_formulas_one_at_a_time(case: str) -> None:
    classifier, inputs = exact(case)
    found = classifier.probabilities(inputs)
    for row in range(6):
        assert found[row] == pytest.approx(literal(classifier, [column[row] for column in inputs]))
    assert probabilities(classifier, inputs) == pytest.approx(found)


@pytest.mark.parametrize("case", list(CASES))
def test_gradients_are_the_differences_of_the_loss(case: str) -> None:
    classifier, inputs = exact(case)
    targets = spread(np.array([1.0, 2.4, 5.0, 3.3, 4.9, 3.0]), 5).astype(np.float64)
    _, gradients = classifier.loss_and_gradients(inputs, targets)
    step = 1e-6
    for values, gradient in zip(classifier.parameters, gradients, strict=True):
        assert gradient.shape == values.shape
        for index in np.ndindex(values.shape):
            kept = values[index]
            losses = []
            for moved in (kept + step, kept - step):
                values[index] = moved
                losses.append(classifier.loss_and_gradients(inputs, targets)[0])
            values[index] = kept
            assert gradient[index] == pytest.approx((losses[0] - losses[1]) / (2 * step), abs=1e-7)


def test_the_loss_is_the_divergence_and_for_labels_the_cross_entropy() -> None:
    classifier, inputs = exact("pairs")
    p = classifier.probabilities(inputs)
    targets = spread(np.array([1.0, 2.4, 5.0, 3.3, 4.9, 3.0]), 5).astype(np.float64)
    by_hand = sum(
        t * math.log(t / q) for row, found in zip(targets, p, strict=True) for t, q in zip(row, found, strict=True) if t
    )
    assert classifier.loss_and_gradients(inputs, targets)[0] == pytest.approx(by_hand / 6)
    labels = np.array([0, 1, 2, 3, 4, 0])
    assert classifier.loss_and_gradients(inputs, one_hot(labels, 5))[0] == pytest.approx(
        -np.mean(np.log(p[np.arange(6), labels]))
    )


def test_a_spread_score_is_on_two_neighbours_and_its_mean_is_the_score() -> None:
    scores = np.array([1.0, 1.5, 2.0, 3.25, 4.9, 5.0])
    targets = spread(scores, 5)
    assert targets @ np.arange(1, 6) == pytest.approx(scores)
    assert targets.sum(axis=1) == pytest.approx(1)
    assert targets[3] == pytest.approx([0, 0, 0.75, 0.25, 0])
    assert (np.count_nonzero(targets, axis=1) == [1, 2, 1, 2, 2, 1]).all()
    assert targets.min() == 0


# -- learning ----------------------------------------------------------------------------------------------------------


def separable(count: int = 200) -> tuple[TextClassifier, Inputs, Array, np.ndarray]:
    generator = np.random.default_rng(1)
    x = generator.standard_normal((count, 5)).astype(np.float32)
    labels = (x[:, 0] * 2 - x[:, 3] > 0).astype(np.int64)
    return TextClassifier(5, 12, 6, 2, generator), (x,), one_hot(labels, 2), labels


def run(score: Callable[[TextClassifier], float], pace: Pace) -> tuple[TextClassifier, int, list[int]]:
    classifier, inputs, targets, _ = separable()
    heard: list[int] = []
    learned = learn(
        classifier,
        inputs,
        targets,
        lambda: score(classifier),
        setting=Setting(1e-2, 1e-5),
        pace=pace,
        generator=np.random.default_rng(0),
        progress=lambda done, _: heard.append(done),
    )
    return classifier, learned.rounds, heard


def test_what_can_be_separated_is_learned() -> None:
    _, inputs, _, labels = separable()
    accuracy: Callable[[TextClassifier], float] = lambda c: float(  # noqa: E731
        np.mean(probabilities(c, inputs).argmax(axis=1) == labels)
    )
    classifier, _, _ = run(accuracy, Pace(batch=20, rounds=30, patience=5))
    assert accuracy(classifier) > 0.97


def test_learning_stops_when_the_score_grows_no_more_and_gives_the_best_round_back() -> None:
    scores, seen = iter([1.0, 3.0, 3.0, 2.0, 9.0]), []

    def score(classifier: TextClassifier) -> float:
        seen.append([values.copy() for values in classifier.parameters])
        return next(scores)

    classifier, rounds, heard = run(score, Pace(batch=50, rounds=10, patience=2))
    assert (rounds, heard) == (2, [1, 2, 3, 4])
    assert all((a == b).all() for a, b in zip(classifier.parameters, seen[1], strict=True))
    assert any((a != b).any() for a, b in zip(classifier.parameters, seen[3], strict=True))
