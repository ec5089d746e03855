"""Compute the first singular vectors of a large sparse matrix: subspace iteration from a random start.

Halko, Martinsson, Tropp 2011, SIAM Review 53, algorithm 4.4, then 5.1. Bases are made orthonormal by the eigenvectors
of their Gram matrix, several times as fast as a QR decomposition of a tall matrix; the loss of precision does not
matter here, for a basis is multiplied by M only once before it is made orthonormal again.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.sparse import csr_array

from semsearch.arrays.signs import signs
from semsearch.train.corpus import Stages

Float32 = npt.NDArray[np.float32]

_MORE = 32  # dimensions computed beyond those kept, and
_ROUNDS = 3  # times M^T M is applied: enough for the last dimensions kept to be near the true ones
_COLUMNS = 64  # of a dense factor at a time: they stay in the processor's cache
_NOTHING = 1e-5  # of the largest singular value: below it, rounding


def singular_vectors(
    matrix: csr_array, dimension: int, *, seed: int = 0, rounds: int = _ROUNDS, progress: Stages | None = None
) -> tuple[Float32, Float32]:
    """M (V, V) float32 -> the left singular vectors (V, d), largest first, and the singular values (d,).

    Each column's sign is fixed (semsearch.arrays.signs). Where the rank is lower than d, the last columns are 0.
    Columns of the same singular value may be turned among themselves on another processor; their span is the same.
    """
    shape: Any = matrix.shape
    width = min(dimension + _MORE, shape[0])
    start = np.random.default_rng(seed).standard_normal((shape[1], width), dtype=np.float32)
    transposed = csr_array(matrix.T)
    basis = orthonormal(_product(matrix, start))
    for done in range(rounds):
        if progress:
            progress("singular vectors", done, rounds)
        basis = orthonormal(_product(matrix, orthonormal(_product(transposed, basis))))
    small = _product(transposed, basis).astype(np.float64)  # M ≈ Q (M^T Q)^T
    squares, rotation = np.linalg.eigh(small.T @ small)
    values = np.sqrt(np.maximum(squares[::-1][:dimension], 0))
    left = basis @ rotation[:, ::-1][:, :dimension]
    left[:, values <= _NOTHING * values[0]] = 0
    return (left * signs(left)).astype(np.float32), values.astype(np.float32)


def orthonormal(columns: Float32) -> Float32:
    """An orthonormal basis of the columns' span, with columns of 0 if the rank is lower. (n, m) -> (n, m)"""
    exact = columns.astype(np.float64)
    squares, rotation = np.linalg.eigh(exact.T @ exact)
    scales = np.where(squares > _NOTHING**2 * squares[-1], squares, np.inf) ** -0.5
    return np.asarray(exact @ (rotation * scales), dtype=np.float32)


def _product(matrix: csr_array, dense: Float32) -> Float32:
    parts = [
        matrix @ np.ascontiguousarray(dense[:, first : first + _COLUMNS])
        for first in range(0, dense.shape[1], _COLUMNS)
    ]
    return np.concatenate(parts, axis=1)
