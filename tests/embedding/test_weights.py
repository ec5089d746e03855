"""The formulae of the papers, at values worked out by hand."""

from __future__ import annotations

import math

import numpy as np
import pytest
from references import papers as reference

from semsearch.embedding.weights import idf_weights, sif_weights, smoothed, usif_a, usif_weights


def test_sif_weight_is_a_over_a_plus_p() -> None:
    assert sif_weights(np.array([0.0, 1e-3, 9e-3]), 1e-3) == pytest.approx([1, 0.5, 0.1])


def test_usif_weight_is_a_over_half_a_plus_p() -> None:
    assert usif_weights(np.array([0.0, 1e-3]), 2e-3) == pytest.approx([2, 1])


def test_usif_a_follows_from_vocabulary_probabilities_and_length() -> None:
    # |V| = 4, n = 2: threshold 1 - (3/4)^2 = 0.4375; one word of four is above it; Z = 2
    p = np.array([0.7, 0.1, 0.1, 0.1])
    assert usif_a(p, 2) == pytest.approx((1 - 0.25) / (0.25 * 2))


def test_usif_a_agrees_with_the_paper_transcribed() -> None:
    p = 1 / np.arange(1, 5001) ** 1.1
    p /= p.sum()
    expected = reference.usif_a(dict(enumerate(p)), 11)  # any keys will do
    assert usif_a(p, 11) == pytest.approx(expected, rel=1e-12)


def test_usif_a_stays_finite_where_no_word_is_frequent() -> None:
    assert math.isfinite(usif_a(np.full(10, 0.1), 11))


def test_idf_is_log_of_one_plus_n_over_one_plus_n_w() -> None:
    assert idf_weights(np.array([0, 1, 9]), 9) == pytest.approx([math.log(10), math.log(5), 0.0])


def test_no_word_of_a_corpus_has_probability_zero() -> None:
    assert smoothed(np.array([6, 0, 2])) == pytest.approx([0.75, 0.125, 0.25])
    assert smoothed(np.zeros(2, dtype=np.int64)).tolist() == [1, 1]
