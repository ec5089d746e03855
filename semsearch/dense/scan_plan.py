"""Plan how a segment is scanned: a query is compared with all passages, or only with those whose codes of four bits are
the best, and measure the recall of that.

Codes (product quantization, semsearch.dense.faiss_store) are an eighth of the vectors, and are all compared. For each
vector that is asked for, some are found by their codes and compared exactly; how many is measured, by questions made of
the segment's own sentences. Half of the questions choose the number, with some to spare; the other half measure its
recall, and the number is raised until that suffices. Other engines choose in the same way how many lists they search,
or how many candidates of a graph. Pure; the stores do the work.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from semsearch.arrays.types import Float32, Int64
from semsearch.errors import UsageError

CODED = 1 << 13  # vectors from which a segment of FAISS gets codes: below, a scan takes less than half a millisecond
LISTED = 1 << 17  # vectors from which other engines make lists or graphs: below, comparing all takes less time
TARGET = 0.95
_SURE = 2.0  # standard errors by which the recall that chooses must be above the target


@dataclass(frozen=True, slots=True)
class ScanOptions:
    """The options for scanning: compare everything, or reach a recall. Raises UsageError if they make no sense."""

    exact: bool = False
    target_recall: float = TARGET
    listed: int = LISTED

    def __post_init__(self) -> None:
        if not isinstance(self.exact, bool):
            raise UsageError(f"exact is true or false, not {self.exact!r}")
        if isinstance(self.target_recall, bool) or not isinstance(self.target_recall, int | float):
            raise UsageError(f"target_recall must be a number, not {self.target_recall!r}")
        if not 0 < self.target_recall <= 1:
            raise UsageError(f"target_recall must be above 0 and at most 1, not {self.target_recall}; 0.95 is usual")

    @property
    def gathering(self) -> int | None:
        """The number of vectors from which other engines arrange a segment; None if they never do."""
        return None if self.exact else self.listed

    def has_codes(self, count: int, dimension: int) -> bool:
        """Return whether a segment of FAISS of `count` vectors gets codes, each of which is of two numbers."""
        return not self.exact and count >= min(self.listed, CODED) and dimension % 2 == 0


# -- Measured recall ---------------------------------------------------------------------------------------------------

K = 10  # recall is that of the ten best
CANDIDATES = (8, 16, 32)  # found by their codes for each vector that is asked for; 4 find .992 of the fifty best
FEWEST = 50  # vectors: as many candidates are taken as for these where fewer are asked for
FEWER_QUESTIONS = 128  # tried on a segment with codes: its recall is near one, and so hardly differs between questions
QUESTIONS = 512  # tried on a segment with lists: half to choose their number, half to measure it
FEW = 16  # questions: fewer measure nothing
EQUAL = 1e-5  # the difference of scores that summing in another order makes, at most


@dataclass(frozen=True, slots=True)
class MeasuredStep:
    """How far a segment is searched, the recall of that, and on how many questions it was measured."""

    step: int
    recall: float
    questions: int


def least_step(steps: Sequence[int], shares: Callable[[int, slice], Float32], target: float) -> MeasuredStep:
    """The least of rising steps whose recall reaches a target; the last if none does.

    `shares` searches as far as a step says, for a part of the questions, and returns what share of the best each of
    these found. (q,) One half chooses, with some standard errors to spare. The other measures, and must reach it too.
    """
    choosing, measuring = slice(0, None, 2), slice(1, None, 2)
    at, last = 0, len(steps) - 1
    while at < last and not _is_enough(shares(steps[at], choosing), target, sure=_SURE):
        at += 1
    shares_of_step = shares(steps[at], measuring)
    while at < last and not _is_enough(shares_of_step, target, sure=0.0):
        at += 1
        shares_of_step = shares(steps[at], measuring)
    return MeasuredStep(steps[at], float(shares_of_step.mean()), len(shares_of_step))


def _is_enough(shares: Float32, target: float, *, sure: float) -> bool:
    return float(shares.mean() - sure * shares.std() / math.sqrt(len(shares))) >= target - 1e-9


def shares_found(scanned: Int64, nearest: Int64) -> Float32:
    """The share of the nearest rows that each question has found. (q, n), (q, k) -> (q,)"""
    return np.asarray((nearest[:, :, None] == scanned[:, None, :]).any(axis=2).mean(axis=1), dtype=np.float32)


def evenly(count: int, most: int) -> Int64:
    """Choose at most `most` of the numbers below `count`, at even distances, rising."""
    size = min(count, most)
    return np.arange(size, dtype=np.int64) * count // max(size, 1)
