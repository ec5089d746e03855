"""An index with the tables of each earlier version answers as it is, and the next writer brings it up to date.

earlier/format-1.zip is one that semsearch made at version 1 of the tables, with its documents and word vectors. For
the versions between, the tables are made by the migrations up to there, and filled with the rows of an index of today.
"""

from __future__ import annotations

import sqlite3
import zipfile
from contextlib import closing
from pathlib import Path

import pytest
from sqlite_utils import Database, Migrations

from semsearch import Index, Text
from semsearch.errors import IndexDamaged
from semsearch.storage.connections import DATABASE
from semsearch.storage.database import SCHEMA
from semsearch.storage.schema import migrations

MADE = Path(__file__).with_name("format-1.zip")
QUERIES = ["captain of the ship", "bread from the oven", "the judge"]
SAID = [
    "The captain sail the ship to the harbour.",
    "Bread and butter in the oven.",
    "The judge in the court, and the jury.",
]


@pytest.fixture
def first(tmp_path: Path) -> Path:
    """A folder with an index that version 1 made, its documents, and its word vectors."""
    with zipfile.ZipFile(MADE) as archive:
        archive.extractall(tmp_path)
    return tmp_path


def tables_of(path: Path, version: int) -> None:
    """Put the rows of an index into the tables of an earlier version, as far as they have room for them."""
    old = Migrations("semsearch")
    old._migrations = migrations._migrations[:version]
    (path / "old.sqlite").touch()
    made = Database(path / "old.sqlite", execute_plugins=False)
    old.apply(made)
    made.close()
    with closing(sqlite3.connect(path / "old.sqlite", isolation_level=None)) as db:
        assert db.execute("PRAGMA user_version").fetchone() == (version,)
        db.execute("ATTACH ? AS today", (str(path / DATABASE),))
        for (table,) in db.execute("SELECT name FROM main.sqlite_master WHERE type = 'table'").fetchall():
            if table.startswith(("sqlite_", "_sqlite")):
                continue
            columns = ", ".join(row[1] for row in db.execute(f"PRAGMA main.table_info({table})"))
            db.execute(f"INSERT INTO main.{table} ({columns}) SELECT {columns} FROM today.{table}")  # noqa: S608  # ours
        db.execute("DELETE FROM main.meta WHERE key IN ('seals', 'sums_since')")  # which version 7 brought
    (path / "old.sqlite").replace(path / DATABASE)


def version_of(path: Path) -> int:
    with closing(sqlite3.connect(path / DATABASE)) as db:
        return int(db.execute("PRAGMA user_version").fetchone()[0])


def test_an_index_that_version_1_made_answers_and_is_not_changed(first: Path) -> None:
    before = (first / "index" / DATABASE).read_bytes()
    with Index.open(first / "index", vectors=first / "small", trust=True) as index:
        assert [index.search(query)[0].sentence for query in QUERIES[::2]] == SAID[::2]
        assert index.verify() == []
        assert index.status(stale=False).documents == 2
    assert (first / "index" / DATABASE).read_bytes() == before


def test_an_index_that_version_1_made_goes_on_where_its_documents_are_now(first: Path) -> None:
    with Index.open(first / "index", vectors=first / "small", trust=True) as index:
        done = index.sync(first / "docs", prune=True)
        assert (done.moved + done.changed + done.unchanged, done.removed) == (1, 0)
        assert done.added == 1  # a table, which version 1 did not read
        assert [index.search(query)[0].sentence for query in QUERIES[::2]] == SAID[::2]
        index.rebuild()
        assert index.verify() == []
        assert index.search("captain", mode="lexical")[0].sentence in (
            SAID[0],
            "The captain sails a ship across the storm.",
        )
    assert version_of(first / "index") == SCHEMA


@pytest.mark.parametrize("version", range(1, SCHEMA))
def test_tables_of_each_version_are_read_as_they_are_and_brought_up_to_date(
    first: Path, tmp_path: Path, version: int
) -> None:
    path = tmp_path / "made"
    with Index.create(path, vectors=first / "small") as index:
        index.sync(first / "docs")
        before = [[(hit.path, hit.sentence) for hit in index.search(query)] for query in QUERIES]
    tables_of(path, version)
    with Index.open(path) as index:
        assert [[(hit.path, hit.sentence) for hit in index.search(query)] for query in QUERIES] == before
        assert version_of(path) == version
        index.add([Text("law", SAID[2])])
        assert index.verify() == []
        assert index.search(QUERIES[2])[0].sentence == SAID[2]
        index.sync()
        assert index.search(QUERIES[0])[0].sentence == before[0][0][1]
    assert version_of(path) == SCHEMA


def test_rows_of_an_earlier_version_get_checksums_when_they_are_written_and_all_from_a_rebuild(
    first: Path, tmp_path: Path
) -> None:
    path = tmp_path / "made"
    with Index.create(path, vectors=first / "small") as index:
        index.sync(first / "docs")
    tables_of(path, 6)
    with Index.open(path) as index:
        without = index.rows_without_checksums()
        assert (without > 0, index.verify()) == (True, [])
        index.add([Text("law", SAID[2])])
        assert (index.rows_without_checksums(), index.verify()) == (without, [])
        index.rebuild()
        assert (index.rows_without_checksums(), index.verify()) == (0, [])
    with closing(sqlite3.connect(path / DATABASE)) as db, db:
        db.execute("UPDATE passages SET sum = NULL")  # now none may lack its own
    with Index.open(path) as index, pytest.raises(IndexDamaged, match="does not match its"):
        index.search(QUERIES[0])


def test_an_index_of_a_later_version_says_so(first: Path) -> None:
    with Index.create(first / "made", vectors=first / "small"):
        pass
    with closing(sqlite3.connect(first / "made" / DATABASE)) as db, db:
        db.execute("UPDATE meta SET value = 'semsearch index 2' WHERE key = 'format'")
    with pytest.raises(IndexDamaged, match="use a newer semsearch"):
        Index.open(first / "made")


def test_tables_of_a_later_version_are_not_written_to(first: Path) -> None:
    with Index.create(first / "made", vectors=first / "small") as index:
        with closing(sqlite3.connect(first / "made" / DATABASE)) as db:
            db.execute(f"PRAGMA user_version = {SCHEMA + 1}")
        with pytest.raises(IndexDamaged, match=f"version {SCHEMA + 1}.*use a newer semsearch"):
            index.add([Text("law", SAID[2])])
