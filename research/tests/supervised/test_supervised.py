"""Supervised tasks: fixed vectors, what is chosen on dev, the order of words, published figures, the command."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
import scipy
from collections_made import SIZES, sick, write_rows
from console import semsearch
from references import papers as reference
from small import TOPICS, sentence

from semsearch.word_vectors.table import VectorTable
from semsearch_research.evaluate.claims import HOLDS, REVERSED, UNDECIDED
from semsearch_research.experiments.supervised_experiment import figures
from semsearch_research.supervised.descent import Setting
from semsearch_research.supervised.labelled import Examples, read_labelled
from semsearch_research.supervised.several_seeds import evaluate_supervised
from semsearch_research.supervised.supervised_report import (
    SeedsDifference,
    SupervisedReport,
    SupervisedRun,
    SupervisedScore,
    Trial,
)
from semsearch_research.supervised.trials import SETTINGS, SIF_A_GRID, Features, figures_of


@pytest.fixture(autouse=True)
def own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("XDG_CACHE_HOME", "LOCALAPPDATA", "HOME"):
        monkeypatch.setenv(name, str(tmp_path / "cache"))


def texts(folder: Path, name: str = "sentiment-{}") -> Path:
    """Texts of three topics are 1, those of the others are 0."""
    topics = list(TOPICS)
    rows = [(sentence(topics[n % 6], n), str(int(n % 6 < 3))) for n in range(sum(SIZES.values()))]
    return write_rows(folder, name, rows)


def run(path: Path, vectors: VectorTable, **options: object) -> SupervisedReport:
    given: dict[str, object] = {"methods": ["sif"], "width": 16, "a": [1e-2, 1e-3], "seeds": 1}
    return evaluate_supervised([path], vectors=vectors, **{**given, **options})  # type: ignore[arg-type]


# -- what is learned ---------------------------------------------------------------------------------------------------


def test_topics_are_learned_by_every_method(tmp_path: Path, small_vectors: VectorTable) -> None:
    sick(texts(tmp_path / "data"))
    report = run(tmp_path / "data", small_vectors, methods=["mean", "sif", "usif"])
    assert [(score.task, score.method) for score in report.scores] == [
        (task, method)
        for task in ("sentiment", "sick relatedness", "sick entailment")
        for method in ("mean", "sif", "usif")
    ]
    for score in report.scores:
        assert score.examples == (60, 20, 24)
        assert score.figure > 65
    by_kind = {score.kind: set(score.runs[0].figures) for score in report.scores}
    assert by_kind["relatedness"] == {"pearson", "spearman", "mse"}
    assert by_kind["texts"] == by_kind["entailment"] == {"accuracy"}


def test_a_is_chosen_on_dev_first_and_then_rate_and_regularisation(tmp_path: Path, small_vectors: VectorTable) -> None:
    report = run(texts(tmp_path / "data"), small_vectors, a=SIF_A_GRID, methods=["sif", "mean"])
    sif, mean = (score.runs[0] for score in report.scores)
    assert [trial.a for trial in sif.trials[:4]] == list(SIF_A_GRID)
    best_a = max(sif.trials[:4], key=lambda trial: trial.dev).a
    assert [trial.a for trial in sif.trials[4:]] == [best_a] * 3
    tried = [Setting(trial.rate, trial.regularisation) for trial in sif.trials]
    assert tried == [SETTINGS[0]] * 4 + list(SETTINGS[1:])
    assert [(trial.a, Setting(trial.rate, trial.regularisation)) for trial in mean.trials] == [
        (None, setting) for setting in SETTINGS
    ]
    for one in (sif, mean):
        assert one.chosen == max(one.trials, key=lambda trial: trial.dev)


def test_a_score_is_the_mean_class_and_a_label_the_likeliest(tmp_path: Path) -> None:
    relatedness, entailment = read_labelled([sick(tmp_path / "data")])
    p = np.array([[0, 0, 0.5, 0.5, 0], [1.0, 0, 0, 0, 0], [0, 0.2, 0.3, 0, 0.5]])
    gold = np.array([3.0, 1.0, 5.0])
    found = figures_of(relatedness, p, Examples((["", "", ""],) * 2, gold))
    assert found["mse"] == pytest.approx((0.5**2 + 0 + (5 - 3.8) ** 2) / 3)
    assert found["pearson"] == pytest.approx(100 * np.corrcoef([3.5, 1, 3.8], gold)[0, 1])
    assert found["spearman"] == pytest.approx(100)
    labels = Examples((["", "", ""],) * 2, np.array([2.0, 0.0, 4.0]))
    assert figures_of(entailment, p, labels) == {"accuracy": pytest.approx(100)}
    assert figures_of(entailment, p, Examples(labels.texts, np.array([2.0, 1.0, 0.0]))) == {
        "accuracy": pytest.approx(100 / 3)
    }


# -- the vectors -------------------------------------------------------------------------------------------------------


def test_sif_removes_nothing_and_is_the_papers_average_but_for_one_factor(
    tmp_path: Path, small_vectors: VectorTable
) -> None:
    [task] = read_labelled([texts(tmp_path / "data")])
    features = Features(small_vectors, "sif", 3e-3, task.train)
    [found] = features.of(task.dev)
    rows = small_vectors.rows(np.arange(len(small_vectors))).astype(np.float64)
    table = dict(zip(small_vectors.words, rows, strict=True))
    p = dict(zip(small_vectors.words, small_vectors.frequencies.astype(np.float64).tolist(), strict=True))
    expected = []
    for text in task.dev.texts[0]:
        known = reference.known(text, table)
        expected.append(sum(3e-3 / (3e-3 + p[word]) * table[word] for word in known) / len(known))
    assert found == pytest.approx(features.scale * np.array(expected), abs=1e-5)
    [train] = features.of(task.train)
    assert float(np.mean(train**2)) == pytest.approx(1, abs=1e-4)


# -- options and results -----------------------------------------------------------------------------------------------


def test_results_are_kept_until_something_changes(
    tmp_path: Path, small_vectors: VectorTable, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = texts(tmp_path / "data")
    learned: list[str] = []

    def heard(what: str, done: int, most: int) -> None:
        learned.append(what)

    first = run(folder, small_vectors, progress=heard)
    assert learned[0] == "sentiment, sif: a 0.01, rate 0.001"
    for options in ({}, {"fresh": True}, {"seed": 1}, {"width": 0}, {"a": [1e-2]}, {"examples": 12}):
        learned.clear()
        again = run(folder, small_vectors, progress=heard, **options)
        assert bool(learned) == bool(options), options
        assert (again == first) == (options in ({}, {"fresh": True}))
    (folder / "sentiment-dev").write_text("a new song\t1\na new law\t0\n", encoding="utf-8")
    learned.clear()
    assert run(folder, small_vectors, progress=heard).scores[0].examples == (60, 2, 24)
    assert learned


def test_a_figure_is_the_mean_over_seeds_with_its_deviation(tmp_path: Path, small_vectors: VectorTable) -> None:
    folder = sick(tmp_path / "data")
    alone = [run(folder, small_vectors, seed=seed).scores for seed in (3, 4, 5)]
    report = run(folder, small_vectors, seed=3, seeds=3)
    assert report.seeds == (3, 4, 5)
    for number, score in enumerate(report.scores):
        each = [scores[number].figure for scores in alone]
        assert score.each == tuple(each)
        assert score.figure == pytest.approx(np.mean(each))
        assert score.spread == pytest.approx(np.std(each, ddof=1))
        assert alone[0][number].spread is None
        assert [one.seed for one in score.runs] == [3, 4, 5]
    shown = figures(report).rows[0]
    interval = report.scores[0].interval
    assert shown[1] == f"{report.scores[0].figure:.1f} ± {(interval.high - interval.low) / 2:.1f}"
    assert report.scores[0].draws == pytest.approx(np.mean([scores[0].draws for scores in alone], axis=0), abs=1e-3)


def scored(method: str, *accuracies: float, apart: float = 0.0) -> SupervisedScore:
    """A score whose draws are as far apart as `apart` says."""
    chosen = Trial(None, 1e-3, 1e-5, 4, 80.0)
    runs = tuple(SupervisedRun(seed, chosen, {"accuracy": found}, ()) for seed, found in enumerate(accuracies))
    draws = np.mean(accuracies) + np.linspace(-apart, apart, 101)
    return SupervisedScore("sentiment", "texts", method, (60, 20, 24), runs, draws)


@pytest.mark.parametrize(
    ("better", "worse", "verdict"),
    [
        ((80.0, 80.2, 80.1), (70.0, 70.3, 70.1), HOLDS),
        ((70.0, 70.3, 70.1), (80.0, 80.2, 80.1), REVERSED),
        ((80.0, 70.0, 75.0), (74.0, 79.0, 71.0), UNDECIDED),
        ((80.0, 80.0), (70.0, 70.0), HOLDS),
        ((80.0, 80.0), (80.0, 80.0), UNDECIDED),
        ((80.0,), (20.0,), UNDECIDED),
    ],
)
def test_a_verdict_looks_at_the_spread_over_seeds(
    better: tuple[float, ...], worse: tuple[float, ...], verdict: str
) -> None:
    found = SeedsDifference.between(scored("usif", *better), scored("sif", *worse))
    assert found.verdict == verdict
    assert found.difference == pytest.approx(np.mean(better) - np.mean(worse))
    if len(set(better)) > 1:
        assert found.p == pytest.approx(scipy.stats.ttest_ind(better, worse, equal_var=False).pvalue)


# -- the command -------------------------------------------------------------------------------------------------------


def test_the_command_shows_what_was_chosen_and_the_papers_systems(tmp_path: Path, small_vectors: VectorTable) -> None:
    command = ("evaluate", "supervised", sick(texts(tmp_path / "data")), "--vectors", small_vectors.folder)
    options = ("--method", "mean", "--method", "sif", "--a", "1e-2", "--width", 8, "--seeds", 2)
    result = semsearch(*command, *options)
    assert (result.status, result.err) == (0, "")
    first, second, third, fourth = "\n".join(result.lines).split("\n\n")
    head, *rows = first.splitlines()
    assert head.split()[:5] == ["task", "method", "train", "/", "dev"]
    assert len(rows) == 6
    assert [row.split()[-1] == "–" for row in rows] == [True, True, False, False, True, True]
    systems = {line.split("  ")[0]: line.split()[-3:] for line in second.splitlines()}
    assert systems["Ours (SIF, table 2)"] == ["82.2", "86.0", "84.6"]
    assert systems["BYTE mLSTM (uSIF, table 3)"] == ["91.8", "79.2", "–"]
    assert second.splitlines()[-1].startswith("A figure is the mean over 2 seeds; ± is half of the 95 % interval")
    assert third.splitlines()[0].split()[:2] == ["SIF", "less"]
    assert fourth.splitlines()[1].startswith("sif above mean")
    found = semsearch(*command, *options, "--json").json
    report = evaluate_supervised(
        [tmp_path / "data"], methods=["mean", "sif"], a=[1e-2], width=8, vectors=small_vectors, seeds=2
    )
    assert found == json.loads(json.dumps(report.to_dict()))


def test_a_broken_file_is_one_line(tmp_path: Path, small_vectors: VectorTable) -> None:
    folder = texts(tmp_path / "data")
    (folder / "sentiment-dev").write_text("a song\n", encoding="utf-8")
    result = semsearch("evaluate", "supervised", folder, "--vectors", small_vectors.folder)
    assert (result.status, result.out, len(result.err.splitlines())) == (2, "", 1)
    assert "sentiment-dev, line 1: expected a sentence and a label, between tabs" in result.err
