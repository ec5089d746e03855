"""`semsearch export`, `import` and `merge`: an index through pipes and files, and several as one."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest
from console import index_docs, semsearch, work_in, write_docs

from semsearch.word_vectors.table import VectorTable


@pytest.fixture
def vectors(tmp_path: Path, small_vectors: VectorTable, monkeypatch: pytest.MonkeyPatch) -> Path:
    write_docs(tmp_path)
    work_in(index_docs(tmp_path, small_vectors), monkeypatch)
    return small_vectors.folder


def test_what_is_exported_is_imported_and_finds_the_same(vectors: Path) -> None:
    exported = semsearch("export")
    assert [json.loads(line)["id"] for line in exported.lines] == ["docs/guide.md", "docs/more/notes.txt"]
    made = semsearch("import", "-", "--name", "copy", "--vectors", vectors, stdin=exported.out)
    assert made.status == 0
    assert made.out.startswith("indexes/copy: 2 added, 0 changed, 0 unchanged; ")
    asked = ["query", "the captain of the ship", "--format", "plain"]
    assert semsearch(*asked, "-i", "copy").out == semsearch(*asked, "-i", "docs").out
    again = semsearch("import", "-", "--name", "copy", stdin=exported.out)
    assert "0 added, 0 changed, 2 unchanged" in again.out


@pytest.mark.parametrize("folder", [".", "docs", ""])
def test_a_folder_is_not_written_over(vectors: Path, folder: str) -> None:
    result = semsearch("export", folder)
    assert (result.status, result.out) == (2, "")
    assert result.err == f"semsearch: {folder or '.'} cannot be written: Is a directory; choose another path\n"


def test_other_tables_are_imported_by_the_names_of_their_columns(vectors: Path) -> None:
    Path("tickets.jsonl").write_text('{"number": 1, "body": "A ship in the storm", "year": "2024"}\n', encoding="utf-8")
    options = ("--name", "tickets", "--id-key", "number", "--text-key", "body", "--vectors", vectors, "--quiet")
    assert semsearch("import", "tickets.jsonl", *options).status == 0
    assert semsearch("query", "ship", "-i", "tickets", "-f", "year=2024", "--format", "paths").lines == ["1"]


def test_the_device_of_the_standard_output_gets_documents_alone(vectors: Path) -> None:
    assert semsearch("export", "/dev/stdout").out == semsearch("export").out


@pytest.mark.parametrize(
    ("file", "reason"),
    [
        ("bad.jsonl", "bad.jsonl, line 1, is not JSON"),
        pytest.param("/dev/null", "it is a device", marks=pytest.mark.skipif(os.name != "posix", reason="POSIX's")),
    ],
)
def test_of_an_import_that_fails_no_index_is_left(vectors: Path, file: str, reason: str) -> None:
    Path("bad.jsonl").write_text("{\n", encoding="utf-8")
    result = semsearch("import", file, "--name", "bad", "--vectors", vectors)
    assert (result.status, result.out) == (2, "")
    assert reason in result.err
    assert not Path("indexes/bad").exists()
