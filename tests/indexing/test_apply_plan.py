"""A sync changes what has changed on the disk, and nothing else."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from semsearch.index import Index
from semsearch.word_vectors.table import VectorTable


@pytest.fixture
def index(tmp_path: Path, small_vectors: VectorTable) -> Iterator[Index]:
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / "ships.txt").write_text("The captain has a ship.")
    (tmp_path / "docs" / "bread.txt").write_text("The bread is in the oven.")
    with Index.create(tmp_path / "index", vectors=small_vectors) as made:
        made.sync(tmp_path / "docs")
        yield made
        assert made.verify() == []


def documents(index: Index) -> dict[str, tuple[int, str, int]]:
    """Each document's id, title and first passage, by its path."""
    with index._database.reading() as db:
        rows = db.execute("SELECT path, id, title, first_passage FROM documents").fetchall()
    return {path: (number, title, first) for path, number, title, first in rows}


def test_a_file_that_was_moved_keeps_its_passages(index: Index, tmp_path: Path) -> None:
    before = documents(index)
    (tmp_path / "docs" / "sea").mkdir()
    (tmp_path / "docs" / "ships.txt").rename(tmp_path / "docs" / "sea" / "ships.txt")
    done = index.sync()
    assert (done.moved, done.unchanged, done.sentences) == (1, 1, 0)
    assert documents(index) == {"bread.txt": before["bread.txt"], "sea/ships.txt": before["ships.txt"]}


def test_a_file_with_another_name_is_read_again_since_its_title_may_come_from_that(
    index: Index, tmp_path: Path
) -> None:
    before = documents(index)
    (tmp_path / "docs" / "ships.txt").rename(tmp_path / "docs" / "boats.txt")
    done = index.sync()
    assert (done.moved, done.removed, done.added) == (1, 0, 0)
    after = documents(index)
    assert after["boats.txt"][1] != before["ships.txt"][1]
    assert after["boats.txt"][2] > max(first for _, _, first in before.values()), "ids are never used again"
    assert after["bread.txt"] == before["bread.txt"]


def test_a_changed_file_that_can_no_longer_be_read_counts_as_removed(index: Index, tmp_path: Path) -> None:
    (tmp_path / "docs" / "ships.txt").write_bytes(b"\x00\x01\x02\x03" * 300)
    (tmp_path / "docs" / "new.txt").write_text("The moon.")
    done = index.sync()
    assert (done.added, done.changed, done.removed, done.unchanged) == (1, 0, 1, 1)
    assert [Path(skipped.path).name for skipped in done.skipped] == ["ships.txt"]
    assert set(documents(index)) == {"bread.txt", "new.txt"}
    again = index.sync()
    assert again.skipped == done.skipped
    assert (again.added, again.changed, again.removed, again.unchanged) == (0, 0, 0, 2)


def test_progress_counts_the_files_that_are_read(index: Index, tmp_path: Path) -> None:
    for number in range(3):
        (tmp_path / "docs" / f"{number}.txt").write_text(f"The ship {number}.")
    steps = []
    index.sync(progress=steps.append)
    reading = [(step.files, step.total_files, Path(step.path).name) for step in steps if step.phase == "reading"]
    assert reading == [(0, 3, "0.txt"), (1, 3, "1.txt"), (2, 3, "2.txt"), (3, 3, "")]
