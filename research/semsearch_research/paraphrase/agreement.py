"""Compare two classifiers of the same sentences: whether one is better.

McNemar's test, which White et al. do not make, asks whether the sentences that only one of the two gets right are
evenly divided between them, like heads and tails.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.stats import binomtest

from semsearch.results.codec import Record

Int64 = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class ModelComparison(Record):
    """A comparison of two models on all sentences: the numbers that only the one, and only the other, gets right.

    `p` is McNemar's, exact and two-sided: the chance of so uneven a division if neither were better. `expected`: the
    paper has the one above the other.
    """

    data: str
    one: str
    other: str
    sentences: int
    only_one: int
    only_other: int
    p: float
    expected: bool = False

    @property
    def difference(self) -> float:
        """The difference of both accuracies, × 100."""
        return 100 * (self.only_one - self.only_other) / self.sentences

    def to_dict(self) -> dict[str, Any]:
        """For JSON."""
        return {
            "data": self.data,
            "models": [self.one, self.other],
            "difference": round(self.difference, 2),
            "only": [self.only_one, self.only_other],
            "p": self.p,
            "expected": self.expected,
        }


def mcnemar(one: Int64, other: Int64, truth: Int64) -> tuple[int, int, float]:
    """Count the sentences that only the one, and only the other, gets right; and test it: p. (n,), (n,), (n,)"""
    only_one = int(((one == truth) & (other != truth)).sum())
    only_other = int(((one != truth) & (other == truth)).sum())
    both = only_one + only_other
    return only_one, only_other, float(binomtest(only_one, both).pvalue) if both else 1.0
