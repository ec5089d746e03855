"""A write that was interrupted goes on where it was: what was read is not read again, and the index is the same."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from console import semsearch, write_docs
from small import write_articles

from semsearch.index import Index
from semsearch.indexing import sync
from semsearch.readers.read import FileContent, read_file
from semsearch.readers.registry import MAX_BYTES
from semsearch.results.reports import Progress
from semsearch.storage.database import READING_LOG
from semsearch.word_vectors.table import VectorTable

COUNT = 8


@pytest.fixture(autouse=True)
def _little_is_much(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sync, "LOGGED_FROM", 0)
    monkeypatch.setattr(sync, "_CHUNK_BYTES", 1)  # a file at a time


@pytest.fixture
def docs(tmp_path: Path) -> Path:
    write_articles(tmp_path / "docs", COUNT)
    (tmp_path / "docs" / "night-2.md").write_text("---\nauthor: Zoë\n---\n# Über\tStars\n\nThe star – a sun. 木星.\n")
    for path in (tmp_path / "docs").iterdir():
        os.utime(path, (1, 1))
    return tmp_path / "docs"


@pytest.fixture
def index(tmp_path: Path, docs: Path, small_vectors: VectorTable) -> Iterator[Index]:
    with Index.create(tmp_path / "index", vectors=small_vectors.folder) as made:
        yield made
        assert made.verify() == []
        assert not (made.path / READING_LOG).exists()


@pytest.fixture
def read(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The names of files that are read in this process, as they are."""
    names: list[str] = []

    def noted(path: Path, **how: Any) -> FileContent:
        names.append(path.name)
        return read_file(path, **how)

    monkeypatch.setattr("semsearch.indexing.read_files.read_file", noted)
    return names


def interrupted_after(files: int) -> Callable[[Progress], None]:
    """Ctrl-C when so many files have been read, or when all have been and are embedded."""

    def report(step: Progress) -> None:
        if (step.phase == "reading" and step.files == files) or step.phase == "embedding":
            raise KeyboardInterrupt

    return report


def contents(index: Index) -> list[tuple[object, ...]]:
    with index._database.reading() as db:
        return db.execute(
            "SELECT documents.id, path, title, format, metadata, digest, size, mtime_ns, passages.id, line, headings, "
            "text, passages.sentences FROM documents JOIN passages ON document_id = documents.id ORDER BY passages.id"
        ).fetchall()


@pytest.mark.parametrize("files", [0, 1, 5, COUNT])
@pytest.mark.parametrize("processes", [1, 2])
def test_an_interrupted_first_index_goes_on_where_it_was(
    tmp_path: Path, index: Index, docs: Path, small_vectors: VectorTable, read: list[str], files: int, processes: int
) -> None:
    with pytest.raises(KeyboardInterrupt):
        index.sync(docs, processes=processes, progress=interrupted_after(files))
    assert index.status(known_words=False, stale=False).documents == 0
    read.clear()
    assert index.sync(docs, processes=1).added == COUNT
    assert len(read) == COUNT - files
    assert len(set(read)) == COUNT - files, "each was read once"
    with Index.create(tmp_path / "whole", vectors=small_vectors) as whole:
        whole.sync(docs)
        assert contents(index) == contents(whole)
        question = "the star and the captain of the ship"
        assert [hit.score for hit in index.search(question, 20)] == [hit.score for hit in whole.search(question, 20)]


def test_what_has_changed_since_is_read_again(index: Index, docs: Path, read: list[str]) -> None:
    with pytest.raises(KeyboardInterrupt):
        index.sync(docs, progress=interrupted_after(COUNT))
    read.clear()
    (docs / "sea-0.md").write_text("# The sea\n\nA storm came from the coast.\n")
    (docs / "kitchen-1.md").unlink()
    (docs / "new.md").write_text("The oven.")
    assert index.sync(docs).added == COUNT
    assert sorted(read) == ["new.md", "sea-0.md"]
    assert index.search("storm", mode="lexical")[0].document == "sea-0.md"


def test_a_file_that_was_just_written_is_read_again_for_its_time_proves_nothing(
    index: Index, docs: Path, read: list[str]
) -> None:
    (docs / "new.md").write_text("The oven.")
    with pytest.raises(KeyboardInterrupt):
        index.sync(docs, progress=interrupted_after(COUNT + 1))
    read.clear()
    index.sync(docs)
    assert read == ["new.md"]


@pytest.mark.parametrize("change", ["limit", "reader"])
def test_what_was_read_with_another_limit_or_reader_is_read_again(
    index: Index, docs: Path, read: list[str], monkeypatch: pytest.MonkeyPatch, change: str
) -> None:
    with pytest.raises(KeyboardInterrupt):
        index.sync(docs, progress=interrupted_after(COUNT))
    if change == "reader":
        monkeypatch.setattr(sync, "reader_label", lambda _: "another")
    read.clear()
    index.sync(docs, max_file_bytes=1 << 20 if change == "limit" else MAX_BYTES)
    assert len(read) == COUNT


@pytest.mark.parametrize("kept", [0, 7, -30])
def test_what_is_torn_or_damaged_is_read_again(index: Index, docs: Path, read: list[str], kept: int) -> None:
    with pytest.raises(KeyboardInterrupt):
        index.sync(docs, progress=interrupted_after(3))
    for path in (index.path / READING_LOG).iterdir():
        data = path.read_bytes()
        path.write_bytes(data[:kept] + (b"x" + data[kept + 1 :] if kept < 0 else b""))
    read.clear()
    assert index.sync(docs).added == COUNT
    assert len(read) == COUNT


def test_a_full_disk_costs_the_notes_and_not_the_index(
    index: Index, docs: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(KeyboardInterrupt):
        index.sync(docs, progress=interrupted_after(3))
    write_bytes = Path.write_bytes

    def full(path: Path, data: bytes) -> int:
        if path.parent.name == READING_LOG:
            raise OSError(28, "No space left on device")
        return write_bytes(path, data)

    monkeypatch.setattr("semsearch.indexing.sync.Path.write_bytes", full)
    assert index.sync(docs).added == COUNT


def test_the_command_says_how_to_go_on(
    tmp_path: Path, small_vectors: VectorTable, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_docs(tmp_path)
    for path in (tmp_path / "docs" / "guide.md", tmp_path / "docs" / "more" / "notes.txt"):
        os.utime(path, (1, 1))
    monkeypatch.chdir(tmp_path)
    names: list[str] = []

    def interrupted(path: Path, **how: Any) -> FileContent:
        names.append(path.name)
        if len(names) == 2:
            raise KeyboardInterrupt
        return read_file(path, **how)

    with monkeypatch.context() as once:
        once.setattr("semsearch.indexing.read_files.read_file", interrupted)
        result = semsearch("index", "docs", "--processes", 1)
    assert result.status == 130
    assert result.err.startswith("semsearch: interrupted; files read so far are kept; ")
    assert semsearch("index", "docs").lines[0].startswith("indexes/docs: 2 added")
    assert not (tmp_path / "indexes" / "docs" / READING_LOG).exists()
