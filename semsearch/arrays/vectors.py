"""Vectors as rows of a matrix: scaled to length one, and converted exactly from half precision.

A half has a sign bit, 5 bits of exponent and 10 of fraction; a single has 8 and 23, and a bias that is 112 larger. So
the bits are shifted into position and the result is multiplied by 2^112, which is also right for numbers that are too
small for a normal exponent. FAISS decodes one number after the other, which takes four times as long.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from semsearch.arrays.types import Float32, Int16


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


def unit_rows(vectors: Any) -> Float32:
    """Rows of length one, as float32; a row of zeros stays. (n, d) -> (n, d)"""
    rows = np.asarray(vectors, dtype=np.float32)
    lengths = np.linalg.norm(rows, axis=1, keepdims=True)
    return np.asarray(rows / np.where(lengths > 0, lengths, 1), dtype=np.float32)


def row_lengths(vectors: Float32) -> Float32:
    """The Euclidean length ‖v‖ of each row. (n, d) -> (n,)"""
    return np.asarray(np.sqrt(np.einsum("ij,ij->i", vectors, vectors)))


_SHIFT = 13  # bits, 23 - 10
_MASK = np.int32(-0x70002000)  # the sign and the 15 shifted bits; the bits between them are copies of the sign
_FACTOR = np.float32(2.0**112)


def to_single(halves: Int16) -> Float32:
    """Convert finite halves, given by their bits, to single precision. (n, d) -> (n, d)"""
    bits = halves.astype(np.int32)
    bits <<= _SHIFT
    bits &= _MASK
    singles: Float32 = bits.view(np.float32)
    singles *= _FACTOR
    return singles
