"""Laws of the common components."""

from __future__ import annotations

import numpy as np
import pytest

from semsearch.embedding.components import CommonComponents, SentenceSums

RNG = np.random.default_rng(5)
X = (RNG.normal(size=(200, 12)) * np.linspace(3, 0.1, 12) + 1).astype(np.float32)


def sums(gram: np.ndarray) -> SentenceSums:
    return SentenceSums(gram, 4)


def test_components_are_the_right_singular_vectors_of_the_uncentred_matrix() -> None:
    common = CommonComponents.of(SentenceSums.of(X), 3, piecewise=False)
    _, sigma, right = np.linalg.svd(X.astype(np.float64), full_matrices=False)
    assert np.abs(common.directions @ right[:3].T) == pytest.approx(np.eye(3), abs=1e-6)
    assert common.shares == pytest.approx(sigma[:3] ** 2 / (sigma**2).sum())


def test_removed_components_are_orthogonal_to_every_sentence() -> None:
    common = CommonComponents.of(SentenceSums.of(X), 3, piecewise=False)
    assert np.abs(common.remove(X) @ common.directions.T).max() < 1e-4


def test_piecewise_strengths_are_shares_of_the_removed_variance() -> None:
    common = CommonComponents.of(SentenceSums.of(X), 4, piecewise=True)
    sigma = np.linalg.svd(X.astype(np.float64), compute_uv=False)[:4]
    assert common.strengths == pytest.approx(sigma**2 / (sigma**2).sum())


def test_sums_of_parts_add_up() -> None:
    whole, first, second = SentenceSums.of(X), SentenceSums.of(X[:70]), SentenceSums.of(X[70:])
    assert (first + second).gram == pytest.approx(whole.gram, rel=1e-5)
    assert (first + second).sentences == 200


def test_no_components_remove_nothing() -> None:
    common = CommonComponents.of(sums(np.eye(12)), 0, piecewise=True)
    assert np.array_equal(common.remove(X), X)


def test_directions_without_variance_are_left_out() -> None:
    one = np.outer(np.ones(4), np.ones(4))
    assert len(CommonComponents.of(sums(one), 3, piecewise=False).directions) == 1
    assert len(CommonComponents.of(sums(np.zeros((4, 4))), 3, piecewise=True).directions) == 0


def of_rank_three(sentences: int, *, seed: int = 1) -> np.ndarray:
    """Sentences of few words: averages of three vectors of which the third is a hundred times shorter."""
    generator = np.random.default_rng(0)
    words = generator.standard_normal((3, 256)) * [[1.0], [0.5], [0.01]]
    return np.asarray(np.random.default_rng(seed).random((sentences, 3)) @ words, dtype=np.float32)


@pytest.mark.parametrize("piecewise", [False, True])
@pytest.mark.parametrize("sentences", [3, 300, 3000, 9000])
def test_of_sentences_of_rank_three_no_more_than_three_directions_are_removed(sentences: int, piecewise: bool) -> None:
    rows = of_rank_three(sentences)
    common = CommonComponents.of(SentenceSums.of(rows), 200, piecewise=piecewise)
    _, sigma, right = np.linalg.svd(rows.astype(np.float64), full_matrices=False)
    assert np.abs(common.directions @ right[:3].T) == pytest.approx(np.eye(3), abs=1e-3)
    assert common.strengths == pytest.approx(sigma[:3] ** 2 / (sigma[:3] ** 2).sum() if piecewise else 1, rel=1e-4)


@pytest.mark.parametrize("m", [1, 5])
def test_of_few_vectors_each_is_the_same_whatever_others_are_given_with_it(m: int) -> None:
    rng = np.random.default_rng(m)
    common = CommonComponents(np.linalg.qr(rng.normal(size=(64, m)))[0].T, np.linspace(1, 0.3, m), np.full(m, 1 / m))
    vectors = rng.normal(size=(200, 64)).astype(np.float32)
    alone = np.concatenate([common.remove(vector[None]) for vector in vectors])
    for size in (2, 3, 7, 16, 64, 200):
        np.testing.assert_array_equal(common.remove(vectors[:size]), alone[:size])
        np.testing.assert_array_equal(common.remove(vectors[-size:]), alone[-size:])
    many = np.tile(vectors, (6, 1))
    np.testing.assert_allclose(common.remove(many)[:200], alone, atol=1e-5)
