"""Pearson's r and Spearman's ρ between gold scores and cosines."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[np.floating[Any]]


def pearson(x: Array, y: Array) -> float:
    """Pearson's r, Σ (x - mean)(y - mean) / (‖x - mean‖ ‖y - mean‖); 0 if x or y is constant. (n,), (n,)"""
    x, y = x.astype(np.float64), y.astype(np.float64)
    x, y = x - x.mean(), y - y.mean()
    lengths = float(np.linalg.norm(x) * np.linalg.norm(y))
    return float(x @ y) / lengths if lengths > 0 else 0.0


def spearman(x: Array, y: Array) -> float:
    """Spearman's ρ: Pearson's r of the ranks. (n,), (n,)"""
    return pearson(ranks(x), ranks(y))


def ranks(x: Array) -> npt.NDArray[np.float64]:
    """Ranks from 1, equal values sharing the mean of theirs. (n,) -> (n,)"""
    _, inverse, counts = np.unique(x, return_inverse=True, return_counts=True)
    return np.asarray((np.cumsum(counts) - (counts - 1) / 2)[inverse])
