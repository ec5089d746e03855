"""The best n of each of several queries, merged from the answers of segments."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from semsearch.arrays.types import Float32, Int64


class TopKResult(NamedTuple):
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


def _equals_by_id(result: TopKResult) -> TopKResult:
    """Sort equal scores, which are next to each other, by id."""
    if not (result.scores[:, 1:] == result.scores[:, :-1]).any():
        return result
    return _taken(result, np.lexsort((result.ids, -result.scores)))


def _taken(result: TopKResult, columns: Int64) -> TopKResult:
    return TopKResult(
        np.take_along_axis(result.scores, columns, axis=1), np.take_along_axis(result.ids, columns, axis=1)
    )
