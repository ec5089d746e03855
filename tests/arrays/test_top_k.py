"""The best n are the same however they come in: as a whole, in blocks, or as answers of parts."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given, strategies as st

from semsearch.arrays.top_k import TopK, TopKResult, merged, stacked

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


@given(st.integers(1, 6), st.integers(1, 60), st.integers(1, 20), st.integers(1, 25), st.integers(0, 99))
def test_blocks_of_any_width_give_the_best_of_all_and_of_equal_ones_the_first(
    queries: int, width: int, n: int, block: int, seed: int
) -> None:
    scores, ids = drawn(queries, width, seed=seed), np.arange(100, 100 + width)
    best = TopK(queries, n)
    for first in range(0, width, block):
        best.add(scores[:, first : first + block], ids[first : first + block])
    expected = [row + [(-np.inf, -1)] * (n - len(row)) for row in by_sorting(scores, ids, n)]
    assert told(best.best()) == expected
    assert told(best.best()) == expected


def test_ids_may_be_each_querys_own_and_none_among_them_is_passed_over() -> None:
    best = TopK(2, 3)
    best.add(np.array([[5, 1], [2, -np.inf]], np.float32), np.array([[7, 8], [9, -1]]))
    best.add(np.array([[5, 0], [1, 3]], np.float32), np.array([[3, 4], [5, 6]]))
    assert told(best.best()) == [[(5, 3), (5, 7), (1, 8)], [(3, 6), (2, 9), (1, 5)]]


@pytest.mark.parametrize("queries", [40_000, 3])
def test_any_number_of_queries_is_kept_apart(queries: int) -> None:
    scores = drawn(queries, 5, seed=3)
    best = TopK(queries, 2)
    best.add(scores[:, :2], np.arange(2))
    best.add(scores[:, 2:], np.arange(2, 5))
    expected = np.sort(scores, axis=1)[:, ::-1][:, :2]
    assert np.array_equal(best.best().scores, expected)


@given(st.lists(st.integers(1, 9), min_size=1, max_size=5), st.integers(1, 12), st.integers(0, 99))
def test_answers_of_parts_are_merged_to_that_of_the_whole_in_any_order(sizes: list[int], n: int, seed: int) -> None:
    scores, ids = drawn(3, sum(sizes), seed=seed), np.arange(sum(sizes))
    edges = np.cumsum([0, *sizes])
    parts = []
    for first, end in pairwise(edges.tolist()):
        best = TopK(3, end - first)
        best.add(scores[:, first:end], ids[first:end])
        parts.append(best.best())
    order = np.random.default_rng(seed).permutation(len(parts))
    assert told(merged([parts[index] for index in order], n)) == by_sorting(scores, ids, n)


def test_answers_to_one_query_after_another_are_stacked() -> None:
    one, other = (TopKResult(np.full((count, 2), count, np.float32), np.full((count, 2), 7)) for count in (1, 2))
    assert stacked([one, other]).scores.tolist() == [[1, 1], [2, 2], [2, 2]]
