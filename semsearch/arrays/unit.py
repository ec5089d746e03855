"""Scale the rows of a matrix to length one."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

Float32 = npt.NDArray[np.float32]


def unit(vectors: Float32, *, scale: npt.NDArray[Any]) -> Float32:
    """Scale each row to length one. (n, d) -> (n, d)

    A row shorter than a millionth of its `scale` (n,) is rounding error: it becomes zero.
    """
    return np.asarray(vectors * to_unit(vectors, scale=scale)[:, None], dtype=np.float32)


def to_unit(vectors: Float32, *, scale: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """The factor that scales each row to length one. (n, d), (n,) -> (n,)

    It is 0 for a row shorter than a millionth of its `scale`, which is rounding error.
    """
    lengths = row_lengths(vectors)
    real = lengths > 1e-6 * scale
    return np.where(real, 1 / np.where(real, lengths, 1), 0)


def row_lengths(vectors: Float32) -> Float32:
    """The Euclidean length ‖v‖ of each row. (n, d) -> (n,)"""
    return np.asarray(np.sqrt(np.einsum("ij,ij->i", vectors, vectors)))
