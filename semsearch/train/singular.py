"""Word vectors from a matrix of words and contexts: its left singular vectors."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.sparse import csr_array

from semsearch.arrays.randomised_svd import decompose, orthonormal, product
from semsearch.arrays.signs import signs
from semsearch.train.corpus import Stages

Float32 = npt.NDArray[np.float32]

_MORE = 32  # dimensions computed beyond those kept, and
_ROUNDS = 3  # times M M^T is applied: enough for the last dimensions kept to be near the true ones
_NOTHING = 1e-5  # of the largest singular value: below it, rounding


def singular_vectors(
    matrix: csr_array, dimension: int, *, seed: int = 0, rounds: int = _ROUNDS, progress: Stages | None = None
) -> tuple[Float32, Float32]:
    """The left singular vectors of M (V, V) float32 -> (V, d), largest first, and the singular values (d,).

    Each column's sign is fixed (semsearch.arrays.signs). If the rank is lower than d, the last columns are 0.
    Columns of the same singular value may be rotated among themselves on another processor; their span is the same.
    """
    shape: Any = matrix.shape
    width = min(dimension + _MORE, shape[0])
    start = np.random.default_rng(seed).standard_normal((shape[1], width), dtype=np.float32)
    report = (lambda done, of: progress("singular vectors", done, of)) if progress else None
    found = decompose(matrix, orthonormal(product(matrix, start)), dimension, rounds=rounds, progress=report)
    left = found.basis @ found.rotation
    left[:, found.values <= _NOTHING * found.values[0]] = 0
    return (left * signs(left)).astype(np.float32), found.values.astype(np.float32)
