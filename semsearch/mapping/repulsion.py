"""The force by which all points push each other apart, and its sum, through a grid and Fourier transforms.

t-SNE's repulsion is Σ_j (y_i - y_j) / (1 + |y_i - y_j|²)² / Z with Z = Σ_ij 1 / (1 + |y_i - y_j|²): for n points n²
pairs. Linderman et al. 2019 (Nature Methods 16, FIt-SNE) spread points over a grid, where such sums are convolutions.
They interpolate by three nodes in each direction; here it is two on a finer grid, which is simpler in NumPy, and its
error is below what the descent notices: tests/mapping compares it with the sum over all pairs.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import numpy as np
import numpy.typing as npt
import scipy.fft

Float32 = npt.NDArray[np.float32]
Float64 = npt.NDArray[np.float64]
Complex64 = npt.NDArray[np.complex64]
Int64 = npt.NDArray[np.int64]

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
    own: Float64 = np.einsum("an,ab,bn->n", spread.shares, near, spread.shares, optimize=True)
    return own


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
    """The transforms of (x, y, 1 + r²) / (1 + r²)² on a grid that is twice as wide, so that its ends do not meet."""
    steps = np.arange(2 * size)
    distance = np.where(steps < size, steps, steps - 2 * size) * step
    near = 1 / (1 + distance[:, None] ** 2 + distance**2)
    fields = (distance[:, None] * near**2, distance * near**2, near)
    along_x, along_y, sums = (np.asarray(scipy.fft.rfft2(field), dtype=np.complex64) for field in fields)
    return along_x, along_y, sums
