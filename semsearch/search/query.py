"""What is asked of an index: the kind of answer that is wished for, and a question as both halves take it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, SupportsFloat, SupportsIndex, get_args

import numpy as np
import numpy.typing as npt

from semsearch.errors import UsageError
from semsearch.results.hits import Mode
from semsearch.search.fusion import NEAR_WEIGHT
from semsearch.text.tokens import UInt64

if TYPE_CHECKING:
    from semsearch.search.filters import Filter

Float32 = npt.NDArray[np.float32]
Int64 = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Wish:
    """What kind of answer is wanted, checked. Raises UsageError where it cannot be meant."""

    k: int = 10
    mode: Mode = "hybrid"
    min_score: float | None = None
    filters: tuple[Filter, ...] = ()
    context: int = 0
    duplicates: bool = False  # show also what says the same as a better one

    def __post_init__(self) -> None:
        for name, number in (("k", self.k), ("context", self.context)):
            if not isinstance(number, SupportsIndex):
                raise UsageError(f"{name} must be a whole number, not {number!r}")
        if self.k < 1:
            raise UsageError(f"k must be at least 1, not {self.k}")
        if self.context < 0:
            raise UsageError(f"context must not be negative, not {self.context}")
        if self.min_score is not None and not (
            isinstance(self.min_score, SupportsFloat) and self.min_score == self.min_score
        ):
            raise UsageError(f"min_score must be a number, not {self.min_score!r}")
        if self.mode not in get_args(Mode):
            raise UsageError(f"there is no mode {self.mode!r}; expected one of {', '.join(get_args(Mode))}")


@dataclass(frozen=True, slots=True)
class Asked:
    """One question as both halves take it; None for a half that is not asked, or that knows no word of it."""

    text: str
    vector: Float32 | None  # (d,), or (d + k,) where the index has topics
    terms: UInt64 | None  # what BM25 looks for, repetitions included
    hidden: Int64 = field(default_factory=lambda: np.zeros(0, np.int64))  # passages that must not answer
    near: float = NEAR_WEIGHT  # how much it counts to be near what answers best
