"""The repulsion through a grid is that of all pairs."""

from __future__ import annotations

import numpy as np
import pytest

from semsearch.mapping.tsne import repulsion


def of_all_pairs(points: np.ndarray) -> tuple[np.ndarray, float]:
    """The same sums, one pair after the other."""
    apart = points[:, None] - points[None]
    near = 1 / (1 + np.square(apart).sum(axis=2))
    return (apart * (near**2)[:, :, None]).sum(axis=1), float(near.sum()) - len(points)


@pytest.mark.parametrize("spread", [0.01, 3.0, 60.0])
def test_the_forces_are_those_of_all_pairs(spread: float) -> None:
    points = (np.random.default_rng(0).standard_normal((400, 2)) * spread).astype(np.float32)
    (forces, z), (exact, exact_z) = repulsion(points), of_all_pairs(points.astype(np.float64))
    assert z == pytest.approx(exact_z, rel=0.1)
    errors = np.linalg.norm(forces - exact, axis=1)
    assert np.median(errors) < 0.1 * np.median(np.linalg.norm(exact, axis=1))


def test_the_forces_cancel_out() -> None:
    points = np.random.default_rng(1).uniform(-20, 20, (300, 2)).astype(np.float32)
    assert np.abs(repulsion(points)[0].sum(axis=0)).max() < 1e-2


def test_a_point_alone_is_not_pushed() -> None:
    forces, z = repulsion(np.array([[3.2, -1.7]], dtype=np.float32))
    assert np.abs(forces).max() < 0.05
    assert z < 1e-3
