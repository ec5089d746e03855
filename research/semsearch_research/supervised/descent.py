"""Train a classifier: Adam over mini-batches, stopped when the score on other data no longer grows."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from semsearch_research.supervised.projection import Array, Classifier, Inputs
from semsearch_research.train.adam import Adam

_PART = 2048  # rows whose probabilities are computed at a time


@dataclass(frozen=True, slots=True)
class Setting:
    """A setting of training: Adam's rate, and λ of the λ/2 ‖θ‖² that is added to the loss, θ being all parameters."""

    rate: float
    regularisation: float


@dataclass(frozen=True, slots=True)
class Pace:
    """The pace of training: texts a step, most rounds, and rounds that may pass without an improvement."""

    batch: int = 100
    rounds: int = 20
    patience: int = 3


@dataclass(frozen=True, slots=True)
class Learned:
    """The best score, and the round in which it was reached. The classifier has the parameters of that round."""

    score: float
    rounds: int


def learn(
    classifier: Classifier,
    inputs: Inputs,
    targets: Array,
    score: Callable[[], float],
    *,
    setting: Setting,
    pace: Pace,
    generator: np.random.Generator,
    progress: Callable[[int, int], None] | None = None,
) -> Learned:
    """Train in rounds over the n inputs in random order, until the `score` has not grown for some rounds.

    Of equal scores the first counts. At the end the parameters are those of the best round; if no score is above minus
    infinity, those of the beginning.
    """
    adam = Adam(classifier.parameters, rate=setting.rate)
    best, kept = Learned(-np.inf, 0), [values.copy() for values in classifier.parameters]
    for number in range(1, pace.rounds + 1):
        order = generator.permutation(len(targets))
        for first in range(0, len(order), pace.batch):
            rows = order[first : first + pace.batch]
            _, gradients = classifier.loss_and_gradients(_rows(inputs, rows), targets[rows])
            adam.step(gradients, setting.regularisation)
        if progress:
            progress(number, pace.rounds)
        if (found := score()) > best.score:
            best, kept = Learned(found, number), [values.copy() for values in classifier.parameters]
        elif number - best.rounds >= pace.patience:
            break
    for values, earlier in zip(classifier.parameters, kept, strict=True):
        values[...] = earlier
    return best


def probabilities(classifier: Classifier, inputs: Inputs) -> npt.NDArray[np.float64]:
    """Compute p of all inputs, some at a time, since projected ones are wide. (n, K)"""
    count = len(inputs[0])
    parts: list[npt.NDArray[Any]] = [
        classifier.probabilities(_rows(inputs, np.arange(first, min(first + _PART, count))))
        for first in range(0, count, _PART)
    ]
    return np.asarray(np.concatenate(parts), dtype=np.float64)


def _rows(inputs: Inputs, rows: npt.NDArray[np.integer[Any]]) -> Inputs:
    return tuple(each[rows] for each in inputs)
