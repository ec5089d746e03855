"""Rows at length one."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

Float32 = npt.NDArray[np.float32]
Float64 = npt.NDArray[np.float64]


def unit(vectors: Float32, *, scale: npt.NDArray[Any]) -> Float32:
    """Each row at length one. A row shorter than a millionth of its `scale` (n,) is rounding: it becomes zero."""
    return np.asarray(vectors * to_unit(vectors, scale=scale)[:, None], dtype=np.float32)


def to_unit(vectors: Float32, *, scale: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """What each row is multiplied with to be of length one; 0 where it is rounding. (n, d), (n,) -> (n,)"""
    lengths = row_lengths(vectors)
    real = lengths > 1e-6 * scale
    return np.where(real, 1 / np.where(real, lengths, 1), 0)


def row_lengths(vectors: Float32) -> Float32:
    """‖v‖ of each row. (n, d) -> (n,)"""
    return np.asarray(np.sqrt(np.einsum("ij,ij->i", vectors, vectors)))
