"""The formulae of the papers, at values worked out by hand."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest
from references import papers as reference

from semsearch.embedding.weights import idf_weights, learn_weights, sif_weights, usif_a, usif_weights
from semsearch.errors import VectorsError
from semsearch.text.ragged import Ragged
from semsearch.word_vectors.table import VectorTable


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


def test_a_of_a_counts_file_follows_from_the_vocabulary_of_the_file(small_vectors: VectorTable, tmp_path: Path) -> None:
    counts = tmp_path / "counts.txt"
    counts.write_text("".join(f"w{i} {100000 // i}\n" for i in range(1, 3000)), encoding="utf-8")
    texts = Ragged(np.zeros(22, dtype=np.int32), np.array([0, 11, 22]))
    weights = learn_weights("usif", small_vectors, lambda: [texts], a=None, frequencies=counts)
    numbers = [100000 // i for i in range(1, 3000)]
    expected = reference.usif_a({f"w{i}": number / sum(numbers) for i, number in enumerate(numbers)}, 11)
    assert weights.a == pytest.approx(expected, rel=1e-9)


def test_a_counts_file_that_is_none_names_its_line(small_vectors: VectorTable, tmp_path: Path) -> None:
    counts = tmp_path / "counts.txt"
    counts.write_text("the 100\nof many\n", encoding="utf-8")
    with pytest.raises(VectorsError, match="line 2"):
        learn_weights("sif", small_vectors, list, a=None, frequencies=counts)
