"""What a database from somebody else may bring instead of our tables: nothing of it computes, and all of it is refused
or harmless, within the time that an honest index takes to be listed."""

from __future__ import annotations

import json
import os
import shutil
import sqlite3
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path

import pytest

from semsearch.errors import IndexDamaged
from semsearch.index import Index
from semsearch.maintenance.index_folders import summarize
from semsearch.storage.schema import SCHEMA
from semsearch.word_vectors.table import VectorTable

DATABASE = "index.sqlite"
ONE = "instr(hex(zeroblob(100000000)), 'ff')"
ENDLESS = "CASE WHEN " + " AND ".join(f"{ONE} = {n}" for n in range(100)) + " THEN 1 ELSE 2 END"  # many seconds a row
COUNTING = "WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n) SELECT x, x FROM n"

ADDED = {
    "view": f"CREATE VIEW v AS {COUNTING}",
    "trigger": "CREATE TRIGGER t AFTER INSERT ON documents BEGIN DELETE FROM passages; END",
    "trigger in odd words": 'CREATE\n/**/TRIGGER\t"a\nb"   AFTER\nINSERT ON[documents]BEGIN SELECT 1;END',
    "virtual table with shadow tables": "CREATE  VIRTUAL TABLE f USING fts5(x)",
    "strict table": "CREATE TABLE s (x INTEGER) STRICT",
    "table without rowid": "CREATE TABLE w (x PRIMARY KEY) WITHOUT ROWID",
    "table with a check": f"CREATE TABLE c (x CHECK ({ENDLESS}))",
    "table with a default": f"CREATE TABLE d (x DEFAULT ({ENDLESS}))",
    "computed column": f"ALTER TABLE meta ADD COLUMN more TEXT AS ({ENDLESS})",
    "sequence": "CREATE TABLE q (x INTEGER PRIMARY KEY AUTOINCREMENT)",
    "index on an expression": "CREATE INDEX i ON documents (instr(hex(path), 'ff'))",
    "partial index": "CREATE INDEX i ON documents (path) WHERE instr(hex(path), 'ff')",
    "index with a collation": "CREATE INDEX i ON documents (path COLLATE NOCASE)",
    "statistics": "ANALYZE",
}
_TEXT = "TEXT NOT NULL CHECK"
FORGED = {  # the SQL of a table, behind the back of SQLite
    "computed column of meta": ("meta", lambda sql: sql.replace(_TEXT, f"TEXT AS ({ENDLESS}) CHECK", 1)),
    "computed column of roots": ("roots", lambda sql: sql.replace(_TEXT, f"TEXT AS ({ENDLESS}) CHECK", 1)),
    "stored computed column": ("meta", lambda sql: sql.replace(_TEXT, f"TEXT AS ({ENDLESS}) STORED CHECK", 1)),
    "check": ("meta", lambda sql: sql.replace("CHECK (", f"CHECK ({ENDLESS} AND ", 1)),
    "default": ("meta", lambda sql: sql.replace(" CHECK", f" DEFAULT ({ENDLESS}) CHECK", 1)),
    "collation": ("meta", lambda sql: sql.replace(" CHECK", " COLLATE nobody CHECK", 1)),
    "without rowid": ("meta", lambda sql: f"{sql} WITHOUT ROWID"),
    "strict": ("documents", lambda sql: f"{sql} STRICT"),
    "foreign key": ("documents", lambda sql: sql.replace(" CHECK", " REFERENCES meta ON DELETE CASCADE CHECK", 1)),
    "comment": ("meta", lambda sql: sql.replace("(", "(/* ours */", 1)),
    "view in the place of a table": ("meta", lambda _: f"CREATE VIEW meta (key, value) AS {COUNTING}"),
    "virtual table in the place of a table": ("meta", lambda _: "CREATE VIRTUAL TABLE meta USING fts5(key, value)"),
    "table from a query": ("meta", lambda _: f"CREATE TABLE meta AS {COUNTING}"),
    "attached database": ("meta", lambda sql: f"{sql}; ATTACH 'stolen.sqlite' AS s"),
    "bytes": ("meta", lambda sql: sql.encode()),
    "nothing": ("meta", lambda _: None),
    "end of a text": ("meta", lambda sql: f"{sql}\0"),
    "depth": ("meta", lambda _: "CREATE TABLE meta (x CHECK (" + 100_000 * "("),
    "length": ("meta", lambda _: "CREATE TABLE meta (" + ", ".join(f"c{n}" for n in range(200_000)) + ")"),
}  # fmt: skip
ROWS = {  # of the schema
    "two tables of one name": "INSERT INTO sqlite_master SELECT * FROM sqlite_master WHERE name = 'meta'",
    "a table less": "DELETE FROM sqlite_master WHERE name = 'fit'",
    "exchanged tables": "UPDATE sqlite_master SET rootpage = (SELECT rootpage FROM sqlite_master AS o "
    "WHERE o.name = CASE sqlite_master.name WHEN 'meta' THEN 'roots' ELSE 'meta' END) WHERE name IN ('meta', 'roots')",
    "the schema as a table": "UPDATE sqlite_master SET rootpage = 1 WHERE name = 'meta'",
    "a table outside of the file": "UPDATE sqlite_master SET rootpage = 99999 WHERE name = 'meta'",
    "many tables": "INSERT INTO sqlite_master WITH RECURSIVE n(x) AS "
    "(SELECT 1 UNION ALL SELECT x + 1 FROM n LIMIT 20000) "
    "SELECT 'table', 'm' || x, 'm' || x, 2, 'CREATE TABLE m' || x || ' (y)' FROM n",
}  # fmt: skip


def forge(path: Path, statement: str, *values: object) -> None:
    with closing(sqlite3.connect(path)) as db, db:
        db.execute("PRAGMA writable_schema = ON")
        db.execute(statement, values)


def computed_statistics(path: Path, *, table: str = "sqlite_stat1") -> None:
    """A table that SQLite itself reads whenever it loads the schema."""
    with closing(sqlite3.connect(path)) as db, db:
        db.execute("ANALYZE")
    sql = f"CREATE TABLE {table} (x, y, z, tbl AS ({ENDLESS}), idx AS ({ENDLESS}), stat AS ({ENDLESS}))"
    name = "UPDATE sqlite_master SET name = ?, tbl_name = ?, sql = ? WHERE name = 'sqlite_stat1'"
    forge(path, name, table, table, sql)


def circle(path: Path) -> None:
    """A tree whose root is its own child."""
    data = bytearray(path.read_bytes())
    with closing(sqlite3.connect(path)) as db:
        (size,), (root,) = (
            db.execute(sql).fetchone()
            for sql in ("PRAGMA page_size", "SELECT rootpage FROM sqlite_master WHERE name = 'meta'")
        )
    page = (root - 1) * size
    data[page : page + 12] = bytes([5, 0, 0, 0, 0, 0, 0, 0]) + root.to_bytes(4, "big")
    path.write_bytes(data)


def hostile() -> Iterator[tuple[str, Callable[[Path], object]]]:
    for name, sql in ADDED.items():
        yield name, lambda path, sql=sql: forge(path, sql)  # type: ignore[misc]
    for name, (table, change) in FORGED.items():

        def forged(path: Path, table: str = table, change: Callable[[str], object] = change) -> None:
            with closing(sqlite3.connect(path)) as db:
                (sql,) = db.execute("SELECT sql FROM sqlite_master WHERE name = ?", (table,)).fetchone()
            assert change(sql) != sql
            forge(path, "UPDATE sqlite_master SET sql = ? WHERE name = ?", change(sql), table)

        yield f"forged: {name}", forged
    for name, sql in ROWS.items():
        yield name, lambda path, sql=sql: forge(path, sql)  # type: ignore[misc]
    yield "computed statistics", computed_statistics
    yield "computed samples", lambda path: computed_statistics(path, table="sqlite_stat4")
    yield "circle", circle


HOSTILE = dict(hostile())
HARMLESS = {
    "large pages": "PRAGMA journal_mode = DELETE; PRAGMA page_size = 65536; VACUUM",
    "small pages": "PRAGMA journal_mode = DELETE; PRAGMA page_size = 512; VACUUM",
    "vacuumed by itself": "PRAGMA auto_vacuum = FULL; VACUUM",
    "another journal": "PRAGMA journal_mode = DELETE",
    "an application's number": "PRAGMA application_id = 7",
    "log and shared memory of something else": "",
    "texts in UTF-16": "",
    "journal of a terabyte": "",
}


@pytest.fixture(scope="module")
def indexes(tmp_path_factory: pytest.TempPathFactory, small_vectors: VectorTable) -> Path:
    """A folder with an index of ours, and one for each trick."""
    folder = tmp_path_factory.mktemp("foreign")
    docs = folder / "docs"
    docs.mkdir()
    (docs / "ships.md").write_text("# Ships\n\nA ship in the storm. The captain is old.\n")
    with Index.create(folder / "indexes" / "ours", vectors=small_vectors) as index:
        index.sync(docs)
    for number, trick in enumerate(HOSTILE.values()):
        shutil.copytree(folder / "indexes" / "ours", folder / "indexes" / f"bad{number}")
        trick(folder / "indexes" / f"bad{number}" / DATABASE)
    return folder / "indexes"


def test_a_folder_of_them_is_listed_in_time_and_each_is_told(indexes: Path) -> None:
    command = [sys.executable, "-m", "semsearch", "list", "--json", "--indexes", str(indexes)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)  # endless before
    problems = {Path(index["path"]).name: index["problem"] for index in json.loads(done.stdout)}
    assert not problems.pop("ours")
    assert {name for number, name in enumerate(HOSTILE) if not problems[f"bad{number}"]} == set()


@pytest.mark.parametrize("number", range(len(HOSTILE)), ids=HOSTILE)
def test_none_is_opened(indexes: Path, small_vectors: VectorTable, number: int) -> None:
    with pytest.raises(IndexDamaged):
        Index.open(indexes / f"bad{number}", vectors=small_vectors, trust=True)


@pytest.mark.parametrize("name", HARMLESS)
def test_what_does_no_harm_is_read(indexes: Path, small_vectors: VectorTable, tmp_path: Path, name: str) -> None:
    shutil.copytree(indexes / "ours", tmp_path / "odd")
    path = tmp_path / "odd" / DATABASE
    if "UTF-16" in name:
        with closing(sqlite3.connect(path)) as db:
            dump = "\n".join(db.iterdump())
        path.unlink()
        with closing(sqlite3.connect(path)) as db:
            db.executescript(f"PRAGMA encoding = 'UTF-16'; {dump} PRAGMA user_version = {SCHEMA}")
    elif "journal of" in name:
        if os.name == "nt":
            pytest.skip("a disk of Windows would write all of it")
        with path.with_name(f"{DATABASE}-journal").open("wb") as file:
            file.truncate(1 << 40)
    elif "memory" in name:
        for suffix in ("-wal", "-shm"):
            path.with_name(f"{DATABASE}{suffix}").write_bytes(b"x" * 100_000)
    else:
        with closing(sqlite3.connect(path, isolation_level=None)) as db:
            db.executescript(HARMLESS[name])
    with Index.open(tmp_path / "odd", vectors=small_vectors, trust=True) as index:
        assert index.search("captain")
        assert index.verify() == []


def test_an_index_of_an_earlier_version_computes_nothing_either(indexes: Path, tmp_path: Path) -> None:
    shutil.copytree(indexes / "ours", tmp_path / "old")
    path = tmp_path / "old" / DATABASE
    forge(path, f"PRAGMA user_version = {SCHEMA - 1}")
    computed_statistics(path)
    assert (summary := summarize(path.parent)) is not None
    assert summary.problem
