"""Paths and ids name files, folders, roots and added texts, whether they are still on the disk or not."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from semsearch.index import Index
from semsearch.indexing.index_writer import find_named
from semsearch.readers.document import Text
from semsearch.word_vectors.table import VectorTable


@pytest.fixture
def index(tmp_path: Path, small_vectors: VectorTable) -> Iterator[Index]:
    for name in ("docs/a.txt", "docs/more/b.txt", "docs/more/c.txt", "other/d.txt"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(f"The ship {name}.")
    with Index.create(tmp_path / "index", vectors=small_vectors) as made:
        made.sync(tmp_path / "docs", tmp_path / "other")
        made.add([Text("a.txt", "The bread."), Text("https://there/x", "The oven.")])
        yield made


def named(index: Index, *paths: str | Path) -> tuple[set[str], set[str]]:
    """The documents' paths, and the names of the roots."""
    with index._database.reading() as db:
        ids, roots = find_named(db, paths)
        paths_by_id = dict(db.execute("SELECT id, path FROM documents").fetchall())
    return {paths_by_id[number] for number in ids}, {Path(root.path).name for root in roots}


def test_a_file_a_folder_and_a_root_name_what_lies_there(index: Index, tmp_path: Path) -> None:
    assert named(index, tmp_path / "docs" / "a.txt") == ({"a.txt"}, set())
    assert named(index, tmp_path / "docs" / "more") == ({"more/b.txt", "more/c.txt"}, set())
    assert named(index, tmp_path / "other") == ({"d.txt"}, {"other"})
    assert named(index, tmp_path)[1] == {"docs", "other"}


def test_a_relative_path_is_one_of_the_current_folder(
    index: Index, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path / "docs" / "more")
    assert named(index, "b.txt", "../../other/d.txt") == ({"more/b.txt", "d.txt"}, set())


def test_what_has_gone_from_the_disk_is_still_named(index: Index, tmp_path: Path) -> None:
    shutil.rmtree(tmp_path / "docs")
    assert named(index, tmp_path / "docs") == ({"a.txt", "more/b.txt", "more/c.txt"}, {"docs"})


def test_an_added_text_is_named_by_its_id_and_by_nothing_else(index: Index, tmp_path: Path) -> None:
    assert named(index, "https://there/x") == ({"https://there/x"}, set())
    assert named(index, "https://there") == (set(), set())
    with index._database.reading() as db:
        ((number,), _) = find_named(db, ["a.txt"])
        assert db.execute("SELECT root_id FROM documents WHERE id = ?", (number,)).fetchone() == (0,)


@pytest.mark.parametrize("path", ["", "nowhere", "a\0b", "x" * 5000])
def test_what_is_nowhere_names_nothing(
    index: Index, path: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert named(index, path) == (set(), set())
