"""`semsearch evaluate` and `semsearch vectors evaluate`: what Python can do, as tables and as JSON."""

from __future__ import annotations

from pathlib import Path

import pytest
from collections_made import collection, pairs, write_pairs
from console import semsearch

from semsearch.word_vectors.table import VectorTable
from semsearch_research.evaluate.published import YEAR_TASKS


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


def test_quoted_sentences_are_compared_with_the_answers(tmp_path: Path) -> None:
    path = tmp_path / "texts.jsonl"
    path.write_text(
        '{"text": "The ship. The sea is calm.", "questions": [{"question": "ship", "answer": "calm"}]}',
        encoding="utf-8",
    )
    result = semsearch("evaluate", "answers", path, "-m", "lexical", "--misses")
    assert (result.status, result.err) == (0, "")
    assert result.lines[0].split() == ["mode", "questions", "first", "quoted", "quoted_of_first", "given"]
    assert result.lines[-1] == "lexical, line 1, ship → The ship."
    assert semsearch("evaluate", "answers", path, "--json").json["modes"][0]["first"] == 1
