"""`semsearch evaluate` and `semsearch vectors evaluate`: what Python can do, as tables and as JSON."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from collections_made import collection, pairs, write_pairs
from console import semsearch

from semsearch.word_vectors.table import VectorTable
from semsearch_research.evaluate import retrieval
from semsearch_research.evaluate.published import YEAR_TASKS
from semsearch_research.evaluate.retrieval import MEASURES
from semsearch_research.evaluate.sts import evaluate_sts
from semsearch_research.experiments import retrieval_experiment


@pytest.fixture(autouse=True)
def threads(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
        monkeypatch.setenv(name, "1")  # so that what a command sets is taken back


@pytest.fixture(autouse=True)
def cache(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing is kept in the user's own folder."""
    folder = str(tmp_path_factory.mktemp("cache"))
    for name in ("XDG_CACHE_HOME", "LOCALAPPDATA", "HOME"):
        monkeypatch.setenv(name, folder)


def cells(line: str) -> list[str]:
    return [cell for cell in line.split("  ") if cell.strip()]


def test_retrieval_is_a_table_of_collections_and_modes(tmp_path: Path, small_vectors: VectorTable) -> None:
    pytest.importorskip("pytrec_eval")
    one, two = collection(tmp_path / "one"), collection(tmp_path / "two")
    result = semsearch(
        "evaluate", "retrieval", one, two, "--vectors", small_vectors.folder, "-m", "dense", "-m", "lexical"
    )
    assert (result.status, result.err) == (0, "")
    tables = [table.splitlines() for table in result.out.split("\n\n")]
    for name, (head, *rows) in zip(("one", "two", "mean"), tables, strict=True):
        columns = ["collection", "mode", "nDCG@10", "95 %", "to lexical", "95 %"]
        assert [part.strip() for part in cells(head)][:6] == columns
        assert [row.split()[:2] for row in rows] == [[name, mode] for mode in ("dense", "lexical")]
        assert "+" in rows[0] or "-" in rows[0]


def test_the_table_of_a_collection_is_there_before_the_next_is_looked_at(
    tmp_path: Path, small_vectors: VectorTable, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("pytrec_eval")
    index_and_show = list[str]()

    def noted(name: str, done: Callable[..., Any]) -> Callable[..., Any]:
        return lambda *given, **options: (index_and_show.append(name), done(*given, **options))[1]

    monkeypatch.setattr(retrieval, "mode_rankers", noted("indexed", retrieval.mode_rankers))
    monkeypatch.setattr(retrieval_experiment, "print_blocks", noted("shown", retrieval_experiment.print_blocks))
    folders = [collection(tmp_path / name) for name in ("one", "two")]
    assert semsearch("evaluate", "retrieval", *folders, "--vectors", small_vectors.folder, "-m", "dense").status == 0
    assert index_and_show == ["indexed", "shown", "indexed", "shown", "shown"]


def test_the_mean_of_one_collection_is_not_shown_but_is_in_the_json(tmp_path: Path, small_vectors: VectorTable) -> None:
    pytest.importorskip("pytrec_eval")
    command = ("evaluate", "retrieval", collection(tmp_path / "one"), "--vectors", small_vectors.folder)
    assert [row.split()[0] for row in semsearch(*command).lines] == ["collection", "one", "one", "one"]
    rows = semsearch(*command, "--json", "--method", "usif", "--components", 2).json
    assert [(row["collection"], row["mode"]) for row in rows] == [
        (name, mode) for name in ("one", "mean") for mode in ("hybrid", "dense", "lexical")
    ]
    assert {*MEASURES, "intervals", "differences", "queries", "queries/s", "index_seconds"} <= set(rows[0])


def test_peers_are_compared_with(tmp_path: Path, small_vectors: VectorTable) -> None:
    pytest.importorskip("pytrec_eval")
    pytest.importorskip("bm25s")
    command = (
        "evaluate",
        "retrieval",
        collection(tmp_path / "c"),
        "--vectors",
        small_vectors.folder,
        "--peer",
        "bm25s",
    )
    assert "to bm25s" in semsearch(*command).lines[0]
    assert "to dense" in semsearch(*command, "--reference", "dense").lines[0]


def test_queries_of_unknown_words_are_no_warnings_and_what_is_missing_is_one(
    tmp_path: Path, small_vectors: VectorTable
) -> None:
    pytest.importorskip("pytrec_eval")
    qrels = "sea\tsea1\t1\nsea\tgone\t1\nlaw\tlaw1\t1\n"
    folder = collection(tmp_path / "c", queries={"sea": "xyzzy", "law": "judge"}, qrels=qrels)
    result = semsearch("evaluate", "retrieval", folder, "--vectors", small_vectors.folder)
    assert result.status == 0
    assert len(result.err.splitlines()) == 1
    assert result.err.startswith("semsearch: warning: ")
    assert "gone" in result.err


def test_sts_is_tasks_and_averages_beside_what_was_published(tmp_path: Path, small_vectors: VectorTable) -> None:
    for number, task in enumerate(sorted(YEAR_TASKS["STS12"])):
        write_pairs(tmp_path / f"2012.{task}.test.tsv", pairs(number))
    write_pairs(tmp_path / "2013.OnWN.test.tsv", pairs(9))
    result = semsearch(
        "evaluate", "sts", tmp_path, "--method", "sif", "--method", "usif", "--vectors", small_vectors.folder
    )
    assert (result.status, result.err) == (0, "")
    head, *tasks = result.lines[: result.lines.index("")]
    assert head.split() == ["task", "pairs", "sif", "r", "sif", "ρ", "usif", "r", "usif", "ρ"]
    assert len(tasks) == 6
    averages = {cells(line)[0].strip(): cells(line)[1:] for line in result.lines[result.lines.index("") + 1 :] if line}
    assert [head.strip() for head in averages["Pearson's r × 100"]] == ["STS12", "STS13 (1 of 4)"]
    assert [cell.strip() for cell in averages["GloVe+UP"]] == ["64.9", "–"]  # published by year alone
    assert [cell.strip() for cell in averages["GloVe+WR"]] == ["56.2", "82.8"]  # of the one task, its published figure
    assert set(averages) >= {"sif (WR), small", "usif (UP), small", "PSL+WR", "ParaNMT+UP"}


def test_sts_as_json_is_what_python_gives(tmp_path: Path, small_vectors: VectorTable) -> None:
    path, corpus = write_pairs(tmp_path / "stsb.dev.tsv", pairs(1)), tmp_path / "corpus.txt"
    corpus.write_text("The captain of the ship. The bread is from the oven. A moon and a star.\n", encoding="utf-8")
    options = ("--a", "1e-2", "--components", 2, "--fit-on", corpus, "--vectors", small_vectors.folder)
    found = semsearch("evaluate", "sts", path, "--json", *options).json
    report = evaluate_sts([path], a=1e-2, components=2, fit_on=corpus, vectors=small_vectors)
    assert found == json.loads(json.dumps(report.to_dict()))
    assert [score["method"] for score in found["tasks"]] == ["mean", "tfidf", "sif", "usif"]
    assert found["averages"][0]["group"] == "STSb dev"


def test_vectors_evaluate_is_one_short_table(tmp_path: Path, small_vectors: VectorTable) -> None:
    pytest.importorskip("pytrec_eval")
    one, data = collection(tmp_path / "one"), write_pairs(tmp_path / "stsb.test.tsv", pairs(1))
    command = ("vectors", "evaluate", small_vectors.folder, "--sts", data, "--retrieval", one)
    result = semsearch(*command)
    assert (result.status, result.err) == (0, "")
    assert result.lines[0].startswith("small: 115 words, 24 dimensions")
    assert any("words are known" in line for line in result.lines)
    assert any(line.startswith("one ") and line.endswith("%") for line in result.lines)
    found = semsearch(*command, "--json").json
    assert set(found["coverage"]) == {"sts", "one"}
    assert {row["mode"] for row in found["retrieval"]} == {"dense"}
    assert [average["method"] for average in found["sts"]] == ["sif", "usif"]


def test_a_mistake_is_one_line_and_status_2(tmp_path: Path, small_vectors: VectorTable) -> None:
    pytest.importorskip("pytrec_eval")
    folder = collection(tmp_path / "c")
    (tmp_path / "x.tsv").write_text("3\ta\tb\n9\ta\tb\n")
    said = {
        ("evaluate", "retrieval", tmp_path): "has no corpus.jsonl",
        ("evaluate", "retrieval", folder, "--mode", "nice"): "there is no mode 'nice'",
        ("evaluate", "retrieval", folder, "--peer", "nice"): "there is no peer 'nice'",
        ("evaluate", "retrieval", folder, "--reference", "bm25s"): "there is no row bm25s",
        ("evaluate", "sts", tmp_path / "x.tsv"): "line 2: expected a score from 0 to 5",
        ("evaluate", "sts", tmp_path / "x.tsv", "--method", "nice"): "there is no method 'nice'",
        ("evaluate", "sts", tmp_path): "x.tsv, line 2",
        ("vectors", "evaluate", small_vectors.folder): "nothing to measure on",
        ("vectors", "evaluate", tmp_path / "gone", "--sts", tmp_path): "there are no word vectors",
    }
    for command, expected in said.items():
        result = semsearch(*command)
        assert (result.status, result.out) == (2, ""), command
        assert expected in result.err
        assert result.err.count("\n") == 1
