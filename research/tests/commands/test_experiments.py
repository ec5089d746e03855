"""`semsearch evaluate sweep`, `weights`."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from collections_made import pairs, write_pairs
from console import semsearch

from semsearch.word_vectors.table import VectorTable
from semsearch_research.analysis.sweep import evaluate_sweep
from semsearch_research.analysis.weighing import evaluate_weights
from semsearch_research.evaluate import cache


@pytest.fixture(autouse=True)
def apart(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
        monkeypatch.setenv(name, "1")  # so that what a command sets is taken back
    monkeypatch.setattr(cache, "cache_folder", lambda kind: tmp_path / "cache" / kind)


def shown(figure: float, low: float, high: float) -> list[str]:
    return [f"{figure:.1f}", "±", f"{(high - low) / 2:.1f}"]


def test_sweep_is_a_table_of_a_by_source(tmp_path: Path, small_vectors: VectorTable) -> None:
    path = write_pairs(tmp_path / "2012.one.test.tsv", pairs(1))
    command = ("evaluate", "sweep", path, "--vectors", small_vectors.folder, "--a", 0.001, "--a", 0.3)
    result = semsearch(*command)
    assert (result.status, result.err) == (0, "")
    head, *rows = [line.split() for line in result.lines]
    assert head == ["a;", "STS12", "vectors", "corpus", "uniform"]
    report = evaluate_sweep([path], vectors=[small_vectors], a=[0.001, 0.3])
    first = [points[0] for points in report.series.values()]
    assert rows[0] == ["0.001", *(word for p in first for word in shown(p.pearson, p.low, p.high))]
    mean = report.means["small"]
    assert mean.low < mean.value < mean.high
    assert rows[2] == ["plain", "mean", *shown(mean.value, mean.low, mean.high) * 3]
    best = ", ".join(f"{point.a:g}" for point in report.best[:2])  # a uniform p(w) has none
    assert re.search(rf"the best a is from 0.0001 to 0.001 +\d of 2 sources: {best}\n", result.out)
    assert semsearch(*command, "--json").json == report.to_dict()


def test_weights_are_a_table_of_frequencies_and_words(small_vectors: VectorTable) -> None:
    command = ("evaluate", "weights", "--vectors", small_vectors.folder, "--word", "ship", "--word", "the")
    result = semsearch(*command)
    assert (result.status, result.err) == (0, "")
    heads = ["word", "p(w)", "SIF, a = 0.0001", "word2vec, t = 1e-05", "uSIF", "uSIF ÷ 2, a = "]
    assert re.fullmatch(r"\s+".join(map(re.escape, heads)) + r"[\d.]+", result.lines[0])
    assert [line.split()[0] for line in result.lines[12:14]] == ["ship", "the"]
    assert semsearch(*command, "--json").json == evaluate_weights(["ship", "the"], vectors=small_vectors).to_dict()


def test_a_plot_is_written(tmp_path: Path, small_vectors: VectorTable) -> None:
    path = write_pairs(tmp_path / "2012.one.test.tsv", pairs(1))
    for plot, command in ((tmp_path / "a.png", ("sweep", path, "--a", 0.1)), (tmp_path / "b.svg", ("weights",))):
        assert semsearch("evaluate", *command, "--vectors", small_vectors.folder, "--plot", plot).status == 0
        assert plot.stat().st_size > 1000


def test_a_plot_that_cannot_be_written_is_told_before_the_work(tmp_path: Path) -> None:
    for command in (("sweep", tmp_path / "none.tsv"), ("weights", "--vectors", "none")):
        result = semsearch("evaluate", *command, "--plot", tmp_path / "plot.gif")
        assert (result.status, result.out) == (2, "")
        assert "'plot.gif'" in result.err
