"""Confidence intervals of means over queries: the paired bootstrap (Efron; Sakai 2006 for retrieval).

The queries are resampled, with replacement, as many as there are; every system is measured on the same draws, so that
the easiness of a query for all of them cancels out of their differences. An interval has the middle 95 % of the draws.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

Float64 = npt.NDArray[np.float64]
RESAMPLES = 10_000
_LEVEL = (2.5, 97.5)  # percentiles
_AT_ONCE = 4_000_000  # numbers of a block of draws


@dataclass(frozen=True, slots=True)
class Figure:
    """A mean with its 95 % interval."""

    value: float
    low: float
    high: float

    @classmethod
    def of(cls, value: Any, draws: Float64) -> Figure:
        """Make a figure of a mean and the means of its resamples, `draws` (B,)."""
        low, high = np.percentile(draws, _LEVEL)
        return cls(float(value), float(low), float(high))


def resampled_means(values: Float64, *, resamples: int = RESAMPLES, seed: int | Sequence[int] = 0) -> Float64:
    """Compute the means over the first axis of `values` (q, ...), resampled `resamples` times. (q, ...) -> (B, ...)

    A draw is a row of counts of each query, so that all draws are one product of matrices.
    """
    queries = len(values)
    columns = values.reshape(queries, -1)
    means = np.empty((resamples, columns.shape[1]))
    generator = np.random.default_rng(seed)
    block = max(1, _AT_ONCE // queries)
    for first in range(0, resamples, block):
        rows = min(block, resamples - first)
        drawn = generator.integers(0, queries, size=(rows, queries))
        indices = drawn + queries * np.arange(rows)[:, None]
        counts = np.bincount(indices.ravel(), minlength=rows * queries).reshape(rows, queries)
        means[first : first + rows] = counts.astype(np.float64) @ columns / queries
    return means.reshape(resamples, *values.shape[1:])
