"""The types of arrays, by what their elements are. Shapes are said in docstrings: (n, d)."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

Float32 = npt.NDArray[np.float32]
Int64 = npt.NDArray[np.int64]
Float64 = npt.NDArray[np.float64]
Bool = npt.NDArray[np.bool_]
Int32 = npt.NDArray[np.int32]
UInt8 = npt.NDArray[np.uint8]
UInt32 = npt.NDArray[np.uint32]
UInt64 = npt.NDArray[np.uint64]
Float16 = npt.NDArray[np.float16]
Int8 = npt.NDArray[np.int8]
Int16 = npt.NDArray[np.int16]
Complex64 = npt.NDArray[np.complex64]
Floating = npt.NDArray[np.floating[Any]]
Records = npt.NDArray[np.void]  # of a structured type
