"""Section 3.3 of the uSIF paper: every point is uSIF, literally, with that m, and variances are singular values."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from collections_made import pairs, write_pairs
from references import papers as reference

from semsearch.word_vectors.table import VectorTable
from semsearch_research.analysis import removal
from semsearch_research.analysis.removal import evaluate_removal
from semsearch_research.evaluate import cache
from semsearch_research.evaluate.sentence_pairs import read_tasks
from semsearch_research.evaluate.sts import evaluate_sts
from semsearch_research.evaluate.sts_cosines import USIF_N, WeighedWords
from semsearch_research.evaluate.sts_scores import pearson


@pytest.fixture(autouse=True)
def kept_here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cache, "cache_folder", lambda kind: tmp_path / "cache" / kind)
    for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
        monkeypatch.setenv(name, "1")  # so that what a command sets is taken back


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    folder = tmp_path / "sts"
    folder.mkdir()
    for seed, name in enumerate(("2012.one", "2012.two", "2014.three"), 1):
        write_pairs(folder / f"{name}.test.tsv", pairs(seed))
    return folder


def test_each_point_is_usif_with_that_m(folder: Path, small_vectors: VectorTable) -> None:
    report = evaluate_removal([folder], vectors=[small_vectors], m=[3, 0, 1])
    assert [point.m for point in report.points] == [0, 1, 3, 5]  # the paper's in any case
    vectors = {
        word: small_vectors.rows(np.array([number]))[0].astype(float) for number, word in enumerate(small_vectors.words)
    }
    p = dict(zip(small_vectors.words, small_vectors.frequencies.astype(float), strict=True))
    for point in report.points:
        found = {}
        for task in read_tasks([folder]):
            rows = reference.usif(task.sentences, vectors, p, a=reference.usif_a(p, USIF_N), m=point.m)
            first, second = np.split(rows, 2)
            found.setdefault(task.group, []).append(100 * pearson((first * second).sum(axis=1), task.scores))
        assert {group: np.mean(values) for group, values in found.items()} == pytest.approx(point.groups, abs=0.01)
        assert point.pearson == pytest.approx(np.mean([r for values in found.values() for r in values]), abs=0.01)
        assert point.low <= point.pearson <= point.high


def test_the_papers_m_is_what_evaluate_sts_measures_and_the_others_are_compared_with_it(
    folder: Path, small_vectors: VectorTable
) -> None:
    points = {point.m: point for point in evaluate_removal([folder], vectors=[small_vectors]).points}
    assert list(points) == [*range(11), 15, 20]  # of 24 dimensions
    averages = evaluate_sts([folder], methods=["usif"], vectors=small_vectors).averages
    assert points[5].groups == pytest.approx({one.group: one.pearson for one in averages})
    assert points[5].difference == points[5].difference_low == points[5].difference_high == 0
    for point in points.values():
        assert point.difference == pytest.approx(point.pearson - points[5].pearson)
        assert point.difference_low <= point.difference <= point.difference_high


def test_what_a_singular_vector_explains_is_its_share_of_all_squares(folder: Path, small_vectors: VectorTable) -> None:
    words = WeighedWords(small_vectors)
    tasks = read_tasks([folder])[:1]
    shares = removal.explained(words, tasks, 24)
    assert sum(shares) == pytest.approx(1)
    assert shares == sorted(shares, reverse=True)
    points = evaluate_removal([folder / "2012.one.test.tsv"], vectors=[small_vectors]).points
    assert [point.explained for point in points] == [None, *(shares[point.m - 1] for point in points[1:])]
