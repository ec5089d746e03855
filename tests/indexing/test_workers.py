"""Files prepared in processes: the same index as by one, and what goes wrong told the same way."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path

import pytest
from small import write_articles

from semsearch import Index, SyncReport
from semsearch.errors import SemsearchError, UsageError
from semsearch.indexing import spool, sync
from semsearch.word_vectors.table import VectorTable

QUESTIONS = ("a ship in the harbour", "bread and butter", "the trial of the lawyer")


def write_documents(folder: Path) -> None:
    write_articles(folder, 40)
    (folder / "page.html").write_text("<h1>Sails</h1><p>The anchor of the <b>ship</b> is lost.</p>", encoding="utf-8")
    (folder / "umlaut.txt").write_text("Der Mond scheint über dem Garten. Größe zählt.", encoding="utf-8")
    (folder / "empty.txt").write_text("", encoding="utf-8")
    (folder / "binary.txt").write_bytes(b"\x00\x01\x02" * 100)
    (folder / "picture.foo").write_bytes(b"\x00\x01\x02" * 100)
    (folder / "LICENSE").write_text("The judge and the lawyer.", encoding="utf-8")
    (folder / "old.txt").write_bytes("Łódź".encode("cp1250"))


def index_of(folder: Path, documents: Path, vectors: VectorTable, processes: int) -> tuple[Index, SyncReport]:
    index = Index.create(folder, vectors=vectors.folder)
    return index, index.sync(documents, processes=processes)


def contents(index: Index) -> list[object]:
    hits = [hit for question in QUESTIONS for hit in index.search(question, 20)]
    return [(hit.passage_id, hit.path, hit.line, hit.headings, hit.sentence, hit.start, hit.end) for hit in hits]


def scores(index: Index) -> list[float]:
    return [hit.score for question in QUESTIONS for hit in index.search(question, 20)]


def segments(index: Index) -> list[bytes]:
    """The contents of all files of vectors, topics and words, whose names are drawn by chance."""
    return sorted(path.read_bytes() for path in (index.path / "segments").iterdir())


def test_two_processes_make_the_same_index_as_one(
    tmp_path: Path, small_vectors: VectorTable, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sync, "_CHUNK_BYTES", 2000)  # several chunks for each
    monkeypatch.setattr(spool, "_ROWS", 50)  # and several batches of each
    write_documents(tmp_path / "documents")
    one, alone = index_of(tmp_path / "one", tmp_path / "documents", small_vectors, 1)
    two, together = index_of(tmp_path / "two", tmp_path / "documents", small_vectors, 2)
    assert replace(alone, seconds=0) == replace(together, seconds=0)
    assert [Path(skip.path).name for skip in together.skipped] == ["binary.txt"]
    assert contents(one) == contents(two)
    assert scores(one) == scores(two)
    assert segments(one) == segments(two)  # bit for bit
    assert one.problems() == two.problems()
    assert [Path(problem.path).name for problem in two.problems()] == ["binary.txt", "picture.foo", "old.txt"]
    assert not two.verify()
    assert two.sync(processes=2).unchanged == together.added
    one.close()
    two.close()


def test_a_large_file_is_read_where_it_is_taken_in(
    tmp_path: Path, small_vectors: VectorTable, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_documents(tmp_path / "documents")
    one, _ = index_of(tmp_path / "one", tmp_path / "documents", small_vectors, 1)
    monkeypatch.setattr(sync, "LARGE", 560)
    sizes = [path.stat().st_size for path in (tmp_path / "documents").iterdir()]
    assert min(sizes) < 560 < max(sizes)
    two, _ = index_of(tmp_path / "two", tmp_path / "documents", small_vectors, 2)
    assert contents(one) == contents(two)
    one.close()
    two.close()


@pytest.mark.parametrize("count", [-1, 1.5, True, "2"])
def test_a_number_of_processes_is_a_whole_number(tmp_path: Path, small_vectors: VectorTable, count: object) -> None:
    write_articles(tmp_path / "documents", 1)
    with (
        Index.create(tmp_path / "index", vectors=small_vectors) as index,
        pytest.raises(UsageError, match="processes must be"),
    ):
        index.sync(tmp_path / "documents", processes=count)  # type: ignore[arg-type]


def test_a_worker_that_dies_is_told_and_nothing_is_lost(
    tmp_path: Path, small_vectors: VectorTable, monkeypatch: pytest.MonkeyPatch
) -> None:
    documents = tmp_path / "documents"
    write_articles(documents, 3)
    index, _ = index_of(tmp_path / "index", documents, small_vectors, 1)
    before = contents(index)
    write_articles(documents, 6)
    monkeypatch.setattr("semsearch.system.parallel._start_worker", os._exit)  # a worker ends before it begins
    with pytest.raises(SemsearchError, match="a process that reads files died"):
        index.sync(processes=2)
    assert contents(index) == before
    assert index.status(known_words=False, stale=False).documents == 3
    monkeypatch.undo()
    assert index.sync(processes=1).added == 3
    index.close()
