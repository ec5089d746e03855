"""The best n of each of several queries, gathered from parts: blocks of products, or answers of segments.

A running threshold makes it cheap: what does not beat the n-th best of the parts before is never looked at again.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from semsearch.arrays.types import Float32, Int64


@dataclass(frozen=True, slots=True)
class TopKResult:
    """The best ids for each of q queries, best first, of equal scores the lower id first. (q, n), (q, n)

    If a query has fewer, the id -1 with a score of -inf fills up the end.
    """

    scores: Float32
    ids: Int64


def nothing_found(queries: int) -> TopKResult:
    """An empty result for so many queries. -> (queries, 0)"""
    return TopKResult(np.zeros((queries, 0), np.float32), np.zeros((queries, 0), np.int64))


def merged(parts: Sequence[TopKResult], n: int) -> TopKResult:
    """Merge one or more results for the same queries into the n best; of equal scores the lower ids come first."""
    if len(parts) == 1 and parts[0].ids.shape[1] <= n:
        return _equals_by_id(parts[0])
    scores = np.concatenate([part.scores for part in parts], axis=1)
    ids = np.concatenate([part.ids for part in parts], axis=1)
    return _taken(TopKResult(scores, ids), np.lexsort((ids, -scores))[:, :n])


def stacked(parts: Sequence[TopKResult]) -> TopKResult:
    """Stack the results of different queries, in order. All must have the same number of columns."""
    return TopKResult(np.concatenate([part.scores for part in parts]), np.concatenate([part.ids for part in parts]))


class TopK:
    """Collects the n largest scores of each of q queries. Of equal scores at the edge, those added first are kept.

    Scores that beat the n-th best so far are gathered, and thinned out whenever there are more than n per query.
    """

    def __init__(self, queries: int, n: int) -> None:
        self._best = TopKResult(np.full((queries, n), -np.inf, np.float32), np.full((queries, n), -1, np.int64))
        self._scores: list[Float32] = []
        self._ids: list[Int64] = []
        self._owners: list[Int64] = []  # which query
        self._seen = self._size = 0

    def add(self, scores: Float32, ids: Int64) -> None:
        """Add scores of all queries (q, r), with ids that all queries share (r,), or their own (q, r)."""
        n, width = self._best.ids.shape[1], scores.shape[1]
        if width > 2 * n and not self._seen:
            edge = width - n
            positions = np.flatnonzero(scores >= np.partition(scores, edge, axis=1)[:, edge, None])
        else:
            positions = np.flatnonzero(scores > self._best.scores[:, -1:])
        owners, columns = np.divmod(positions, max(width, 1))
        self._scores.append(scores.ravel()[positions])
        self._ids.append(ids[columns] if ids.ndim == 1 else ids.ravel()[positions])
        self._owners.append(owners)
        self._size += len(positions)
        if not self._seen or self._size > n * len(scores):
            self._thin()
        self._seen += width

    def best(self) -> TopKResult:
        """Return the n best of all scores that were added, best first."""
        if self._size:
            self._thin()
        return _equals_by_id(self._best)

    def _thin(self) -> None:
        """Keep the n best of each query, in order."""
        queries, n = self._best.ids.shape
        small = np.int16 if queries < 1 << 15 else np.int64  # so small numbers are sorted by counting
        owners = np.concatenate((np.repeat(np.arange(queries), n), *self._owners)).astype(small)
        order = np.argsort(owners, kind="stable")  # in the order they came
        owners, counts = owners[order], np.bincount(owners, minlength=queries)
        column = np.arange(len(owners)) - np.repeat(np.cumsum(counts) - counts, counts)
        scores: Float32 = np.full((queries, int(counts.max(initial=n))), -np.inf, dtype=np.float32)
        ids = np.full(scores.shape, -1)
        scores[owners, column] = np.concatenate((self._best.scores.ravel(), *self._scores))[order]
        ids[owners, column] = np.concatenate((self._best.ids.ravel(), *self._ids))[order]
        self._best = _taken(TopKResult(scores, ids), np.argsort(-scores, axis=1, kind="stable")[:, :n])
        self._scores, self._ids, self._owners, self._size = [], [], [], 0


def _equals_by_id(result: TopKResult) -> TopKResult:
    """Sort equal scores, which are next to each other, by id."""
    if not (result.scores[:, 1:] == result.scores[:, :-1]).any():
        return result
    return _taken(result, np.lexsort((result.ids, -result.scores)))


def _taken(result: TopKResult, columns: Int64) -> TopKResult:
    return TopKResult(
        np.take_along_axis(result.scores, columns, axis=1), np.take_along_axis(result.ids, columns, axis=1)
    )
