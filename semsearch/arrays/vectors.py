"""Vectors as rows of a matrix: scaled to length one, converted exactly from half precision, and kept as bytes.

A half has a sign bit, 5 bits of exponent and 10 of fraction; a single has 8 and 23, and a bias that is 112 larger. So
the bits are shifted into position and the result is multiplied by 2^112, which is also right for numbers that are too
small for a normal exponent. FAISS decodes one number after the other, which takes four times as long.

A unit vector needs no scale: as bytes it is multiplied so that its largest number is 127, rounded, and scaled back to
length one. Of 256 numbers the error of each, and of a cosine, is .0005 on average (root mean square). Encoding what was
decoded gives the same bytes, so vectors may be copied as often as segments are merged.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from semsearch.arrays.types import Float32, Int16, UInt8


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


_LARGEST = 127  # of a signed byte
_ZERO = 128  # the byte of 0, as FAISS's QT_8bit_direct_signed has it


def to_bytes(vectors: Float32) -> UInt8:
    """Encode unit or zero vectors as bytes, of which 128 stands for 0. (n, d) -> (n, d)"""
    largest = np.maximum(vectors.max(axis=1, initial=0), -vectors.min(axis=1, initial=0))
    scaled = vectors * (_LARGEST / np.where(largest > 0, largest, 1))[:, None]
    np.rint(scaled, out=scaled)
    scaled += _ZERO
    return scaled.astype(np.uint8)


def from_bytes(codes: UInt8) -> Float32:
    """Decode unit or zero vectors. (n, d) -> (n, d)"""
    vectors = codes.astype(np.float32)
    vectors -= _ZERO
    lengths = row_lengths(vectors)
    vectors *= (1 / np.where(lengths > 0, lengths, 1))[:, None]
    return vectors
