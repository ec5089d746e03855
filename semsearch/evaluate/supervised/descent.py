"""Learning a classifier: Adam over mini-batches, and stopping when what counts, on data apart, grows no more."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from semsearch.evaluate.supervised.projection import Array, Classifier, Inputs

_BETA1, _BETA2, _EPSILON = 0.9, 0.999, 1e-8
_NEAR = 65_536  # numbers moved at a time: they stay near the processor, which takes a third of the time
_PART = 2048  # rows whose probabilities are computed at a time


@dataclass(frozen=True, slots=True)
class Setting:
    """Adam's rate, and λ of the λ/2 ‖θ‖² that is added to the loss, θ being all parameters."""

    rate: float
    regularisation: float


@dataclass(frozen=True, slots=True)
class Pace:
    """How many texts a step has, how many rounds there are at most, and how many may pass without an improvement."""

    batch: int = 100
    rounds: int = 20
    patience: int = 3


@dataclass(frozen=True, slots=True)
class Learned:
    """The best score, and after how many rounds it was reached. The classifier has the parameters of then."""

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
    """Rounds over the n inputs in random order, until `score` of the classifier as it is has not grown for a while.

    Of equal scores the first counts. At the end the parameters are those of the best round; where no score is above
    minus infinity, those of the beginning.
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


class Adam:
    """Adam (Kingma, Ba 2015) for whole arrays, which are changed in place."""

    def __init__(self, parameters: Sequence[Array], *, rate: float) -> None:
        self.parameters = parameters
        self.rate = rate
        self._means = [np.zeros_like(values) for values in parameters]
        self._squares = [np.zeros_like(values) for values in parameters]
        self._steps = 0

    def step(self, gradients: Sequence[Array], regularisation: float = 0.0) -> None:
        """Move against the gradients of the loss and of λ/2 ‖θ‖²."""
        self._steps += 1
        rate = self.rate * (1 - _BETA2**self._steps) ** 0.5 / (1 - _BETA1**self._steps)
        for arrays in zip(self.parameters, gradients, self._means, self._squares, strict=True):
            rows = max(1, _NEAR * len(arrays[0]) // arrays[0].size)
            for first in range(0, len(arrays[0]), rows):
                values, given, mean, square = (array[first : first + rows] for array in arrays)
                gradient = given + regularisation * values if regularisation else given
                mean += (1 - _BETA1) * (gradient - mean)
                square += (1 - _BETA2) * (gradient * gradient - square)
                values -= rate * mean / (np.sqrt(square) + _EPSILON)


def probabilities(classifier: Classifier, inputs: Inputs) -> npt.NDArray[np.float64]:
    """p of all inputs, some at a time: the projected ones are wide. (n, K)"""
    count = len(inputs[0])
    parts: list[npt.NDArray[Any]] = [
        classifier.probabilities(_rows(inputs, np.arange(first, min(first + _PART, count))))
        for first in range(0, count, _PART)
    ]
    return np.asarray(np.concatenate(parts), dtype=np.float64)


def _rows(inputs: Inputs, rows: npt.NDArray[np.integer[Any]]) -> Inputs:
    return tuple(each[rows] for each in inputs)
