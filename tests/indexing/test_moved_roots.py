"""A root that was moved or renamed is recognised by its files, and nothing of it is embedded again."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from console import index_docs, semsearch, work_in, write_docs

from semsearch.index import Index
from semsearch.results.reports import MovedRoot
from semsearch.word_vectors.table import VectorTable

TEXTS = {
    "ships.txt": "The captain has a ship.",
    "bread.txt": "The bread is in the oven.",
    "sky/moon.md": "# The moon\n\nThe moon in the night sky.",
}


def write(folder: Path) -> Path:
    for name, text in TEXTS.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
    return folder


@pytest.fixture
def notes(tmp_path: Path) -> Path:
    return write(tmp_path / "notes")


@pytest.fixture
def index(tmp_path: Path, notes: Path, small_vectors: VectorTable) -> Iterator[Index]:
    with Index.create(tmp_path / "index", vectors=small_vectors) as made:
        made.sync(notes)
        yield made
        assert made.verify() == []


def passages(index: Index) -> dict[str, tuple[int, ...]]:
    with index._database.reading() as db:
        rows = db.execute("SELECT path, id, first_passage, passages FROM documents").fetchall()
    return {row[0]: row[1:] for row in rows}


def test_a_renamed_root_keeps_everything_and_the_report_says_so(index: Index, notes: Path, tmp_path: Path) -> None:
    before, archive = passages(index), tmp_path / "archive"
    notes.rename(archive)
    done = index.sync(archive)
    assert done.moved_roots == (MovedRoot(notes.as_posix(), archive.as_posix(), 3),)
    assert (done.added, done.removed, done.unchanged, done.sentences, done.warnings) == (0, 0, 3, 0, ())
    assert passages(index) == before
    assert index.roots == (archive.as_posix(),)
    assert index.search("moon")[0].path == (archive / "sky" / "moon.md").as_posix()
    assert index.sync().moved_roots == ()


def test_what_changed_with_the_move_is_synced(index: Index, notes: Path, tmp_path: Path) -> None:
    archive = tmp_path / "archive"
    notes.rename(archive)
    (archive / "ships.txt").write_text("A storm came from the coast.")
    (archive / "new.txt").write_text("A rose.")
    done = index.sync(archive)
    assert done.moved_roots == (MovedRoot(notes.as_posix(), archive.as_posix(), 2),)
    assert (done.added, done.changed, done.removed, done.unchanged) == (1, 1, 0, 2)


def test_a_copy_with_other_times_is_as_good_as_the_folder(index: Index, notes: Path, tmp_path: Path) -> None:
    before = passages(index)
    shutil.copytree(notes, tmp_path / "archive", copy_function=shutil.copy)
    shutil.rmtree(notes)
    done = index.sync(tmp_path / "archive")
    assert (done.moved_roots[0].documents, done.added, done.sentences) == (3, 0, 0)
    assert passages(index) == before


def test_a_root_that_is_still_there_has_not_moved(index: Index, notes: Path, tmp_path: Path) -> None:
    shutil.copytree(notes, tmp_path / "archive")
    done = index.sync(tmp_path / "archive")
    assert (done.moved_roots, done.added) == ((), 3)
    assert len(index.roots) == 2


def test_a_folder_that_has_less_than_most_of_the_files_is_another_one(
    index: Index, notes: Path, tmp_path: Path
) -> None:
    archive = tmp_path / "archive"
    notes.rename(archive)
    (archive / "ships.txt").unlink()
    (archive / "bread.txt").write_text("Butter and flour in the dough.")
    done = index.sync(archive)
    assert (done.moved_roots, done.added) == ((), 2)
    assert index.roots == (notes.as_posix(), archive.as_posix())


def test_empty_files_prove_nothing(tmp_path: Path, small_vectors: VectorTable) -> None:
    for name in ("old", "new"):
        (tmp_path / name).mkdir()
        for number in range(3):
            (tmp_path / name / f"{number}.txt").touch()
    with Index.create(tmp_path / "index", vectors=small_vectors) as index:
        index.sync(tmp_path / "old")
        shutil.rmtree(tmp_path / "old")
        assert index.sync(tmp_path / "new").moved_roots == ()


def test_a_folder_that_overlaps_with_another_root_is_not_taken_for_one_that_moved(
    index: Index, notes: Path, tmp_path: Path
) -> None:
    (tmp_path / "archive" / "other").mkdir(parents=True)
    (tmp_path / "archive" / "other" / "rose.txt").write_text("A rose.")
    index.sync(tmp_path / "archive" / "other")
    shutil.copytree(notes, tmp_path / "archive", dirs_exist_ok=True)
    shutil.rmtree(notes)
    done = index.sync(tmp_path / "archive")
    assert done.moved_roots == ()
    assert (tmp_path / "archive").as_posix() in index.roots


def test_globs_stay_with_a_root_that_moves(tmp_path: Path, notes: Path, small_vectors: VectorTable) -> None:
    with Index.create(tmp_path / "index", vectors=small_vectors) as index:
        index.sync(notes, include=["*.txt"])
        notes.rename(tmp_path / "archive")
        done = index.sync(tmp_path / "archive")
        assert (done.moved_roots[0].documents, done.added) == (2, 0)


def test_the_command_finds_the_index_of_a_folder_that_was_renamed(
    tmp_path: Path, small_vectors: VectorTable, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_docs(tmp_path)
    index_docs(tmp_path, small_vectors)
    work_in(tmp_path, monkeypatch)
    (tmp_path / "docs").rename(tmp_path / "archive")
    found = semsearch("index", "archive")
    assert found.lines[0].startswith("indexes/docs: 2 unchanged in")
    assert found.err == "semsearch: docs is now archive: 2 documents were kept\n"
    assert not (tmp_path / "indexes" / "archive").exists()
    assert (
        semsearch("index", "archive", "--name", "mine", "--vectors", small_vectors.folder)
        .lines[0]
        .startswith("indexes/mine: 2 added")
    )
    report = semsearch("index", "--name", "docs", "--json").json
    assert report["moved_roots"] == []


def test_of_two_indexes_of_the_same_folder_neither_is_chosen(
    tmp_path: Path, small_vectors: VectorTable, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_docs(tmp_path)
    index_docs(tmp_path, small_vectors)
    work_in(tmp_path, monkeypatch)
    vectors = ("--vectors", small_vectors.folder)
    assert semsearch("index", "docs", "--name", "second", *vectors).status == 0
    (tmp_path / "docs").rename(tmp_path / "archive")
    assert semsearch("index", "archive", *vectors).lines[0].startswith("indexes/archive: 2 added")
