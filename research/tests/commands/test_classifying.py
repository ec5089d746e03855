"""`semsearch evaluate classify`: tables, JSON, pictures, errors of one line."""

from __future__ import annotations

from pathlib import Path

import pytest
from collections_made import write_groups
from console import Result, semsearch
from small import TOPICS, sentence

from semsearch.word_vectors.table import VectorTable
from semsearch_research.evaluate import cache
from semsearch_research.paraphrase.classification import evaluate_classify


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


def test_sizes_and_accuracies_are_tables(groups: Path, small_vectors: VectorTable) -> None:
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
    assert result.lines[-1].startswith("± is half of the 95 % interval, by drawing the sentences of each fold anew.")


def test_json_has_what_python_has(groups: Path, small_vectors: VectorTable) -> None:
    result = classified(
        groups, small_vectors, "--json", "--model", "mowe", "--model", "sif", "--seed", 2, "--a", "0.01"
    )
    report = evaluate_classify([groups], models=["mowe", "sif"], vectors=small_vectors, seed=2, a=0.01)
    assert result.json == report.to_dict()
    assert result.json["seed"] == 2


def test_paragraph_vectors_run_where_there_is_a_text(tmp_path: Path, groups: Path, small_vectors: VectorTable) -> None:
    pytest.importorskip("gensim")
    text = tmp_path / "text.txt"
    text.write_text("\n".join(sentence(topic, number) for topic in TOPICS for number in range(8)))
    options = ("--model", "pv-dbow", "--train-text", text, "--train-rounds", 1, "--train-sentences", 40, "--C", 1)
    result = classified(groups, small_vectors, *options)
    assert (result.status, result.err) == (0, "")
    assert result.lines[-1] == "pv-dm and pv-dbow are trained on 40 sentences"
