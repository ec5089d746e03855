"""An index of an earlier version is read as it is, and brought up to date by the next writer."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest
from small import small_vectors

from semsearch import Index, Text
from semsearch.storage.connections import DATABASE
from semsearch.storage.database import SCHEMA

ROWS = "name,what\nAnn,The captain sails a ship across the storm.\nBen,Bread and butter in the oven.\n"


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """An index with the tables of version 1, whose documents were read by the readers of then."""
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / "people.csv").write_text(ROWS, encoding="utf-8")
    with Index.create(tmp_path / "index", vectors=small_vectors(tmp_path)) as index:
        index.sync(tmp_path / "docs")
    with closing(sqlite3.connect(tmp_path / "index" / DATABASE)) as db, db:
        db.execute("ALTER TABLE passages DROP COLUMN places")
        db.execute("ALTER TABLE segments DROP COLUMN sums")
        db.execute("ALTER TABLE documents DROP COLUMN language")
        db.execute("DELETE FROM meta WHERE key IN ('languages', 'seals', 'sums_since')")
        for table in ("passages", "documents"):
            db.execute(f"ALTER TABLE {table} DROP COLUMN sum")  # our own names
        db.execute("ALTER TABLE fit DROP COLUMN sums")
        db.execute("UPDATE meta SET value = json_remove(value, '$.languages') WHERE key = 'settings'")
        db.execute("DROP TABLE unread")
        db.execute("DROP TABLE readings")
        db.execute("DROP TABLE record_metadata")
        db.execute("DELETE FROM _sqlite_migrations WHERE name != 'first_tables'")
        db.execute("DELETE FROM meta WHERE key = 'reader_versions'")
        db.execute("PRAGMA user_version = 1")
    return tmp_path / "index"


def version(path: Path) -> int:
    with closing(sqlite3.connect(path / DATABASE)) as db:
        return int(db.execute("PRAGMA user_version").fetchone()[0])


def test_it_answers_without_places_and_is_not_changed(path: Path) -> None:
    with Index.open(path) as index:
        hit = index.search("captain")[0]
        assert (hit.line, hit.place, hit.format) == (2, None, "table")
        assert index.similar(hit) is not None
        assert index.context("captain").citations[0].place is None
        assert index.verify() == []
        assert (index.problems(), index.status().not_read, index.status().partly_read) == ((), {}, 0)
        assert [(file.format, file.characters) for file in index.coverage()] == [("table", None)]
    assert version(path) == 1


def test_the_next_sync_brings_the_places(path: Path) -> None:
    with Index.open(path) as index:
        assert index.search("captain")[0].place is None
        assert index.sync().changed == 1  # its reader has learned to tell places
        assert index.search("captain")[0].place == "row 2"
    assert version(path) == SCHEMA


def test_a_reader_that_has_it_open_goes_on_after_it_was_brought_up_to_date(path: Path) -> None:
    with Index.open(path) as reader, Index.open(path) as writer:
        assert reader.search("captain")[0].place is None
        writer.add([Text("a", "A ship in the harbour.")])
        assert version(path) == SCHEMA
        assert {hit.place for hit in reader.search("captain ship")} == {None}
