"""A hit says whether its file has changed or gone since it was indexed, at the cost of one look at each file."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from semsearch.index import Index
from semsearch.sources import unchanged
from semsearch.word_vectors.table import VectorTable

SHIP = "The captain has a ship.\n\n# Storm\n\nA storm came from the coast.\n\n# Ships\n\nThe ship is old.\n"


@pytest.fixture
def docs(tmp_path: Path) -> Path:
    folder = tmp_path / "docs"
    folder.mkdir()
    (folder / "ships.md").write_text(SHIP)
    (folder / "boats.txt").write_text("A boat, and no ship.")
    return folder


@pytest.fixture
def index(tmp_path: Path, docs: Path, small_vectors: VectorTable) -> Iterator[Index]:
    with Index.create(tmp_path / "index", vectors=small_vectors) as made:
        made.sync(docs)
        yield made


def stale(index: Index) -> set[str]:
    return {hit.document for hit in index.search("ship storm boat", 20) if hit.stale}


def test_a_file_of_another_content_is_stale_until_the_next_sync(index: Index, docs: Path) -> None:
    (docs / "boats.txt").write_text("A boat, and no ship at all.")
    assert stale(index) == {"boats.txt"}
    index.sync()
    assert stale(index) == set()
    (docs / "ships.md").write_text(SHIP.replace("old", "new"))
    os.utime(docs / "ships.md", (1, 1))
    assert stale(index) == {"ships.md"}
    index.sync()
    assert stale(index) == set()


def test_an_edit_that_leaves_size_and_time_as_they_were_is_noticed(
    index: Index, docs: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(unchanged, "CLOCK_TICK_NS", 3600 * 10**9)  # a slow machine reads a file seconds after the write
    before = (docs / "ships.md").stat()
    (docs / "ships.md").write_text(SHIP.replace("old", "new"))
    os.utime(docs / "ships.md", ns=(before.st_atime_ns, before.st_mtime_ns))
    assert stale(index) == {"ships.md"}
    assert index.status().stale == 1
    assert index.sync().changed == 1
    assert stale(index) == set()


def test_a_file_with_another_time_and_the_same_content_is_not_stale(index: Index, docs: Path) -> None:
    os.utime(docs / "ships.md", (1, 1))
    assert stale(index) == set()


def test_a_file_that_has_gone_is_stale(index: Index, docs: Path) -> None:
    (docs / "boats.txt").unlink()
    assert stale(index) == {"boats.txt"}
    (docs / "ships.md").write_text("A ship.", encoding="utf-8")
    marked = {Path(hit.path).name: (hit.stale, hit.deleted) for hit in index.search("ship boat")}
    assert (marked["boats.txt"], marked["ships.md"]) == ((True, True), (True, None))
    assert index.passages(docs / "boats.txt").deleted
    (docs / "ships.md").unlink()
    docs.rmdir()
    assert stale(index) == {"boats.txt", "ships.md"}


@pytest.mark.skipif(os.name == "nt" or os.geteuid() == 0, reason="nothing is closed to the administrator")
def test_nothing_is_known_of_a_file_that_we_may_not_look_at(index: Index, docs: Path) -> None:
    docs.chmod(0)
    try:
        assert stale(index) == set()
    finally:
        docs.chmod(0o700)
