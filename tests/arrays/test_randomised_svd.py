"""Subspace iteration: bases stay orthonormal, whatever the columns."""

from __future__ import annotations

import numpy as np
import pytest

from semsearch.arrays.randomised_svd import orthonormal, signs


@pytest.mark.parametrize("dependence", [1.0, 1e-2, 1e-4, 0.0])
def test_columns_become_orthonormal_however_close_to_dependent(dependence: float) -> None:
    columns = np.random.default_rng(0).standard_normal((300, 9), dtype=np.float32)
    columns[:, 8] = columns[:, 0] + dependence * columns[:, 8]
    found = orthonormal(columns)
    np.testing.assert_allclose(found.T @ found, np.eye(9), atol=2e-5)
    np.testing.assert_allclose(found @ (found.T @ columns), columns, atol=1e-4)


def test_the_largest_entry_of_each_column_becomes_positive() -> None:
    vectors = np.array([[1, -3, 0], [-2, 1, 0]], dtype=np.float32)
    assert (vectors * signs(vectors)).tolist() == [[-1, 3, 0], [2, -1, 0]]
