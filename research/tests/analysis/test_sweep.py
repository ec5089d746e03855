"""Figure 2 of the SIF paper: every point is SIF, literally, with that a and that p(w)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from collections_made import pairs, write_pairs
from references import papers as reference
from small import small_vectors as make_vectors

from semsearch.errors import UsageError
from semsearch.text.tokens import words
from semsearch.word_vectors.table import VectorTable
from semsearch_research.analysis import sweep as sweeping
from semsearch_research.analysis.sif_pictures import draw_sweep
from semsearch_research.analysis.sweep import SWEPT, SweepPoint, SweepReport, evaluate_sweep
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


def test_the_corpus_is_the_sentences_of_all_tasks_that_are_run(folder: Path, small_vectors: VectorTable) -> None:
    [point] = evaluate_sweep([folder], vectors=[small_vectors], frequencies=["corpus"], a=[1e-2]).points
    tasks = read_tasks([folder / "2012.one.test.tsv", folder / "2012.two.test.tsv"])
    counts = Counter(word for task in tasks for text in task.sentences for word in words(text))
    known = {word: counts[word] for word in small_vectors.words}
    p = {word: max(count, 1) / sum(known.values()) for word, count in known.items()}
    assert list(point.tasks.values()) == pytest.approx(literally(folder, small_vectors, p.__getitem__, 1e-2))


def test_a_counts_file_gives_p(folder: Path, small_vectors: VectorTable, tmp_path: Path) -> None:
    counts = tmp_path / "counts.txt"
    counts.write_text("".join(f"{word} {7 * n + 3}\n" for n, word in enumerate(small_vectors.words)), encoding="utf-8")
    total = sum(7 * n + 3 for n in range(len(small_vectors)))
    p = {word: (7 * n + 3) / total for n, word in enumerate(small_vectors.words)}
    [point] = evaluate_sweep([folder], vectors=[small_vectors], frequencies=[counts], a=[1e-2]).points
    assert list(point.tasks.values()) == pytest.approx(literally(folder, small_vectors, p.__getitem__, 1e-2))
    assert point.frequencies == str(counts)


def test_with_a_uniform_p_it_is_the_same_for_every_a(folder: Path, small_vectors: VectorTable) -> None:
    report = evaluate_sweep([folder], vectors=[small_vectors], frequencies=["uniform"], a=[1e-5, 1e-2, 0.3])
    expected = literally(folder, small_vectors, lambda _: 1 / len(small_vectors), 1.0)
    for point in report.points:
        assert list(point.tasks.values()) == pytest.approx(expected, abs=1e-3)
    assert report.best[0].a == 1e-5


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


def test_groups_choose_the_tasks(folder: Path, small_vectors: VectorTable) -> None:
    def tasks(*paths: Path, groups: tuple[str, ...] = ()) -> tuple[str, ...]:
        return evaluate_sweep(paths, vectors=[small_vectors], frequencies=["uniform"], a=[1], groups=groups).tasks

    assert tasks(folder, groups=("STS13", "STS12")) == ("2012.one", "2012.two", "2013.three")
    assert tasks(folder / "2013.three.test.tsv") == ("2013.three",)
    assert tasks(folder / "2012.one.train.tsv", folder / "2012.one.test.tsv") == ("2012.one train", "2012.one")
    with pytest.raises(UsageError, match=r"no tasks of STS15; the files are of STS12, STS13"):
        tasks(folder, groups=("STS15",))


def test_vectors_of_one_name_are_told_apart_and_the_same_ones_run_once(folder: Path, tmp_path: Path) -> None:
    one, two = make_vectors(tmp_path / "1"), make_vectors(tmp_path / "2", seed=1)
    report = evaluate_sweep([folder], vectors=[one, two, one.folder], frequencies=["vectors", "vectors"], a=[1, 1])
    assert [point.vectors for point in report.points] == [f"small ({v.digest[:8]})" for v in (one, two)]


def test_of_equal_points_the_lowest_a_is_the_best() -> None:
    made = tuple(SweepPoint("v", "uniform", a, r, {}, r, r) for a, r in ((0.1, 50.0), (0.2, 51.001), (0.3, 51.002)))
    assert SweepReport((), (), made, {}, (1e-4, 1e-3)).best == (made[1],)


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


def test_the_picture_has_a_line_for_each_source_and_one_for_the_mean(folder: Path, small_vectors: VectorTable) -> None:
    report = evaluate_sweep([folder], vectors=[small_vectors], a=[1e-3, 1e-2])
    [axes] = draw_sweep(report).axes
    shown = {line.get_label(): list(line.get_ydata()) for line in axes.lines}
    assert list(shown) == ["p(w): vectors", "p(w): corpus", "p(w): uniform", "plain mean"]
    assert shown["p(w): corpus"] == [point.pearson for point in report.points if point.frequencies == "corpus"]
    assert (axes.get_xscale(), axes.get_title("left")) == ("log", "SIF on STS12, mean of 2 tasks")
