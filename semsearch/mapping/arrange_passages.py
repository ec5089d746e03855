"""Arrange the passages of an index on a plane: from vectors to points.

    vectors ─ neighbours ─ weights ─ descent ─ points
       └ the two directions in which they differ most: the start

The descent is t-SNE (van der Maaten and Hinton 2008) with the repulsion of FIt-SNE.

Attraction: one weight for each pair of neighbours, both ways, summing to one. The paper weighs neighbours by a Gaussian
of a chosen perplexity. Equal weights for the k nearest give nearly the same map (Böhm, Berens, Kobak 2022, Journal of
Machine Learning Research 23, figure 7), and need only the neighbours' ids.

Repulsion: Σ_j (y_i - y_j) / (1 + |y_i - y_j|²)² / Z with Z = Σ_ij 1 / (1 + |y_i - y_j|²): for n points n² pairs.
Linderman et al. 2019 (Nature Methods 16, FIt-SNE) spread points over a grid, where such sums are convolutions, computed
by Fourier transforms. They interpolate by three nodes in each direction; here it is two on a finer grid, which is
simpler in NumPy, and its error is below what the descent notices: tests/mapping compares it with all pairs.

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

from semsearch.arrays.types import Complex64, Float32, Float64, Int64
from semsearch.dense.neighbours import OnStep, Rows, neighbours_of_each
from semsearch.results.documents import MapPhase, MapProgress

# -- Arranging all -----------------------------------------------------------------------------------------------------

OnProgress = Callable[[MapProgress], None]

NEIGHBOURS = 15
_BLOCK = 4_096


@dataclass(frozen=True, slots=True)
class Likeness:
    """The similar passages of each of n passages, and where the descent begins."""

    start: Float32  # (n, 2)
    neighbours: Int64  # (n, k) numbers of passages


def compare(rows: Rows, n: int, *, on_progress: OnProgress) -> Likeness:
    """Compare n passages by the vectors of their numbers. Nothing else of a map needs the vectors."""
    k = min(NEIGHBOURS, -(-(n - 1) // 3))  # of few passages not all, which would have no structure
    return Likeness(two_directions(rows, n), neighbours_of_each(rows, n, k, on_step=_phase(on_progress, "comparing")))


def arrange(likeness: Likeness, *, on_progress: OnProgress) -> Float32:
    """Arrange passages that were compared. From -1 to 1, the middle of their extent at 0. (n, 2)"""
    points = layout(affinities(likeness.neighbours), likeness.start, on_step=_phase(on_progress, "arranging"))
    low, high = points.min(axis=0), points.max(axis=0)
    half = max(float((high - low).max()) / 2, 1e-12)
    return np.asarray((points - (low + high) / 2) / half, dtype=np.float32)


def two_directions(rows: Rows, n: int) -> Float32:
    """The passages along the two directions in which they differ most (principal components). (n, 2)"""
    blocks = [np.arange(first, min(first + _BLOCK, n)) for first in range(0, n, _BLOCK)]
    mean = sum(rows(block).sum(axis=0, dtype=np.float64) for block in blocks) / n
    scatter: Float64 = np.zeros((len(mean), len(mean)))
    for block in blocks:
        centred = rows(block) - mean
        scatter += centred.T @ centred
    axes = np.linalg.eigh(scatter)[1][:, :-3:-1]
    axes *= np.sign(axes[np.abs(axes).argmax(axis=0), np.arange(2)])  # the sign of an eigenvector is arbitrary: fix it
    return np.concatenate([(rows(block) - mean) @ axes for block in blocks]).astype(np.float32)


def _phase(on_progress: OnProgress, phase: MapPhase) -> OnStep:
    return lambda done, total: on_progress(MapProgress(phase, done, total))


# -- Descent -----------------------------------------------------------------------------------------------------------

GATHERING, SETTLING = 250, 500  # steps with exaggerated attraction, and after them
_STEP = 0.5  # between nodes of the grid; the force changes over lengths of one
_FEWEST, _MOST, _ROUND = 64, 1024, 32  # nodes in a direction, which grow by so many, so that few kernels are made
_LEAST_RATE = 200.0  # and for few points, twice their number: a higher rate would scatter them
_LONGEST = np.float32(5.0)  # of a step, so that no point leaves the map


def affinities(neighbours: Int64) -> csr_array:
    """The symmetric weights of neighbours (n, k), where -1 is none. -> (n, n)"""
    n, k = neighbours.shape
    rows, columns = np.repeat(np.arange(n), k), neighbours.ravel()
    pairs = (rows[columns >= 0], columns[columns >= 0])
    one_way = csr_array((np.ones(len(pairs[0]), dtype=np.float32), pairs), shape=(n, n))
    both = csr_array(one_way + one_way.T)
    both.sort_indices()
    both.data /= np.float32(max(both.data.sum(dtype=np.float64), 1.0))
    return both


def repulsion(points: Float32) -> tuple[Float32, float]:
    """The sums of the forces on each point, before the division by Z; and Z, without i = j. (n, 2)"""
    low = points.min(axis=0)
    extent = float((points.max(axis=0) - low).max())
    step = max(_STEP, extent / (_MOST - 4))
    while extent < _FEWEST * step and step > 1e-3:  # finer while the map is small, so that the descent begins well
        step /= 2
    size = -(-(int(extent / step) + 4) // _ROUND) * _ROUND
    places = (points - low) / np.float32(step) + 1
    corner = np.floor(places)
    x, y = (places - corner).T
    nodes = corner.astype(np.int64) @ np.array([size, 1]) + np.array([[0], [1], [size], [size + 1]])  # (4, n)
    shares = np.stack(((1 - x) * (1 - y), (1 - x) * y, x * (1 - y), x * y))  # of each point in the nodes around it
    density = np.bincount(nodes.ravel(), weights=shares.ravel(), minlength=size * size).astype(np.float32)
    transformed = scipy.fft.rfft2(density.reshape(size, size), s=(2 * size, 2 * size))
    fields = (
        scipy.fft.irfft2(transformed * kernel, s=(2 * size, 2 * size))[:size, :size].ravel()
        for kernel in _kernels(size, step)
    )
    along_x, along_y, near = ((field[nodes] * shares).sum(axis=0) for field in fields)
    corners = np.array([[0, 0], [0, 1], [1, 0], [1, 1]]) * step
    around = 1 / (1 + np.square(corners[:, None] - corners).sum(axis=2))
    of_themselves = (shares * (around @ shares)).sum(dtype=np.float64)  # a little less than one of each point
    return np.stack((along_x, along_y), axis=1), max(float(near.sum(dtype=np.float64) - of_themselves), 0.0)


@lru_cache(maxsize=2)
def _kernels(size: int, step: float) -> tuple[Complex64, Complex64, Complex64]:
    """The transforms of (x, y, 1 + r²) / (1 + r²)² on a grid twice as wide, so that its ends do not meet."""
    steps = np.arange(2 * size)
    distance = np.where(steps < size, steps, steps - 2 * size) * step
    near = 1 / (1 + distance[:, None] ** 2 + distance**2)
    fields = (distance[:, None] * near**2, distance * near**2, near)
    along_x, along_y, sums = (np.asarray(scipy.fft.rfft2(field), dtype=np.complex64) for field in fields)
    return along_x, along_y, sums


def layout(weights: csr_array, start: Float32, *, on_step: OnStep) -> Float32:
    """Lay out n points, from weights of pairs (n, n) and a start (n, 2), which is made small. -> (n, 2)"""
    points = (start / np.float32(max(start[:, 0].std(), 1e-12) * 1e4)).astype(np.float32)
    rate = np.float32(max(len(points) / 12, min(_LEAST_RATE, 2 * len(points))))
    heads = np.repeat(np.arange(len(points), dtype=np.int32), np.diff(weights.indptr))
    pulls = weights.copy()
    velocity, gains = np.zeros_like(points), np.ones_like(points)  # gains grow in a steady direction
    for done in range(GATHERING + SETTLING):
        if done == GATHERING:
            velocity, gains = np.zeros_like(points), np.ones_like(points)
        exaggeration, momentum = (12.0, 0.5) if done < GATHERING else (1.0, 0.8)
        apart = points.take(heads, axis=0) - points.take(weights.indices, axis=0)
        pulls.data = weights.data / (1 + np.einsum("ij,ij->i", apart, apart))
        sums = pulls @ np.column_stack((points, np.ones(len(points), dtype=np.float32)))
        attraction = sums[:, 2:] * points - sums[:, :2]  # Σ_j p_ij (y_i - y_j) / (1 + |y_i - y_j|²)
        forces, z = repulsion(points)
        gradient = 4 * (exaggeration * attraction - forces / np.float32(max(z, 1e-12)))
        is_straight = np.sign(gradient) != np.sign(velocity)
        gains = np.maximum(np.where(is_straight, gains + np.float32(0.2), gains * np.float32(0.8)), np.float32(0.01))
        velocity = momentum * velocity - rate * gains * gradient
        lengths = np.sqrt(np.square(velocity).sum(axis=1, keepdims=True))
        velocity *= np.minimum(1, _LONGEST / np.maximum(lengths, _LONGEST))
        points = points + velocity
        points -= points.mean(axis=0)
        on_step(done + 1, GATHERING + SETTLING)
    return points
