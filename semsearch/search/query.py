"""A question as both halves of the search take it."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from semsearch import tuning
from semsearch.text.tokens import UInt64

Float32 = npt.NDArray[np.float32]
Int64 = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Query:
    """One question; None for a half that is not asked, or that knows no word of it."""

    text: str
    vector: Float32 | None  # (d,), or (d + k,) where the index has topics
    terms: UInt64 | None  # what BM25 looks for, repetitions included
    hidden: Int64 = field(default_factory=lambda: np.zeros(0, np.int64))  # passages that must not answer
    near: float = field(default_factory=lambda: tuning.TUNING.near_weight)  # of being near what answers best
