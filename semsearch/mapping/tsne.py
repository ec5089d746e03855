"""t-SNE (van der Maaten and Hinton 2008) with the repulsion of FIt-SNE: the points of a map, by gradient descent.

Attraction: one weight for each pair of neighbours, both ways, summing to one. The paper weighs neighbours by a Gaussian
of a chosen perplexity. Equal weights for the k nearest give nearly the same map (Böhm, Berens, Kobak 2022, Journal of
Machine Learning Research 23, figure 7), and need only the neighbours' ids.

Repulsion: Σ_j (y_i - y_j) / (1 + |y_i - y_j|²)² / Z with Z = Σ_ij 1 / (1 + |y_i - y_j|²): for n points n² pairs.
Linderman et al. 2019 (Nature Methods 16, FIt-SNE) spread points over a grid, where such sums are convolutions, computed
by Fourier transforms. They interpolate by three nodes in each direction; here it is two on a finer grid, which is
simpler in NumPy, and its error is below what the descent notices: tests/mapping compares it with the sum over all
pairs. Forces of 16 sampled pairs a step, which need no grid, keep .10 of the fifteen nearest neighbours of 600 made-up
passages, where the grid keeps .87.

Descent: at first attraction counts twelvefold (exaggeration), so that clusters form. The start is the two directions in
which the passages differ most, which keeps the large-scale structure and makes the map reproducible (Kobak and
Linderman 2021, Nature Biotechnology 39); the learning rate follows Belkina et al. 2019, Nature Communications 10.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
import scipy.fft
from scipy.sparse import csr_array

from semsearch.arrays.types import Complex64, Float32, Float64, Int32, Int64

# -- Attraction: weights of neighbours ---------------------------------------------------------------------------------


def affinities(neighbours: Int64) -> csr_array:
    """The symmetric weights of neighbours (n, k), where -1 is none. -> (n, n)"""
    n, k = neighbours.shape
    rows, columns = np.repeat(np.arange(n), k), neighbours.ravel()
    is_pair = columns >= 0
    pairs = (rows[is_pair], columns[is_pair])
    one_way = csr_array((np.ones(len(pairs[0]), dtype=np.float32), pairs), shape=(n, n))
    both = csr_array(one_way + one_way.T)
    both.sort_indices()
    both.data /= np.float32(max(both.data.sum(dtype=np.float64), 1.0))
    return both


# -- Repulsion: a grid and Fourier transforms --------------------------------------------------------------------------


STEP = 0.5  # between nodes of the grid; the force changes over lengths of one
_MOST = 1024  # nodes in a direction: points that are far apart get a coarser grid
_FEWEST, _FINEST = 64, 1e-3  # nodes across a small map, and the least distance of nodes
_ROUND = 32  # nodes by which grids grow, so that few kernels are made


@dataclass(frozen=True, slots=True)
class Repulsion:
    """The sums of the forces on each point (n, 2), before the division by Z; and Z, without i = j."""

    forces: Float32
    total: float


@dataclass(frozen=True, slots=True)
class _Spread:
    """Each point's share in the four nodes around it. (4, n), (4, n)"""

    nodes: Int64
    shares: Float32


def repulsion(points: Float32) -> Repulsion:
    """The repulsion between points. (n, 2)"""
    extent = float((points.max(axis=0) - points.min(axis=0)).max())
    step = _step(extent)
    size = -(-(int(extent / step) + 4) // _ROUND) * _ROUND
    spread = _spread((points - points.min(axis=0)) / np.float32(step) + 1, size)
    density = sum(
        np.bincount(nodes, weights=shares, minlength=size * size)
        for nodes, shares in zip(spread.nodes, spread.shares, strict=True)
    )
    transformed = scipy.fft.rfft2(np.asarray(density, dtype=np.float32).reshape(size, size), s=(2 * size, 2 * size))
    along_x, along_y, near = (_at_points(transformed * kernel, size, spread) for kernel in _kernels(size, step))
    others = near.astype(np.float64) - _of_itself(spread, step)
    return Repulsion(np.stack((along_x, along_y), axis=1), max(float(others.sum()), 0.0))


def _step(extent: float) -> float:
    """The distance of nodes for a map of an extent: less while the map is small, so that the descent begins well."""
    step = max(STEP, extent / (_MOST - 4))
    while extent < _FEWEST * step and step > _FINEST:
        step /= 2
    return step


def _of_itself(spread: _Spread, step: float) -> Float64:
    """What a point's own shares add to the field at it, which is a little less than one. Forces cancel out. (n,)"""
    corners = np.array([[0, 0], [0, 1], [1, 0], [1, 1]]) * step
    near = 1 / (1 + np.square(corners[:, None] - corners).sum(axis=2))
    forces: Float64 = (spread.shares * (near @ spread.shares)).sum(axis=0)
    return forces


def _spread(places: Float32, size: int) -> _Spread:
    corner = np.floor(places)
    x, y = (places - corner).T
    first = corner.astype(np.int64) @ np.array([size, 1])
    nodes = first + np.array([[0], [1], [size], [size + 1]])
    return _Spread(nodes, np.stack(((1 - x) * (1 - y), (1 - x) * y, x * (1 - y), x * y)))


def _at_points(transformed: Complex64, size: int, spread: _Spread) -> Float32:
    """The value of a field at each point. (n,)"""
    field = scipy.fft.irfft2(transformed, s=(2 * size, 2 * size))[:size, :size].ravel()
    value: Float32 = (field[spread.nodes] * spread.shares).sum(axis=0)
    return value


@lru_cache(maxsize=2)
def _kernels(size: int, step: float) -> tuple[Complex64, Complex64, Complex64]:
    """The transforms of (x, y, 1 + r²) / (1 + r²)² on a grid twice as wide, so that its ends do not meet."""
    steps = np.arange(2 * size)
    distance = np.where(steps < size, steps, steps - 2 * size) * step
    near = 1 / (1 + distance[:, None] ** 2 + distance**2)
    fields = (distance[:, None] * near**2, distance * near**2, near)
    along_x, along_y, sums = (np.asarray(scipy.fft.rfft2(field), dtype=np.complex64) for field in fields)
    return along_x, along_y, sums


# -- Descent -----------------------------------------------------------------------------------------------------------

Report = Callable[[int, int], None]  # steps done, and their total

_LEAST_RATE = 200.0  # and for few points, twice their number: a higher rate would scatter them
_LONGEST = np.float32(5.0)  # of a step, so that no point leaves the map
_LEAST_GAIN = np.float32(0.01)


@dataclass(frozen=True, slots=True)
class Phase:
    """A phase of the descent: its steps, the weight of attraction, the share of a step that the next one keeps."""

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
    """The state of a descent: points (n, 2), their velocity, and gains, which grow in a steady direction."""

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
