"""The passages of several questions in one array."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from semsearch.dense.stored_vectors import inner_products
from semsearch.search.scoring import Pool

FOUND = [[7, 3, 7], [], [9], [3, 9, 1, 9]]


def pool() -> Pool:
    return Pool.of([np.array(ids, dtype=np.int64) for ids in FOUND])


def test_each_question_has_its_different_passages_rising() -> None:
    assert [pool().ids[pairs].tolist() for pairs in pool().slices] == [[3, 7], [], [9], [1, 3, 9]]
    assert pool().owners.tolist() == [0, 0, 2, 3, 3, 3]
    assert Pool.of([]).ids.shape == Pool.of([np.zeros(0, dtype=np.int64)]).ids.shape == (0,)


def test_the_largest_value_of_a_question_is_never_that_of_another() -> None:
    values = np.array([np.nan, 2.0, np.nan, 1.0, 5.0, -1.0])
    assert pool().largest(values, least=0.5).tolist() == [2.0, 0.5, 0.5, 5.0]


def test_pairs_are_grouped_by_passages_and_spread_back() -> None:
    groups = pool().by_passage()
    assert groups.ids.tolist() == [1, 3, 7, 9]
    assert pool().ids[groups.order].tolist() == groups.ids[groups.which].tolist() == [1, 3, 3, 7, 9, 9]
    assert groups.to_pool(groups.ids).tolist() == pool().ids.tolist()


def test_parts_have_every_passage_and_every_pair_once() -> None:
    groups = pool().by_passage()
    for most in (1, 3, 5, 100):
        parts = list(groups.parts(np.array([2, 1, 4, 1]), most))
        for passages, pairs in parts:
            assert set(groups.which[pairs].tolist()) == set(range(passages.start, passages.stop))
        assert sum(passages.stop - passages.start for passages, _ in parts) == 4
        assert sum(pairs.stop - pairs.start for _, pairs in parts) == 6
    assert list(Pool.of([]).by_passage().parts(np.zeros(0, dtype=np.int64), 5)) == []


def test_inner_products_are_those_of_the_pairs() -> None:
    generator = np.random.default_rng(3)
    left, right = (generator.standard_normal((n, 5)).astype(np.float32) for n in (4, 7))
    lefts: npt.NDArray[np.int64] = generator.integers(0, 4, 30)
    rights: npt.NDArray[np.int64] = generator.integers(0, 7, 30)
    np.testing.assert_allclose(inner_products(left, lefts, right, rights), (left @ right.T)[lefts, rights], rtol=1e-5)
