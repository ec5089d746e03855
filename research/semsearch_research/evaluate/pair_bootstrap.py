"""Intervals of Pearson's r and of its differences: the paired bootstrap over the pairs of a task (Efron).

The pairs of a task are drawn with replacement, as many as there are, and r is computed on each draw. All methods, word
vectors and fits are measured on the same draws, so that what makes a draw easy for all of them cancels out of their
differences. A mean over tasks is the mean of their draws: tasks are given, pairs are drawn within each.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any
from zlib import crc32

import numpy as np
import numpy.typing as npt

from semsearch.arrays.types import Float64, Floating, UInt8
from semsearch_research.evaluate.retrieval import Figure

RESAMPLES = 2000
_BLOCK = 250  # draws made at a time


@dataclass(frozen=True, slots=True)
class Resampled:
    """A figure, and the same figure on each draw (B,)."""

    value: float
    draws: Float64

    @property
    def interval(self) -> Figure:
        """The figure with the interval that has the middle 95 % of the draws."""
        return Figure.of(self.value, self.draws)

    def above(self, other: Resampled) -> Resampled:
        """By how much it is above another one, draw by draw."""
        return Resampled(self.value - other.value, self.draws - other.draws)

    @classmethod
    def mean(cls, several: Iterable[Resampled]) -> Resampled:
        """The mean of several, draw by draw."""
        each = list(several)
        return cls(float(np.mean([one.value for one in each])), np.mean([one.draws for one in each], axis=0))


class PairDraws:
    """The draws of a task's pairs, as how often each pair is in each draw. They follow from the task's name."""

    def __init__(self, name: str, pairs: int, *, resamples: int = RESAMPLES) -> None:
        generator = np.random.default_rng(crc32(name.encode()))
        self._counts = np.concatenate([_counts(generator, _BLOCK, pairs) for _ in range(0, resamples, _BLOCK)])

    def pearson(self, x: Floating, y: Float64) -> Float64:
        """Compute Pearson's r on each draw; 0 where x or y is constant in it. (n,), (n,) -> (B,)"""
        x, y = _standard(x), _standard(y)
        columns = np.stack([x, y, x * x, y * y, x * y], axis=1).astype(np.float32)
        sums = self._counts.astype(np.float32) @ columns
        mean_x, mean_y, xx, yy, xy = (sums / len(x)).astype(np.float64).T
        spread = np.maximum(xx - mean_x**2, 0) * np.maximum(yy - mean_y**2, 0)
        return np.asarray(np.where(spread > 1e-12, (xy - mean_x * mean_y) / np.sqrt(np.maximum(spread, 1e-12)), 0.0))

    def mean(self, values: npt.NDArray[Any]) -> Float64:
        """Compute the mean of values, such as 1 for what is right, on each draw. (n,) -> (B,)"""
        sums = self._counts.astype(np.float32) @ values.astype(np.float32)
        return np.asarray(sums / len(values), dtype=np.float64)


def _counts(generator: np.random.Generator, draws: int, pairs: int) -> UInt8:
    """How often each pair is in each of some draws. (draws, pairs)"""
    drawn = generator.integers(0, pairs, size=(draws, pairs)) + pairs * np.arange(draws)[:, None]
    return np.bincount(drawn.ravel(), minlength=draws * pairs).reshape(draws, pairs).astype(np.uint8)


def claimed(better: Mapping[str, Resampled], worse: Mapping[str, Resampled]) -> Resampled | None:
    """The mean difference over the tasks for which both have a figure; None if there are none."""
    both = [figure.above(worse[name]) for name, figure in better.items() if name in worse]
    return Resampled.mean(both) if both else None


def _standard(values: Floating) -> Float64:
    """Centre values and scale them to a deviation of one, which leaves r as it is and keeps sums exact enough. (n,)"""
    wide = values.astype(np.float64)
    wide -= wide.mean()
    deviation = float(wide.std())
    return wide / deviation if deviation > 0 else wide
