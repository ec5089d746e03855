"""Measure on probe questions how far a segment must be searched to find the nearest rows."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from semsearch.dense.scan_plan import SURE

Float32 = npt.NDArray[np.float32]
Float64 = npt.NDArray[np.float64]
Int64 = npt.NDArray[np.int64]

K = 10  # recall is that of the ten best
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


def shares_found(found: Int64, nearest: Int64) -> Float32:
    """The share of the nearest rows that each question has found. (q, n), (q, k) -> (q,)"""
    return np.asarray((nearest[:, :, None] == found[:, None, :]).any(axis=2).mean(axis=1), dtype=np.float32)


def recall(found: Int64, nearest: Int64) -> float:
    """The share of the nearest rows that were found. (q, n), (q, k) -> 0 to 1"""
    return float((nearest[:, :, None] == found[:, None, :]).any(axis=2).mean())


def evenly(count: int, most: int) -> Int64:
    """Choose at most `most` of the numbers below `count`, at even distances, rising."""
    size = min(count, most)
    return np.arange(size, dtype=np.int64) * count // max(size, 1)
