"""`semsearch evaluate golden`."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from console import index_docs, semsearch, work_in, write_docs

from semsearch.word_vectors.table import VectorTable


@pytest.fixture(autouse=True)
def _indexed(tmp_path: Path, small_vectors: VectorTable, monkeypatch: pytest.MonkeyPatch) -> None:
    write_docs(tmp_path)
    index_docs(tmp_path, small_vectors)
    work_in(tmp_path, monkeypatch)
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))


def questions(**answers: Any) -> Path:
    path = Path("golden.jsonl")
    lines = [json.dumps({"query": query, "answers": given}) for query, given in answers.items()]
    path.write_text("\n".join(lines), encoding="utf-8")
    return path


def test_a_table_of_figures_and_what_changed() -> None:
    questions(captain=["docs/guide.md#Ships"], violin=["docs/guide.md"])
    command = ("evaluate", "golden", "golden.jsonl", "-m", "lexical")
    first = semsearch(*command, "--misses")
    assert (first.status, first.err) == (0, "")
    assert first.lines[:2] == [
        "mode     questions  hit@1  hit@3  hit@5  hit@10  mrr@10",
        "lexical          2  0.500  0.500  0.500   0.500   0.500",
    ]
    assert first.lines[2:] == ["", "lexical, without an answer in the first ten hits:", "  line 2: violin"]
    questions(captain=["docs/guide.md#Ships"], violin=["docs/more/notes.txt"])
    second = semsearch(*command)
    assert second.lines[2:] == ["", "lexical, better than in the last run:", "  – → 1  violin"]


def test_every_bad_line_is_told() -> None:
    Path("golden.jsonl").write_text("a\nb\n", encoding="utf-8")
    result = semsearch("evaluate", "golden", "golden.jsonl")
    assert (result.status, result.out) == (2, "")
    assert "golden.jsonl, line 1: " in result.err
    assert "golden.jsonl, line 2: " in result.err
