"""Arrange the passages of an index on a plane: from vectors to points, or beside points already there.

    vectors ─ neighbours ─ weights ─ descent ─ points
       └ the two directions in which they differ most: the start

A hundred thousand passages are laid out together. Of more, an evenly spaced sample is, and each of the others is placed
beside its nearest neighbours in the sample, as new passages are on an existing map. The mean of all neighbours could
lie where nothing is similar to any of them, so a passage goes to the neighbour that has most of the others near it;
slightly displaced, in a direction that follows from its number, so that equal points stay visible.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from semsearch.arrays.types import Float32, Float64, Int64
from semsearch.dense.neighbours import Rows, nearest_of_others, neighbours_of_each
from semsearch.dense.scan_plan import evenly
from semsearch.mapping.tsne import affinities, layout
from semsearch.results.documents import MapPhase, MapProgress

# -- Placing new passages ----------------------------------------------------------------------------------------------


NEAR = 0.05  # on a map from -1 to 1: neighbours that lie together
_ASIDE = 0.003
_GOLDEN = np.pi * (3 - 5**0.5)


def beside(points: Float32, similar: Int64, numbers: Int64) -> Float32:
    """Place passages beside similar points (m, k), the most similar first, -1 for none. (n, 2) -> (m, 2)"""
    there = similar >= 0
    places = np.where(there[:, :, None], points[np.maximum(similar, 0)], np.float32(np.nan)).astype(np.float64)
    distances = np.square(places[:, :, None] - places[:, None]).sum(axis=3)
    together = distances < NEAR**2  # never true of NaN
    home = together.sum(axis=2).argmax(axis=1)  # on a tie the most similar
    chosen = together[np.arange(len(similar)), home]
    sums = np.where(chosen[:, :, None], np.nan_to_num(places), 0.0).sum(axis=1)
    middle = sums / np.maximum(chosen.sum(axis=1), 1)[:, None]  # without similar ones: the middle of the map
    angle = numbers * _GOLDEN
    return np.asarray(middle + _ASIDE * np.stack((np.cos(angle), np.sin(angle)), axis=1), dtype=np.float32)


# -- Arranging all -----------------------------------------------------------------------------------------------------

Report = Callable[[MapProgress], None]

MOST_TOGETHER = 100_000
NEIGHBOURS = 15
_LIKE = 5  # passages that a further one is placed beside
_BLOCK = 4_096


@dataclass(frozen=True, slots=True)
class Likeness:
    """The similar passages of each of n passages: numbers of passages, and positions among the chosen."""

    n: int
    chosen: Int64  # (m,) numbers of the passages that are laid out together, rising
    start: Float32  # (m, 2) where they begin
    neighbours: Int64  # (m, k) positions
    others: Int64  # (n - m,) numbers
    similar: Int64  # (n - m, l) positions


def compare(rows: Rows, n: int, *, most: int = MOST_TOGETHER, report: Report) -> Likeness:
    """Compare n passages by the vectors of their numbers. Nothing else of a map needs the vectors."""
    chosen = evenly(n, most)
    others = np.setdiff1d(np.arange(n), chosen)
    of_chosen: Rows = lambda numbers: rows(chosen[numbers])  # noqa: E731  # a name for what two calls share
    k = min(NEIGHBOURS, -(-(len(chosen) - 1) // 3))  # of few passages not all, which would have no structure
    neighbours = neighbours_of_each(of_chosen, len(chosen), k, report=_phase(report, "comparing"))
    similar = nearest_of_others(rows, chosen, others, _LIKE, report=_phase(report, "comparing"))
    return Likeness(n, chosen, two_directions(of_chosen, len(chosen)), neighbours, others, similar)


def arrange(likeness: Likeness, *, report: Report) -> Float32:
    """Arrange passages that were compared. From -1 to 1. (n, 2)"""
    together = _scaled(layout(affinities(likeness.neighbours), likeness.start, report=_phase(report, "arranging")))
    points: Float32 = np.empty((likeness.n, 2), dtype=np.float32)
    points[likeness.chosen] = together
    points[likeness.others] = beside(together, likeness.similar, likeness.others)
    return points


def two_directions(rows: Rows, n: int) -> Float32:
    """The passages along the two directions in which they differ most (principal components). (n, 2)"""
    blocks = [np.arange(first, min(first + _BLOCK, n)) for first in range(0, n, _BLOCK)]
    mean = sum(rows(block).sum(axis=0, dtype=np.float64) for block in blocks) / n
    scatter: Float64 = np.zeros((len(mean), len(mean)))
    for block in blocks:
        centred = rows(block) - mean
        scatter += centred.T @ centred
    axes = np.linalg.eigh(scatter)[1][:, :-3:-1]
    axes *= np.sign(axes[np.abs(axes).argmax(axis=0), np.arange(2)])  # the sign of an eigenvector is arbitrary: fix it
    return np.concatenate([(rows(block) - mean) @ axes for block in blocks]).astype(np.float32)


def _scaled(points: Float32) -> Float32:
    """The same points from -1 to 1, the middle of their extent at 0."""
    low, high = points.min(axis=0), points.max(axis=0)
    half = max(float((high - low).max()) / 2, 1e-12)
    return np.asarray((points - (low + high) / 2) / half, dtype=np.float32)


def _phase(report: Report, phase: MapPhase) -> Callable[[int, int], None]:
    return lambda done, total: report(MapProgress(phase, done, total))
