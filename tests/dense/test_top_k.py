"""The best n are the same however they come in: as a whole, or as answers of parts."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import numpy.typing as npt
from hypothesis import given, strategies as st

from semsearch.dense.vector_store import TopKResult, merged, stacked

Float32 = npt.NDArray[np.float32]


def drawn(queries: int, width: int, *, seed: int = 0) -> Float32:
    """Small whole numbers, of which many are equal."""
    return np.random.default_rng(seed).integers(-3, 4, size=(queries, width)).astype(np.float32)


def by_sorting(scores: Float32, ids: npt.NDArray[np.int64], n: int) -> list[list[tuple[float, int]]]:
    rows = [
        sorted(zip(row.tolist(), ids.tolist(), strict=True), key=lambda each: (-each[0], each[1])) for row in scores
    ]
    return [row[:n] for row in rows]


def told(found: TopKResult) -> list[list[tuple[float, int]]]:
    return [
        list(zip(scores, ids, strict=True))
        for scores, ids in zip(found.scores.tolist(), found.ids.tolist(), strict=True)
    ]


@given(st.lists(st.integers(1, 9), min_size=1, max_size=5), st.integers(1, 12), st.integers(0, 99))
def test_answers_of_parts_are_merged_to_that_of_the_whole_in_any_order(sizes: list[int], n: int, seed: int) -> None:
    scores, ids = drawn(3, sum(sizes), seed=seed), np.arange(sum(sizes))
    edges = np.cumsum([0, *sizes])
    parts = []
    for first, end in pairwise(edges.tolist()):
        order = np.argsort(-scores[:, first:end], axis=1, kind="stable")
        parts.append(TopKResult(np.take_along_axis(scores[:, first:end], order, axis=1), ids[first:end][order]))
    order = np.random.default_rng(seed).permutation(len(parts))
    assert told(merged([parts[index] for index in order], n)) == by_sorting(scores, ids, n)


def test_answers_to_one_query_after_another_are_stacked() -> None:
    one, other = (TopKResult(np.full((count, 2), count, np.float32), np.full((count, 2), 7)) for count in (1, 2))
    assert stacked([one, other]).scores.tolist() == [[1, 1], [2, 2], [2, 2]]
