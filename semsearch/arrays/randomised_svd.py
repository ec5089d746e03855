"""Singular vectors of large sparse matrices: subspace iteration from a random start, with the same signs in every run.

Halko, Martinsson, Tropp 2011, SIAM Review 53, algorithms 4.4 and 5.1.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from scipy.sparse import csr_array

from semsearch.arrays.types import Float32, Float64, Floating

_CLOSE = 1e-3  # of the largest pivot: below it, a column is close to dependent on earlier ones


@dataclass(frozen=True, slots=True)
class Decomposition:
    """A decomposition M (n, t) ≈ Q (Mᵀ Q)ᵀ: Q (n, w), Mᵀ Q (t, w), and the k largest singular values.

    The rotation (w, k) turns Q into left singular vectors, and Mᵀ Q into right ones times their values.
    """

    basis: Float32
    projected: Float32
    values: Float64
    rotation: Float64


def decompose(
    matrix: csr_array, basis: Float32, k: int, *, rounds: int, progress: Callable[[int, int], None] | None = None
) -> Decomposition:
    """Decompose a matrix (n, t): apply M Mᵀ to a basis (n, w) `rounds` times, which turns it to the largest values.

    Left singular vectors are `basis @ rotation`, right ones `projected @ rotation / values`. With the
    fullest columns of the matrix first it takes two thirds of the time: what is read most lies together.
    """
    transposed = csr_array(matrix.T)
    for done in range(rounds):
        if progress:
            progress(done, rounds)
        basis = orthonormal(matrix @ (transposed @ basis))
    projected = transposed @ basis
    exact = projected.astype(np.float64)
    squares, rotation = np.linalg.eigh(exact.T @ exact)
    return Decomposition(basis, projected, np.sqrt(np.maximum(squares[::-1][:k], 0)), rotation[:, ::-1][:, :k])


def orthonormal(columns: Float32) -> Float32:
    """Make columns orthonormal, with the same span. (n, w) -> (n, w)

    The Cholesky factor of their Gram matrix in double precision needs only products and takes a quarter of the time;
    columns that are close to dependent lose too much precision by it, and go through a QR decomposition.
    """
    wide = columns.astype(np.float64)
    try:
        factor = np.linalg.cholesky(wide.T @ wide)
    except np.linalg.LinAlgError:
        return np.linalg.qr(columns)[0]
    pivots = np.diagonal(factor)
    if pivots.min() < _CLOSE * pivots.max():
        return np.linalg.qr(columns)[0]
    return np.asarray(columns @ np.linalg.inv(factor).T.astype(np.float32))


def signs(columns: Floating) -> npt.NDArray[np.int8]:
    """The factor 1 or -1 for each column that makes the first of its largest entries positive. (n, m) -> (m,)

    Entries within a thousandth of the largest count as equally large: which of two equal ones comes out larger is a
    matter of rounding, and differs between processors.
    """
    sizes = np.abs(columns)
    first = np.ascontiguousarray((sizes >= 0.999 * sizes.max(axis=0)).T).argmax(axis=1)  # stops at the first one
    return np.where(columns[first, np.arange(columns.shape[1])] < 0, np.int8(-1), np.int8(1))
