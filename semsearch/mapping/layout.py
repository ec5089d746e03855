"""The layout of a map: t-SNE by gradient descent, van der Maaten and Hinton 2008, with the repulsion of FIt-SNE.

Neighbours attract each other, all points repel each other, and the map is where both balance. At first attraction
counts twelvefold (exaggeration), so that clusters find each other. The start is the two directions in which the
passages differ most, which keeps the large picture and makes the map the same every time (Kobak and Linderman 2021,
Nature Biotechnology 39); the rate of learning follows Belkina et al. 2019, Nature Communications 10.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from scipy.sparse import csr_array

from semsearch.mapping.repulsion import repulsion

Float32 = npt.NDArray[np.float32]
Int32 = npt.NDArray[np.int32]
Report = Callable[[int, int], None]  # steps done, of how many

_LEAST_RATE = 200.0  # and for few points, twice their number: the rate of many would throw them about
_LONGEST = np.float32(5.0)  # of a step, so that no point is thrown out of the map
_LEAST_GAIN = np.float32(0.01)


@dataclass(frozen=True, slots=True)
class Phase:
    """A phase of the descent: how many steps, how much attraction counts, how much of a step the next one keeps."""

    steps: int
    exaggeration: float
    momentum: float


GATHERING = Phase(250, 12.0, 0.5)
SETTLING = Phase(500, 1.0, 0.8)


def layout(
    weights: csr_array,
    start: Float32,
    *,
    phases: tuple[Phase, ...] = (GATHERING, SETTLING),
    report: Report | None = None,
) -> Float32:
    """Lay out n points, from weights of pairs (n, n) and a start (n, 2), which is made small. -> (n, 2)"""
    points = (start / np.float32(max(start[:, 0].std(), 1e-12) * 1e4)).astype(np.float32)
    rate = np.float32(max(len(points) / GATHERING.exaggeration, min(_LEAST_RATE, 2 * len(points))))
    descent = Descent(weights, points, rate)
    done, total = 0, sum(phase.steps for phase in phases)
    for phase in phases:
        for _ in range(phase.steps):
            descent.step(phase)
            done += 1
            if report is not None:
                report(done, total)
        descent.rest()
    return descent.points


class Descent:
    """The state of a descent: points (n, 2), their velocity, and gains, which grow while the way is straight."""

    def __init__(self, weights: csr_array, points: Float32, rate: np.float32) -> None:
        self.points = points
        self._weights = weights
        self._now = weights.copy()
        self._rate = rate
        self._heads: Int32 = np.repeat(np.arange(len(points), dtype=np.int32), np.diff(weights.indptr))
        self.rest()

    def rest(self) -> None:
        """Forget the velocity."""
        self._velocity = np.zeros_like(self.points)
        self._gains = np.ones_like(self.points)

    def step(self, phase: Phase) -> None:
        """Take one step down."""
        away = repulsion(self.points)
        scale = np.float32(1 / max(away.total, 1e-12))
        gradient = np.float32(4 * phase.exaggeration) * self._attraction() - np.float32(4) * scale * away.forces
        is_straight = np.sign(gradient) != np.sign(self._velocity)
        self._gains = np.maximum(
            np.where(is_straight, self._gains + np.float32(0.2), self._gains * np.float32(0.8)), _LEAST_GAIN
        )
        self._velocity = np.float32(phase.momentum) * self._velocity - self._rate * self._gains * gradient
        lengths = np.sqrt(np.square(self._velocity).sum(axis=1, keepdims=True))
        self._velocity *= np.minimum(1, _LONGEST / np.maximum(lengths, _LONGEST))
        self.points = self.points + self._velocity
        self.points -= self.points.mean(axis=0)

    def _attraction(self) -> Float32:
        """Σ_j p_ij (y_i - y_j) / (1 + |y_i - y_j|²) of each point. (n, 2)"""
        apart = self.points.take(self._heads, axis=0)
        apart -= self.points.take(self._weights.indices, axis=0)
        self._now.data = self._weights.data / (1 + np.einsum("ij,ij->i", apart, apart))
        sums = self._now @ np.column_stack((self.points, np.ones(len(self.points), dtype=np.float32)))
        forces: Float32 = sums[:, 2:] * self.points - sums[:, :2]
        return forces
