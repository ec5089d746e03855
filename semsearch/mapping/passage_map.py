"""`PassageMap`: where each passage of an index lies on its map, and what its regions are about."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from semsearch.errors import UsageError
from semsearch.results.contents.map_status import MapRegion

Float32 = npt.NDArray[np.float32]
Float64 = npt.NDArray[np.float64]
Int64 = npt.NDArray[np.int64]
Bool = npt.NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class PassageMap:
    """The passages of a generation of an index as points: near to each other where they are about the same.

    x and y are from -1 to 1. Only who is near to whom means something; directions and large distances mean little.
    """

    generation: int  # of the index
    ids: Int64  # (n,) of the passages, rising
    points: Float32  # (n, 2)
    regions: tuple[MapRegion, ...]
    arranged: int  # passages that there were when all of them were arranged
    added: int = 0  # passages that were put beside others since then

    def __len__(self) -> int:
        """The number of passages."""
        return len(self.ids)

    def within(self, outline: Sequence[Sequence[float]] | Float64) -> Int64:
        """The ids of the passages inside an outline of three or more corners (m, 2), rising. (k,)

        What the outline goes around twice is outside. They can be given to a search as `passages`. Raises UsageError.
        """
        try:
            corners = np.asarray(outline, dtype=np.float64)
        except (TypeError, ValueError):
            corners = np.zeros(0)
        if corners.ndim != 2 or corners.shape[1] != 2 or len(corners) < 3 or not np.isfinite(corners).all():
            raise UsageError("an outline is three or more corners, each an x and a y")
        return self.ids[_inside(self.points.astype(np.float64), corners)]


def _inside(points: Float64, corners: Float64) -> Bool:
    """Return which points are inside: those from which a ray crosses the outline an odd number of times."""
    inside = np.zeros(len(points), dtype=np.bool_)
    x, y = points.T
    for (ax, ay), (bx, by) in zip(corners, np.roll(corners, -1, axis=0), strict=True):
        if ay != by:
            crosses = (ay > y) != (by > y)
            inside ^= crosses & (x < ax + (y - ay) * ((bx - ax) / (by - ay)))
    return inside
