"""Arrange the passages of an index on a plane: from vectors to points, or beside points already there.

    vectors ─ neighbours ─ weights ─ descent ─ points
       └ the two directions in which they differ most: the start

A hundred thousand passages are laid out together. Of more, an evenly spaced sample is, and each of the others is placed
beside its nearest neighbours in the sample, as new passages are on an existing map. The mean of all neighbours could
lie where nothing is similar to any of them, so a passage goes to the neighbour that has most of the others near it;
slightly displaced, in a direction that follows from its number, so that equal points stay visible.

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

from semsearch.arrays.id_ranges import evenly
from semsearch.arrays.types import Complex64, Float32, Float64, Int64
from semsearch.dense.neighbours import Rows, nearest_of_others, neighbours_of_each
from semsearch.results.documents import MapPhase, MapProgress

# -- Placing new passages ----------------------------------------------------------------------------------------------

NEAR = 0.05  # on a map from -1 to 1: neighbours that lie together
_ASIDE = 0.003
_GOLDEN = np.pi * (3 - 5**0.5)


def beside(points: Float32, similar: Int64, numbers: Int64) -> Float32:
    """Place passages beside similar points (m, k), the most similar first, -1 for none. (n, 2) -> (m, 2)"""
    there = similar >= 0
    places = np.where(there[:, :, None], points[np.maximum(similar, 0)], np.float32(np.nan)).astype(np.float64)
    distances = np.square(places[:, :, None] - places[:, None]).sum(axis=3)
    together = distances < NEAR**2  # never true of NaN
    home = together.sum(axis=2).argmax(axis=1)  # on a tie the most similar
    chosen = together[np.arange(len(similar)), home]
    sums = np.where(chosen[:, :, None], np.nan_to_num(places), 0.0).sum(axis=1)
    middle = sums / np.maximum(chosen.sum(axis=1), 1)[:, None]  # without similar ones: the middle of the map
    angle = numbers * _GOLDEN
    return np.asarray(middle + _ASIDE * np.stack((np.cos(angle), np.sin(angle)), axis=1), dtype=np.float32)


# -- Arranging all -----------------------------------------------------------------------------------------------------

Report = Callable[[MapProgress], None]

MOST_TOGETHER = 100_000
NEIGHBOURS = 15
_LIKE = 5  # passages that a further one is placed beside
_BLOCK = 4_096


@dataclass(frozen=True, slots=True)
class Likeness:
    """The similar passages of each of n passages: numbers of passages, and positions among the chosen."""

    n: int
    chosen: Int64  # (m,) numbers of the passages that are laid out together, rising
    start: Float32  # (m, 2) where they begin
    neighbours: Int64  # (m, k) positions
    others: Int64  # (n - m,) numbers
    similar: Int64  # (n - m, l) positions


def compare(rows: Rows, n: int, *, most: int = MOST_TOGETHER, report: Report) -> Likeness:
    """Compare n passages by the vectors of their numbers. Nothing else of a map needs the vectors."""
    chosen = evenly(n, most)
    others = np.setdiff1d(np.arange(n), chosen)
    of_chosen: Rows = lambda numbers: rows(chosen[numbers])  # noqa: E731  # a name for what two calls share
    k = min(NEIGHBOURS, -(-(len(chosen) - 1) // 3))  # of few passages not all, which would have no structure
    neighbours = neighbours_of_each(of_chosen, len(chosen), k, report=_phase(report, "comparing"))
    similar = nearest_of_others(rows, chosen, others, _LIKE, report=_phase(report, "comparing"))
    return Likeness(n, chosen, two_directions(of_chosen, len(chosen)), neighbours, others, similar)


def arrange(likeness: Likeness, *, report: Report) -> Float32:
    """Arrange passages that were compared. From -1 to 1. (n, 2)"""
    together = _scaled(layout(affinities(likeness.neighbours), likeness.start, report=_phase(report, "arranging")))
    points: Float32 = np.empty((likeness.n, 2), dtype=np.float32)
    points[likeness.chosen] = together
    points[likeness.others] = beside(together, likeness.similar, likeness.others)
    return points


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


def _scaled(points: Float32) -> Float32:
    """The same points from -1 to 1, the middle of their extent at 0."""
    low, high = points.min(axis=0), points.max(axis=0)
    half = max(float((high - low).max()) / 2, 1e-12)
    return np.asarray((points - (low + high) / 2) / half, dtype=np.float32)


def _phase(report: Report, phase: MapPhase) -> Steps:
    return lambda done, total: report(MapProgress(phase, done, total))


# -- Descent -----------------------------------------------------------------------------------------------------------

Steps = Callable[[int, int], None]  # steps done, and their total

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


def layout(
    weights: csr_array, start: Float32, *, gathering: int = 250, settling: int = 500, report: Steps | None = None
) -> Float32:
    """Lay out n points, from weights of pairs (n, n) and a start (n, 2), which is made small. -> (n, 2)

    `gathering`, `settling`: the steps with exaggerated attraction, and those after them.
    """
    points = (start / np.float32(max(start[:, 0].std(), 1e-12) * 1e4)).astype(np.float32)
    rate = np.float32(max(len(points) / 12, min(_LEAST_RATE, 2 * len(points))))
    heads = np.repeat(np.arange(len(points), dtype=np.int32), np.diff(weights.indptr))
    pulls = weights.copy()
    velocity, gains = np.zeros_like(points), np.ones_like(points)  # gains grow in a steady direction
    for done in range(gathering + settling):
        if done == gathering:
            velocity, gains = np.zeros_like(points), np.ones_like(points)
        exaggeration, momentum = (12.0, 0.5) if done < gathering else (1.0, 0.8)
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
        if report is not None:
            report(done + 1, gathering + settling)
    return points
