"""`semsearch evaluate classify`: tables, JSON, pictures, errors of one line."""

from __future__ import annotations

import xml.etree.ElementTree as ET
from pathlib import Path

import pytest
from collections_made import write_groups
from console import Result, semsearch
from small import TOPICS, sentence

from semsearch.word_vectors.table import VectorTable
from semsearch_research.evaluate import cache
from semsearch_research.evaluate.table import Table
from semsearch_research.experiments.classify_experiment import claims, tables
from semsearch_research.paraphrase.agreement import ErrorAgreement, ModelComparison
from semsearch_research.paraphrase.classification import evaluate_classify
from semsearch_research.paraphrase.classify_report import ClassifyReport, ClassifyScore, GroupSizes


@pytest.fixture(autouse=True)
def alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cache, "cache_folder", lambda kind: tmp_path / "cache" / kind)
    for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
        monkeypatch.setenv(name, "1")  # so that what a command sets is taken back


@pytest.fixture
def groups(tmp_path: Path) -> Path:
    return write_groups(tmp_path / "topics.tsv", [3, 4, 3, 5])


def classified(groups: Path, vectors: VectorTable, *options: object) -> Result:
    return semsearch("evaluate", "classify", groups, "--vectors", vectors.folder, *options)


def test_sizes_accuracies_and_shared_errors_are_tables(groups: Path, small_vectors: VectorTable) -> None:
    result = classified(groups, small_vectors, "--model", "mowe", "--model", "bow", "--C", "0.01")
    assert (result.status, result.err) == (0, "")
    report = evaluate_classify([groups], models=["mowe", "bow"], vectors=small_vectors, cost=0.01)
    lines = [line.split() for line in result.lines]
    assert lines[1][:3] == ["topics", "15", "4"]
    assert ["topics,", "sentences", "of", "a", "group", "3", "4", "5"] in lines
    assert ["groups", "2", "1", "1"] in lines
    row = next(line for line in lines if line[:1] == ["mowe"])
    score = report.scores[0]
    assert row == [
        "mowe",
        str(small_vectors.dimension),
        f"{score.accuracy:.2f}",
        "±",
        f"{(score.high - score.low) / 2:.1f}",
        *(f"{fold:.1f}" for fold in score.folds),
        *["0.01"] * 3,
        f"{score.accuracy_at_1:.2f}",
        "±",
        f"{(score.high_at_1 - score.low_at_1) / 2:.1f}",
        "–",
    ]
    assert score.low <= score.accuracy <= score.high
    errors = {(pair.one, pair.other): pair for pair in report.agreements}
    shared = errors["mowe", "bow"]
    assert result.lines[-1].startswith("± is half of the 95 % interval, by drawing the sentences of each fold anew.")
    assert result.lines[-2].split() == [
        "bow",
        f"{shared.same}/{shared.both_wrong}",
        str(errors["bow", "bow"].both_wrong),
    ]


def test_json_has_what_python_has(groups: Path, small_vectors: VectorTable) -> None:
    result = classified(
        groups, small_vectors, "--json", "--model", "mowe", "--model", "sif", "--seed", 2, "--a", "0.01"
    )
    report = evaluate_classify([groups], models=["mowe", "sif"], vectors=small_vectors, seed=2, a=0.01)
    assert result.json == report.to_dict()
    assert result.json["seed"] == 2


def report_of(p: float, only: tuple[int, int]) -> ClassifyReport:
    """A made-up report on the paper's own data."""
    return ClassifyReport(
        "x",
        False,
        0,
        1234,
        (GroupSizes("opinosis", 521, 88, 900, {3: 88}, {"sentences": 521, "groups": 89, "tokens": 1085}),),
        tuple(
            ClassifyScore("opinosis", model, 9, (50.0,) * 3, (1,) * 3, (40.0,) * 3, 65.23, 45.0, 55.0, 36.0, 44.0)
            for model in ("bow", "sif")
        ),
        (
            ErrorAgreement("opinosis", "bow", "bow", 3, 3),
            ErrorAgreement("opinosis", "bow", "sif", 2, 1),
            ErrorAgreement("opinosis", "sif", "sif", 4, 4),
        ),
        (
            ModelComparison("opinosis", "bow", "pca-bow", 521, *only, p, True),
            ModelComparison("opinosis", "bow", "sif", 521, 1, 2, 0.5, False),
        ),
    )


def tables_of(report: ClassifyReport) -> list[list[str]]:
    """The rows of all tables, headers too."""
    blocks = [block for block in (*tables(report), *claims(report)) if isinstance(block, Table)]
    return [list(row) for table in blocks for row in (table.header, *table.rows)]


def test_published_figures_stand_beside_ours_and_alone_where_nothing_was_run() -> None:
    report = report_of(0.001, (30, 10))
    rows = tables_of(report)
    assert ["opinosis", "521 (paper: 521)", "88 (paper: 89)", "900 (paper: 1,085)"] in rows
    by_model = {row[0]: row[1:] for row in rows if row[-1] in ("65.23", "54.43", "20.86")}
    ours = ["9", "50.00 ± 5.0", "50.0 50.0 50.0", "1 1 1", "40.00 ± 4.0", "65.23"]
    assert by_model == {"bow": ours, "sif": ours, "pca-bow": ["–"] * 5 + ["54.43"], "urae": ["–"] * 5 + ["20.86"]}
    said = [block for block in tables(report) if isinstance(block, str)]
    assert said[0].startswith("urae: its program")
    assert said[-1] == "pv-dm and pv-dbow are trained on 1,234 sentences"


@pytest.mark.parametrize(
    ("p", "only", "said"),
    [(0.001, (30, 10), "holds"), (0.001, (10, 30), "reversed"), (0.2, (12, 9), "no difference shown")],
)
def test_the_papers_order_is_said_to_hold_only_where_a_difference_is_shown(
    p: float, only: tuple[int, int], said: str
) -> None:
    [row] = [row for row in tables_of(report_of(p, only)) if row[1].startswith("bow above")]
    assert row[3] == f"{said}: {100 * (only[0] - only[1]) / 521:+.1f}"
    assert row[-2:] == [str(count) for count in only]


def test_pictures_are_written_for_each_data_set(tmp_path: Path, groups: Path, small_vectors: VectorTable) -> None:
    pytest.importorskip("matplotlib")
    options = ("--model", "mowe", "--model", "bow", "--plot", tmp_path / "x.svg")
    assert classified(groups, small_vectors, *options).status == 0
    files = sorted(path.name for path in tmp_path.glob("*.svg"))
    assert files == ["x-topics-errors.svg", "x-topics-sizes.svg"]
    before = [(tmp_path / name).read_bytes() for name in files]
    for data in before:
        ET.fromstring(data)
    classified(groups, small_vectors, *options)
    assert [(tmp_path / name).read_bytes() for name in files] == before


def test_a_mistake_is_one_line(tmp_path: Path, groups: Path, small_vectors: VectorTable) -> None:
    lonely = write_groups(tmp_path / "lonely.tsv", [3, 3, 1])
    for result, said in (
        (classified(lonely, small_vectors), "lonely.tsv, line 7: the group 'night' has 1 sentence"),
        (classified(tmp_path / "gone.tsv", small_vectors), "there is no file"),
        (classified(groups, small_vectors, "--model", "pv-dm"), "give one with --train-text FILE"),
        (classified(groups, small_vectors, "--plot", tmp_path / "x.bmp"), ".png, .svg, .pdf"),
        (classified(groups, small_vectors, "--train-text", tmp_path / "gone.txt"), "gone.txt cannot be read"),
    ):
        assert (result.status, result.out) == (2, "")
        assert result.err.count("\n") == 1
        assert said in result.err


def test_paragraph_vectors_run_where_there_is_a_text(tmp_path: Path, groups: Path, small_vectors: VectorTable) -> None:
    pytest.importorskip("gensim")
    text = tmp_path / "text.txt"
    text.write_text("\n".join(sentence(topic, number) for topic in TOPICS for number in range(8)))
    options = ("--model", "pv-dbow", "--train-text", text, "--train-rounds", 1, "--train-sentences", 40, "--C", 1)
    result = classified(groups, small_vectors, *options)
    assert (result.status, result.err) == (0, "")
    assert result.lines[-1] == "pv-dm and pv-dbow are trained on 40 sentences"
