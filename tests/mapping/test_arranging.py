"""A map keeps neighbours together, better than the two largest directions do, and is the same each time."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pytest

from semsearch.dense.neighbours import Rows
from semsearch.mapping.arrange_passages import arrange, compare, repulsion, two_directions
from semsearch.results.documents import MapProgress

Float32 = npt.NDArray[np.float32]


def made_vectors(clusters: int, each: int, *, dimension: int = 24, seed: int = 0) -> Float32:
    """Unit vectors in clusters, one cluster after the other."""
    generator = np.random.default_rng(seed)
    centres = generator.standard_normal((clusters, dimension))
    vectors = np.repeat(centres, each, axis=0) + 0.4 * generator.standard_normal((clusters * each, dimension))
    return np.asarray(vectors / np.linalg.norm(vectors, axis=1, keepdims=True), dtype=np.float32)


def of(vectors: Float32) -> Rows:
    return lambda numbers: vectors[numbers]


def arranged(vectors: Float32) -> Float32:
    quiet = lambda _: None  # noqa: E731  # a report that nobody reads
    return arrange(compare(of(vectors), len(vectors), on_progress=quiet), on_progress=quiet)


def neighbours_kept(vectors: Float32, points: Float32, k: int = 15) -> float:
    """The share of each point's k nearest vectors that are among its k nearest points."""
    near = np.argsort(-(vectors @ vectors.T), axis=1)[:, 1 : k + 1]
    apart = np.square(points[:, None] - points[None]).sum(axis=2)
    found = np.argsort(apart, axis=1)[:, 1 : k + 1]
    return float(np.mean([len(np.intersect1d(*pair)) / k for pair in zip(near, found, strict=True)]))


def test_neighbours_stay_neighbours_more_than_along_the_two_largest_directions() -> None:
    vectors = made_vectors(20, 20)
    along_two = neighbours_kept(vectors, two_directions(of(vectors), len(vectors)))
    assert neighbours_kept(vectors, arranged(vectors)) > along_two + 0.15


@pytest.mark.usefixtures("maps_in_few_steps")
def test_the_same_vectors_have_the_same_map_to_the_byte() -> None:
    vectors = made_vectors(6, 20)
    assert arranged(vectors).tobytes() == arranged(vectors).tobytes()


@pytest.mark.usefixtures("maps_in_few_steps")
def test_the_map_fills_the_square_from_minus_one_to_one() -> None:
    points = arranged(made_vectors(5, 20))
    assert np.abs(points).max() == pytest.approx(1.0, abs=1e-5)
    assert points.dtype == np.float32


@pytest.mark.usefixtures("maps_in_few_steps")
@pytest.mark.parametrize("n", [1, 2, 3, 16, 17])
def test_few_passages_have_a_map_too(n: int) -> None:
    points = arranged(made_vectors(1, n))
    assert points.shape == (n, 2)
    assert np.isfinite(points).all()


@pytest.mark.usefixtures("maps_in_few_steps")
def test_progress_is_reported_to_the_end() -> None:
    seen: list[MapProgress] = []
    vectors = made_vectors(2, 20)
    arrange(compare(of(vectors), len(vectors), on_progress=seen.append), on_progress=seen.append)
    assert [each.phase for each in seen if each.done == each.total] == ["comparing", "arranging"]


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
