"""Commands that search mark files that have changed, and --refresh indexes these first."""

from __future__ import annotations

from pathlib import Path

import pytest
from console import index_docs, semsearch, work_in, write_docs

from semsearch.system.locking import writer_lock
from semsearch.word_vectors.table import VectorTable

CURE = "a file of this answer has changed since indexing; run: semsearch index --name ./indexes/docs"


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, small_vectors: VectorTable, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An indexed folder in which one file has changed since."""
    write_docs(tmp_path)
    index_docs(tmp_path, small_vectors)
    work_in(tmp_path, monkeypatch)
    (tmp_path / "docs" / "more" / "notes.txt").write_text("The comet in the sky.\n")
    return tmp_path


@pytest.mark.parametrize("asked", [["query", "violin"], ["similar", "docs/guide.md"]])
@pytest.mark.parametrize("form", ["plain", "table"])
def test_a_hit_in_a_changed_file_is_marked_and_the_cure_is_told_once(asked: list[str], form: str) -> None:
    found = semsearch(*asked, "--format", form)
    assert found.out.count("! changed since it was indexed") >= 1
    assert found.err.count(CURE) == 1


def test_json_says_it_with_each_hit() -> None:
    found = semsearch("query", "violin captain", "--json")
    assert {hit["path"]: hit["stale"] for hit in found.json["hits"]} == {
        "docs/more/notes.txt": True,
        "docs/guide.md": False,
    }
    assert found.err == ""


@pytest.mark.parametrize(
    "command",
    [["query", "comet"], ["similar", "docs/more/notes.txt:1"], ["context", "comet"], ["ask", "comet", "--show-prompt"]],
)
def test_refresh_brings_the_index_up_to_date_first(command: list[str]) -> None:
    found = semsearch(*command, "--refresh")
    assert "changed since" not in found.out + found.err
    assert semsearch("query", "comet", "--mode", "lexical").status == 0


def test_while_another_process_writes_the_index_is_asked_as_it_is(folder: Path) -> None:
    with writer_lock(folder / "indexes" / "docs"):
        found = semsearch("query", "violin", "--refresh")
    assert found.status == 0
    assert "searching the index without an update: another process is writing" in found.err
