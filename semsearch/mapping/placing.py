"""Place a passage on a map that is there already: beside the passages that it is like most.

It lies at the mean of those that lie together: of five neighbours some may be at another end of the map, and the mean
of all would be a place between, where nothing is like any of them. So it goes to the neighbour that has most of the
others near it. A little aside, in a direction that follows from its number: points of one place would look like one.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

Float32 = npt.NDArray[np.float32]
Float64 = npt.NDArray[np.float64]
Int64 = npt.NDArray[np.int64]

NEAR = 0.05  # on a map from -1 to 1: neighbours that lie together
_ASIDE = 0.003
_GOLDEN = np.pi * (3 - 5**0.5)


def beside(points: Float32, like: Int64, numbers: Int64) -> Float32:
    """Where to put passages that are like some points (m, k), the likest first, -1 for none. (n, 2) -> (m, 2)"""
    there = like >= 0
    places = np.where(there[:, :, None], points[np.maximum(like, 0)], np.float32(np.nan)).astype(np.float64)
    apart = np.square(places[:, :, None] - places[:, None]).sum(axis=3)
    together = apart < NEAR**2  # never true of NaN
    home = together.sum(axis=2).argmax(axis=1)  # of equal ones the likest
    chosen = together[np.arange(len(like)), home]
    sums = np.where(chosen[:, :, None], np.nan_to_num(places), 0.0).sum(axis=1)
    middle = sums / np.maximum(chosen.sum(axis=1), 1)[:, None]  # a passage like none lies in the middle of the map
    angle = numbers * _GOLDEN
    return np.asarray(middle + _ASIDE * np.stack((np.cos(angle), np.sin(angle)), axis=1), dtype=np.float32)
