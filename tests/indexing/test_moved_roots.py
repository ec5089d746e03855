"""A folder that was moved: indexed at its new place with `prune`, nothing of it is read or embedded again."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from console import index_docs, semsearch, work_in, write_docs

from semsearch.index import Index
from semsearch.word_vectors.table import VectorTable


@pytest.fixture
def index(tmp_path: Path, small_vectors: VectorTable) -> Iterator[Index]:
    write_docs(tmp_path)
    with Index.create(tmp_path / "index", vectors=small_vectors) as opened:
        opened.sync(tmp_path / "docs")
        yield opened
        assert opened.verify() == []


def test_with_prune_its_documents_move(index: Index, tmp_path: Path) -> None:
    archive = tmp_path / "archive"
    shutil.copytree(tmp_path / "docs", archive, copy_function=shutil.copy)  # the files have other times
    shutil.rmtree(tmp_path / "docs")
    done = index.sync(archive, prune=True)
    assert (done.moved, done.added, done.removed, done.sentences, done.warnings) == (2, 0, 0, 0, ())
    assert index.roots == (archive.as_posix(),)
    assert index.search("ship")[0].path.startswith(archive.as_posix())


def test_without_it_both_are_kept_and_the_report_says_so(index: Index, tmp_path: Path) -> None:
    (tmp_path / "docs").rename(tmp_path / "archive")
    done = index.sync(tmp_path / "archive")
    assert (done.added, done.removed, len(index.roots)) == (2, 0, 2)
    assert "docs no longer exists; its 2 documents were kept" in done.warnings[0]
    assert index.sync(prune=True).removed == 2


def test_the_command_says_how_a_folder_is_continued_that_was_moved_with_its_index(
    tmp_path: Path, small_vectors: VectorTable, monkeypatch: pytest.MonkeyPatch
) -> None:
    project = tmp_path / "project"
    project.mkdir()
    write_docs(project)
    index_docs(project, small_vectors)
    project.rename(tmp_path / "renamed")
    work_in(tmp_path / "renamed", monkeypatch)
    refused = semsearch("index", "docs")
    command = "semsearch index docs --name indexes/docs --prune"
    assert refused.status == 2
    assert command in refused.err
    semsearch("trust", "indexes/docs", "--yes")
    assert semsearch(*command.split()[1:]).lines[0].startswith("indexes/docs: 2 moved in")
