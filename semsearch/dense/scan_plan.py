"""Plan how a segment is scanned: a query is compared with all passages, with those whose codes of four bits are the
best, or only with those in the nearest lists.

Codes (product quantization, semsearch.dense.faiss_store) are an eighth of the vectors, and are all compared. For each
vector that is asked for, some are found by their codes and compared exactly; how many is measured.

An inverted file (Sivic and Zisserman 2003; Jégou, Douze and Schmid 2011) puts each vector into the list of the nearest
centroid, and compares a query only with the lists whose centroids are nearest to the query. The number of lists to
search is measured: probe questions made of the segment's own sentences are answered exactly, and the rank of the list
that contains each answer tells which number would have found it.

Half of the questions choose the number, of candidates or lists, with some to spare; the other half measure its recall,
and the number is raised until that suffices. Pure; the stores do the work.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from semsearch.arrays.types import Float32, Int64
from semsearch.errors import UsageError

CODED = 1 << 13  # vectors from which a segment of FAISS gets codes: below, a scan takes less than half a millisecond
LISTED = 1 << 17  # vectors from which a segment gets lists: below, comparing all takes less than the rest of a search
TARGET = 0.95
TRAINING = 40  # vectors for each list that its centroid is learned from
SURE = 2.0  # standard errors by which the recall that chooses must be above the target
_LEAST = 1000  # vectors that eight-bit codes learn their range from
_FACTORY = re.compile(r"(?:IVF([1-9]\d{0,6}),)?(Flat|SQfp16|SQ8)")


@dataclass(frozen=True, slots=True)
class ScanOptions:
    """The options for scanning: compare everything, or reach a recall, or use an index type of FAISS by its name.

    Raises UsageError if they make no sense.
    """

    exact: bool = False
    target_recall: float = TARGET
    factory: str | None = None
    listed: int = LISTED

    def __post_init__(self) -> None:
        if not isinstance(self.exact, bool):
            raise UsageError(f"exact is true or false, not {self.exact!r}")
        if isinstance(self.target_recall, bool) or not isinstance(self.target_recall, int | float):
            raise UsageError(f"target_recall must be a number, not {self.target_recall!r}")
        if not 0 < self.target_recall <= 1:
            raise UsageError(f"target_recall must be above 0 and at most 1, not {self.target_recall}; 0.95 is usual")
        if self.factory is None:
            return
        if not isinstance(self.factory, str) or not _FACTORY.fullmatch(self.factory):
            raise UsageError(
                f"the index type {self.factory!r} is none of these: Flat, SQfp16 or SQ8, or one of them after a number "
                "of lists, as in IVF4096,SQ8"
            )
        if self.exact and self.factory not in ("Flat", "SQfp16"):
            raise UsageError(f"an exact index has no index type {self.factory}; give only one of the two")

    @property
    def gathering(self) -> int | None:
        """The number of vectors from which segments have lists by themselves; None if they never have."""
        return None if self.exact or self.factory is not None else self.listed

    def has_codes(self, count: int, dimension: int) -> bool:
        """Return whether a segment of FAISS of `count` vectors gets codes, each of which is of two numbers."""
        return self.gathering is not None and count >= min(self.gathering, CODED) and dimension % 2 == 0

    def layout(self, count: int) -> SegmentLayout:
        """Choose the layout of a segment of `count` vectors. One that is too small to learn lists from has none.

        n vectors get √n lists: twice as many find as much in a little less time, and take twice as long to make.
        """
        if self.factory is not None:
            lists, codes = _FACTORY.fullmatch(self.factory).groups()  # type: ignore[union-attr]  # checked above
            least = _LEAST if codes == "SQ8" else 1
            enough = count >= max(int(lists or 0) * TRAINING, least)
            return SegmentLayout(int(lists or 0), codes) if enough else PLAIN
        return PLAIN if self.exact or count < self.listed else SegmentLayout(math.isqrt(count))


@dataclass(frozen=True, slots=True)
class SegmentLayout:
    """The layout of a segment: the number of lists, 0 for none, and the encoding of a vector."""

    lists: int = 0
    codes: str = "SQfp16"

    @property
    def factory(self) -> str:
        """The name of the layout in FAISS."""
        return f"IVF{self.lists},{self.codes}" if self.lists else self.codes

    @property
    def is_exact(self) -> bool:
        """Return whether a scan is exact, except for rounding to half precision."""
        return not self.lists and self.codes != "SQ8"


PLAIN = SegmentLayout()


# -- Measured recall ---------------------------------------------------------------------------------------------------

K = 10  # recall is that of the ten best
CANDIDATES = (8, 16, 32)  # found by their codes for each vector that is asked for; 4 find .992 of the fifty best
FEWEST = 50  # vectors: as many candidates are taken as for these where fewer are asked for
FEWER_QUESTIONS = 128  # tried on a segment with codes: its recall is near one, and so hardly differs between questions
QUESTIONS = 512  # tried on a segment: half to choose the number of lists, half to measure it
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
    while at < last and not _is_enough(shares(steps[at], choosing), target, sure=SURE):
        at += 1
    found = shares(steps[at], measuring)
    while at < last and not _is_enough(found, target, sure=0.0):
        at += 1
        found = shares(steps[at], measuring)
    return MeasuredStep(steps[at], float(found.mean()), len(found))


def _is_enough(shares: Float32, target: float, *, sure: float) -> bool:
    return float(shares.mean() - sure * shares.std() / math.sqrt(len(shares))) >= target - 1e-9


def shares_found(found: Int64, nearest: Int64) -> Float32:
    """The share of the nearest rows that each question has found. (q, n), (q, k) -> (q,)"""
    return np.asarray((nearest[:, :, None] == found[:, None, :]).any(axis=2).mean(axis=1), dtype=np.float32)


def evenly(count: int, most: int) -> Int64:
    """Choose at most `most` of the numbers below `count`, at even distances, rising."""
    size = min(count, most)
    return np.arange(size, dtype=np.int64) * count // max(size, 1)
