"""Figure 2 of the SIF paper: every point is SIF, literally, with that a and that p(w)."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from collections_made import pairs, write_pairs
from references import papers as reference

from semsearch.word_vectors.table import VectorTable
from semsearch_research.analysis import sweep as sweeping
from semsearch_research.analysis.sweep import SWEPT, SweepReport, evaluate_sweep
from semsearch_research.evaluate import cache
from semsearch_research.evaluate.sentence_pairs import read_tasks
from semsearch_research.evaluate.sts import evaluate_sts
from semsearch_research.evaluate.sts_scores import pearson


@pytest.fixture(autouse=True)
def kept_here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cache, "cache_folder", lambda kind: tmp_path / "cache" / kind)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    folder = tmp_path / "sts"
    folder.mkdir()
    for name, seed in (("2012.one.test.tsv", 1), ("2012.two.test.tsv", 2), ("2013.three.test.tsv", 3)):
        write_pairs(folder / name, pairs(seed))
    write_pairs(folder / "2012.one.train.tsv", pairs(4))
    return folder


def literally(folder: Path, table: VectorTable, p: Callable[[str], float], a: float) -> list[float]:
    """Pearson's r × 100 of STS12's two tasks, by the slow transcription of algorithm 1."""
    vectors = {word: table.rows(np.array([number]))[0].astype(float) for number, word in enumerate(table.words)}
    found = []
    for task in read_tasks([folder / "2012.one.test.tsv", folder / "2012.two.test.tsv"]):
        rows = reference.sif(task.sentences, vectors, {word: p(word) for word in vectors}, a=a)
        half = len(task.scores)
        found.append(100 * pearson((rows[:half] * rows[half:]).sum(axis=1), task.scores))
    return found


def points(report: SweepReport) -> list[tuple[str, float]]:
    return [(point.frequencies, point.a) for point in report.points]


def test_each_point_is_sif_with_that_a_and_the_vectors_p(folder: Path, small_vectors: VectorTable) -> None:
    report = evaluate_sweep([folder], vectors=[small_vectors], frequencies=["vectors"], a=[0.3, 1e-3])
    p = dict(zip(small_vectors.words, small_vectors.frequencies.astype(float), strict=True))
    assert points(report) == [("vectors", 1e-3), ("vectors", 0.3)]
    for point in report.points:
        assert list(point.tasks.values()) == pytest.approx(literally(folder, small_vectors, p.__getitem__, point.a))
        assert point.pearson == pytest.approx(np.mean(list(point.tasks.values())))
    assert (report.groups, report.tasks) == (("STS12",), ("2012.one", "2012.two"))


def test_a_counts_file_gives_p(folder: Path, small_vectors: VectorTable, tmp_path: Path) -> None:
    counts = tmp_path / "counts.txt"
    counts.write_text("".join(f"{word} {7 * n + 3}\n" for n, word in enumerate(small_vectors.words)), encoding="utf-8")
    total = sum(7 * n + 3 for n in range(len(small_vectors)))
    p = {word: (7 * n + 3) / total for n, word in enumerate(small_vectors.words)}
    [point] = evaluate_sweep([folder], vectors=[small_vectors], frequencies=[counts], a=[1e-2]).points
    assert list(point.tasks.values()) == pytest.approx(literally(folder, small_vectors, p.__getitem__, 1e-2))
    assert point.frequencies == str(counts)


def test_it_agrees_with_the_command_for_similarity(folder: Path, small_vectors: VectorTable) -> None:
    report = evaluate_sweep([folder], vectors=[small_vectors], frequencies=["vectors"], a=[1e-3])
    averages = evaluate_sts([folder], methods=["mean", "sif"], vectors=small_vectors).averages
    known = {one.method: (one.pearson, one.low, one.high) for one in averages if one.group == "STS12"}
    [point], [mean] = report.points, report.means.values()
    assert (point.pearson, point.low, point.high) == pytest.approx(known["sif"], abs=1e-3)
    assert (mean.value, mean.low, mean.high) == pytest.approx(known["mean"], abs=1e-3)


def test_what_is_swept_by_default_is_what_the_paper_swept(folder: Path, small_vectors: VectorTable) -> None:
    report = evaluate_sweep([folder], vectors=[small_vectors])
    assert SWEPT == (1e-5, 3e-5, 1e-4, 3e-4, 1e-3, 3e-3, 1e-2, 3e-2, 0.1, 0.3)
    assert points(report) == [(source, a) for source in ("vectors", "corpus", "uniform") for a in SWEPT]
    assert report.published_best == (1e-4, 1e-3)


def test_what_was_measured_is_kept_until_asked_anew(
    folder: Path, small_vectors: VectorTable, monkeypatch: pytest.MonkeyPatch
) -> None:
    arguments = {"vectors": [small_vectors], "frequencies": ["vectors"], "a": [1e-3]}
    first = evaluate_sweep([folder], **arguments)

    def refuse(*_: object, **__: object) -> None:
        raise AssertionError("computed")

    monkeypatch.setattr(sweeping, "cosines", refuse)
    assert evaluate_sweep([folder], **arguments) == first
    with pytest.raises(AssertionError):
        evaluate_sweep([folder], **arguments, fresh=True)
    write_pairs(folder / "2012.one.test.tsv", pairs(9))
    with pytest.raises(AssertionError):
        evaluate_sweep([folder], **arguments)
