"""Measure on probe questions how many lists must be searched to find the nearest rows."""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt

Float32 = npt.NDArray[np.float32]
Float64 = npt.NDArray[np.float64]
Int64 = npt.NDArray[np.int64]

K = 10  # recall is that of the ten best
QUESTIONS = 512  # tried on a segment: half to choose the number of lists, half to measure it


def probes_for(target: float, order: Int64, homes: Int64, *, sure: float = 0.0) -> int:
    """The least number of lists whose recall is above the target by `sure` standard errors.

    `order` (q, l) has each question's lists, the nearest first, `homes` (q, k) the lists that contain its k answers.
    """
    ranks = np.argsort(order, axis=1)
    needed = np.take_along_axis(ranks, homes, axis=1)  # all of these lists and one more
    found = np.zeros(order.shape, dtype=np.float64)
    np.add.at(found, (np.arange(len(order))[:, None], needed), 1 / homes.shape[1])
    found = np.cumsum(found, axis=1)  # the recall of each question with 1, 2, ... lists
    surely = found.mean(axis=0) - sure * found.std(axis=0) / math.sqrt(len(found))
    enough = np.flatnonzero(surely >= target - 1e-9)
    return int(enough[0]) + 1 if len(enough) else order.shape[1]


def recall(found: Int64, nearest: Int64) -> float:
    """The share of the nearest rows that were found. (q, n), (q, k) -> 0 to 1"""
    return float((nearest[:, :, None] == found[:, None, :]).any(axis=2).mean())


def evenly(count: int, most: int) -> Int64:
    """Choose at most `most` of the numbers below `count`, at even distances, rising."""
    size = min(count, most)
    return np.arange(size, dtype=np.int64) * count // max(size, 1)
