"""Adam (Kingma, Ba 2015): gradient descent in which each parameter has its own step size."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from semsearch.arrays.types import Floating, Int64

_BETA1, _BETA2, _EPSILON = 0.9, 0.999, 1e-8
_NEAR = 65_536  # numbers moved at a time: they stay in the processor's cache, which takes a third of the time


class Adam:
    """Adam's optimiser, which moves parameters in place: whole arrays, or only some rows of the first array.

    Rows that are not moved keep their moments.
    """

    def __init__(self, parameters: Sequence[Floating], *, rate: float) -> None:
        self.parameters = parameters
        self.rate = rate
        self._means = [np.zeros_like(values) for values in parameters]
        self._squares = [np.zeros_like(values) for values in parameters]
        self._steps = 0

    def step(self, gradients: Sequence[Floating], regularisation: float = 0.0) -> None:
        """Move all arrays against their gradients, and against that of λ/2 ‖θ‖², λ being the regularisation."""
        rate = self._next_rate()
        for arrays in zip(self.parameters, gradients, self._means, self._squares, strict=True):
            rows = max(1, _NEAR * len(arrays[0]) // arrays[0].size)
            for first in range(0, len(arrays[0]), rows):
                values, given, mean, square = (array[first : first + rows] for array in arrays)
                _move(values, given + regularisation * values if regularisation else given, mean, square, rate)

    def step_rows(self, rows: Int64, gradient: Floating, share: float = 1.0) -> None:
        """Move distinct rows (r,) of the first array against their gradient (r, d), by a share of the learning rate."""
        rate = self._next_rate() * share
        tables = (self.parameters[0], self._means[0], self._squares[0])
        values, mean, square = (table[rows] for table in tables)
        _move(values, gradient, mean, square, rate)
        for table, moved in zip(tables, (values, mean, square), strict=True):
            table[rows] = moved

    def _next_rate(self) -> float:
        """The learning rate of the next step, corrected for moments that begin at 0."""
        self._steps += 1
        return float(self.rate * (1 - _BETA2**self._steps) ** 0.5 / (1 - _BETA1**self._steps))


def _move(values: Floating, gradient: Floating, mean: Floating, square: Floating, rate: float) -> None:
    mean += (1 - _BETA1) * (gradient - mean)
    square += (1 - _BETA2) * (gradient * gradient - square)
    values -= rate * mean / (np.sqrt(square) + _EPSILON)
