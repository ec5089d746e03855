"""A write that was interrupted goes on where it was: what was read is not read again, and the index is the same."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from console import Result, semsearch, write_docs
from hypothesis import given, settings, strategies as st
from small import write_articles

from semsearch.index import Index
from semsearch.indexing import read_files, reading_log
from semsearch.indexing.read_files import Prepared
from semsearch.indexing.reading_log import READING_LOG, ReadingLog
from semsearch.readers.read import FileContent, read_file
from semsearch.results.reports import Progress
from semsearch.sources.unchanged import PresentFile
from semsearch.text.passage_records import PassageRecord
from semsearch.word_vectors.table import VectorTable

COUNT = 8


@pytest.fixture(autouse=True)
def _little_is_much(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reading_log, "MUCH", 0)
    monkeypatch.setattr(read_files, "_CHUNK", 1)  # a file at a time


@pytest.fixture
def docs(tmp_path: Path) -> Path:
    write_articles(tmp_path / "docs", COUNT)
    (tmp_path / "docs" / "night-2.md").write_text("---\nauthor: Zoë\n---\n# Über\tStars\n\nThe star – a sun. 木星.\n")
    for path in (tmp_path / "docs").iterdir():
        os.utime(path, (1, 1))
    return tmp_path / "docs"


@pytest.fixture
def index(tmp_path: Path, docs: Path, small_vectors: VectorTable) -> Iterator[Index]:
    with Index.create(tmp_path / "index", vectors=small_vectors) as made:
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


def answers(index: Index) -> list[tuple[str, float]]:
    return [(hit.sentence, hit.score) for hit in index.search("the star and the captain of the ship", 20)]


def nearly(found: list[tuple[str, float]]) -> list[tuple[str, object]]:
    """The same answers, with scores equal to those that differ in the last digits, as sums in other batches do."""
    return [(sentence, pytest.approx(score, abs=1e-6)) for sentence, score in found]


@pytest.fixture
def whole(tmp_path: Path, docs: Path, small_vectors: VectorTable) -> Iterator[Index]:
    """The index that no one interrupted."""
    with Index.create(tmp_path / "whole", vectors=small_vectors) as made:
        made.sync(docs)
        yield made


@pytest.mark.parametrize("files", [0, 1, 5, COUNT])
def test_an_interrupted_first_index_goes_on_where_it_was(
    whole: Index, index: Index, docs: Path, read: list[str], files: int
) -> None:
    with pytest.raises(KeyboardInterrupt):
        index.sync(docs, progress=interrupted_after(files))
    assert index.status(drift=False, stale=False).documents == 0
    assert len(read) == files
    assert index.sync(docs).added == COUNT
    assert len(read) == COUNT
    assert len(set(read)) == COUNT, "each was read once"
    assert contents(index) == contents(whole)
    assert answers(index) == nearly(answers(whole))


def test_several_processes_note_what_they_read_and_go_on(
    whole: Index, index: Index, docs: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("semsearch.indexing.read_files._FILES", 2)
    with pytest.raises(KeyboardInterrupt):
        index.sync(docs, processes=2, progress=interrupted_after(4))
    back: list[str] = []
    get = ReadingLog.get

    def counted(noted: ReadingLog, present: PresentFile) -> Prepared | None:
        back.append(present.path)
        return get(noted, present)

    monkeypatch.setattr(ReadingLog, "get", counted)
    index.sync(docs, processes=2)
    assert len(back) == 4
    assert contents(index) == contents(whole)
    assert answers(index) == nearly(answers(whole))


def test_what_has_changed_since_is_read_again(whole: Index, index: Index, docs: Path, read: list[str]) -> None:
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


def test_another_reader_or_a_lower_limit_is_heeded(
    index: Index, docs: Path, read: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    (docs / "long.md").write_text("The oven. " * 1000)
    os.utime(docs / "long.md", (1, 1))
    with pytest.raises(KeyboardInterrupt):
        index.sync(docs, progress=interrupted_after(COUNT + 1))
    read.clear()
    assert [Path(skipped.path).name for skipped in index.sync(docs, max_file_bytes=5000).skipped] == ["long.md"]
    assert read == ["long.md"]
    with pytest.raises(KeyboardInterrupt):
        index.sync(docs, progress=interrupted_after(1))
    monkeypatch.setattr(reading_log, "reader_label", lambda _: "another")
    read.clear()
    index.sync(docs)
    assert read == ["long.md"]


def test_a_full_disk_costs_the_notes_and_not_the_index(
    index: Index, docs: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    with pytest.raises(KeyboardInterrupt):
        index.sync(docs, progress=interrupted_after(3))
    monkeypatch.setattr(ReadingLog, "_write", full)
    assert index.sync(docs).added == COUNT


TEXT = st.text(max_size=20)


def record(sentences: list[bytes], **values: Any) -> PassageRecord:
    return PassageRecord(**values, offsets=b"".join(sentences), sentences=len(sentences))


RECORD = st.builds(
    record, st.lists(st.binary(min_size=20, max_size=20), max_size=3), headings=TEXT, above=TEXT, line=st.integers(1),
    page=st.none() | st.integers(1), text=TEXT, places=st.none() | TEXT,
)  # fmt: skip
FILES = st.builds(
    Prepared, title=TEXT, format=TEXT, metadata=TEXT, digest=TEXT, size=st.just(5), mtime_ns=st.just(1),
    checked_ns=st.just(10**18), records=st.lists(RECORD, max_size=3).map(tuple),
)  # fmt: skip


def present(number: int) -> PresentFile:
    return PresentFile(1, f"{number}.md", f"/d/{number}.md", f"{number}.md", f"/d/{number}.md", 5, 1)


@given(st.lists(FILES, min_size=1, max_size=4), st.data())
@settings(max_examples=60)
def test_a_note_comes_back_as_it_was_or_not_at_all_whatever_becomes_of_the_file(
    tmp_path_factory: pytest.TempPathFactory, files: list[Prepared], data: st.DataObject
) -> None:
    folder = tmp_path_factory.mktemp("log")
    noting = ReadingLog(folder)
    noting.begin(10, max_bytes=10)
    for number, file in enumerate(files):
        noting.note(present(number), file)
    assert [noting.has(present(number)) for number in range(len(files))] == [False] * len(files)
    noting.close()

    def found() -> list[Prepared | None]:
        reading = ReadingLog(folder)
        reading.begin(10, max_bytes=10)
        numbers = range(len(files))
        back = [reading.get(present(number)) if reading.has(present(number)) else None for number in numbers]
        reading.close()
        return back

    assert found() == files
    written = (folder / READING_LOG).read_bytes()
    place = data.draw(st.integers(0, len(written) - 1))
    damaged = data.draw(st.sampled_from([written[:place], written[:place] + b"\n" + written[place + 1 :]]))
    (folder / READING_LOG).write_bytes(damaged)
    assert all(back in (None, file) for back, file in zip(found(), files, strict=True))


def interrupt_reading(monkeypatch: pytest.MonkeyPatch) -> Result:
    """The first index of the console's documents, interrupted at its second file."""
    names: list[str] = []

    def interrupted(path: Path, **how: Any) -> FileContent:
        names.append(path.name)
        if len(names) == 2:
            raise KeyboardInterrupt
        return read_file(path, **how)

    monkeypatch.setattr("semsearch.indexing.read_files.read_file", interrupted)
    return semsearch("index", "docs", "--processes", 1)


def test_the_command_says_how_to_go_on(
    tmp_path: Path, small_vectors: VectorTable, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_docs(tmp_path)
    for path in (tmp_path / "docs" / "guide.md", tmp_path / "docs" / "more" / "notes.txt"):
        os.utime(path, (1, 1))
    monkeypatch.chdir(tmp_path)
    with monkeypatch.context() as once:
        result = interrupt_reading(once)
    assert result.status == 130
    assert result.err.startswith("semsearch: interrupted; files read so far are kept; ")
    assert semsearch("index", "docs").lines[0].startswith("indexes/docs: 2 added")
    assert sorted(path.name for path in (tmp_path / "indexes" / "docs").glob("*.jsonl")) == []
