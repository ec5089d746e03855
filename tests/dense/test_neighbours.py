"""Neighbours of each row: exactly among few, nearly all of them among many."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pytest

from semsearch.dense import neighbours
from semsearch.dense.neighbours import nearest_of_others, neighbours_of_each

Float32 = npt.NDArray[np.float32]


def unit_rows(n: int, dimension: int = 16) -> Float32:
    rows = np.random.default_rng(0).standard_normal((n, dimension))
    return np.asarray(rows / np.linalg.norm(rows, axis=1, keepdims=True), dtype=np.float32)


def exactly(rows: Float32, k: int) -> npt.NDArray[np.int64]:
    products = rows @ rows.T
    np.fill_diagonal(products, -2)
    return np.argsort(-products, axis=1)[:, :k]


def test_of_few_rows_the_neighbours_are_exact_and_never_the_row_itself() -> None:
    rows = unit_rows(300)
    found = neighbours_of_each(lambda numbers: rows[numbers], 300, 5)
    assert found.tolist() == exactly(rows, 5).tolist()


def test_of_many_rows_most_neighbours_are_found(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(neighbours, "_EXACT", 500)
    rows = unit_rows(1500, 8)
    found = neighbours_of_each(lambda numbers: rows[numbers], 1500, 5)
    assert np.mean([len(np.intersect1d(*pair)) / 5 for pair in zip(found, exactly(rows, 5), strict=True)]) > 0.6
    assert not (found == np.arange(1500)[:, None]).any()


def test_rows_that_are_all_the_same_have_neighbours_too() -> None:
    same = np.ones((40, 4), dtype=np.float32) / 2
    found = neighbours_of_each(lambda numbers: same[numbers], 40, 3)
    assert found.shape == (40, 3)
    assert not (found == np.arange(40)[:, None]).any()


def test_others_find_the_nearest_of_those_that_were_chosen() -> None:
    rows = unit_rows(100)
    chosen, others = np.arange(0, 100, 2), np.arange(1, 100, 2)
    found = nearest_of_others(lambda numbers: rows[numbers], chosen, others, 3)
    expected = np.argsort(-(rows[others] @ rows[chosen].T), axis=1)[:, :3]
    assert found.tolist() == expected.tolist()
