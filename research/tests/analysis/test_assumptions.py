"""What the models take for granted: uniform dispersion, eleven words, lengths of Gaussian vectors."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest
from collections_made import pairs, write_pairs

from semsearch.text.tokens import words
from semsearch.word_vectors.table import VectorTable
from semsearch_research.analysis.assumptions import dispersion, evaluate_assumptions, gaussian_lengths


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
        monkeypatch.setenv(name, "1")  # so that what a command sets is taken back
    for seed, name in enumerate(("2012.MSRpar", "sick")):
        write_pairs(tmp_path / f"{name}.test.tsv", pairs(seed))
    return tmp_path


def test_distance_and_partition_are_those_of_the_formulas(small_vectors: VectorTable) -> None:
    directions = np.eye(small_vectors.dimension)[:3]
    found = dispersion(small_vectors, "by chance", directions)
    distances, partition = [], []
    for c in directions:
        angles, z = [], 0.0
        for v in small_vectors.rows(np.arange(len(small_vectors))).astype(np.float64):
            cosine = float(c @ v) / (float(np.linalg.norm(v)) or 1.0)
            angles.append(math.acos(max(-1.0, min(1.0, cosine))) / math.pi)
            z += math.exp(float(c @ v))
        distances.append(np.mean(angles))
        partition.append(z)
    assert found.distance == pytest.approx(np.mean(distances))
    assert found.distance_range == pytest.approx(np.percentile(distances, (5, 95)))
    assert found.partition_range == pytest.approx(np.percentile(partition, (5, 95)) / np.mean(partition))


def test_uniform_vectors_are_at_half_of_the_greatest_distance(folder: Path, small_vectors: VectorTable) -> None:
    [by_chance, _] = evaluate_assumptions([folder], vectors=small_vectors, seed=3).dispersion
    assert by_chance.directions == "by chance"
    assert by_chance.distance == pytest.approx(0.5, abs=0.01)  # a direction and its opposite are drawn as often


def test_words_are_counted_by_group_and_in_all(folder: Path, small_vectors: VectorTable) -> None:
    report = evaluate_assumptions([folder], vectors=small_vectors)
    assert [one.group for one in report.lengths] == ["STS12", "SICK14", "all"]
    counted = [len(words(text)) for seed in (0, 1) for _, *both in pairs(seed) for text in both]
    assert report.lengths[-1].sentences == len(counted)
    assert report.lengths[-1].words == pytest.approx(np.mean(counted))
    assert report.published == 11


def test_lengths_of_gaussian_vectors_are_as_the_lecture_has_them() -> None:
    found = gaussian_lengths(200, 5000, np.random.default_rng(1))
    assert found.expected == pytest.approx(14.124, abs=5e-4)
    assert found.mean == pytest.approx(found.expected, abs=4 * found.deviation / 5000**0.5)
    assert gaussian_lengths(2, 2, np.random.default_rng(1)).expected == pytest.approx(math.sqrt(math.pi / 2))
