"""How a segment of vectors is scanned, and what that finds. Plain frozen data."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

Float32 = npt.NDArray[np.float32]
Float64 = npt.NDArray[np.float64]
Int64 = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Scan:
    """How a segment is scanned, and the share of the ten best that this finds, measured when it was written."""

    factory: str  # the index type, as FAISS calls it
    vectors: int
    lists: int  # 0: none, all vectors are compared
    probes: int  # lists that are looked into for a question
    recall: float  # of the ten best
    questions: int  # that it was measured on
