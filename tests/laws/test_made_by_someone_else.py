"""An index folder that was damaged, or made by someone else, is said to be damaged, and does nothing else."""

from __future__ import annotations

import os
import shutil
import sqlite3
import struct
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sealing import change, reseal

from semsearch.errors import IndexDamaged, SemsearchError
from semsearch.index import Index
from semsearch.maintenance.index_folders import summarize
from semsearch.mapping.mapper import MAP, PassageMap, read_map, write_map
from semsearch.results.hits import Hit
from semsearch.storage.database import IndexDatabase
from semsearch.word_vectors.table import VectorTable

DATABASE = "index.sqlite"


@pytest.fixture(scope="module")
def good(tmp_path_factory: pytest.TempPathFactory, small_vectors: VectorTable) -> Path:
    """An index with a row in every table that a sync fills."""
    folder = tmp_path_factory.mktemp("good")
    docs = folder / "docs"
    docs.mkdir()
    (docs / "ships.md").write_text("---\nauthor: Ada\n---\n# Ships\n\nA ship in the storm. The captain is old.\n")
    (docs / "people.csv").write_text("name,year\nThe captain,1815\nThe judge,1900\n")
    (docs / "odd.bin").write_bytes(b"\x00\xff" * 50)
    with Index.create(folder / "index", vectors=small_vectors) as index:
        index.sync(docs, metadata_columns=["year"])
        (docs / "ships.md").write_text("# Ships\n\nA ship in the storm. The captain is young.\n")
        index.sync()
    return folder / "index"


def of_index(folder: Path) -> list[Callable[[Index], Any]]:
    """What users do with an index."""
    return [
        lambda index: [hit.explain() for hit in index.search("a ship in the storm", 5, context=1)],
        lambda index: index.similar(str(folder.parent / "docs" / "ships.md")),
        lambda index: index.search("captain", filters=["author=Ada"]),
        lambda index: [(index.document(listed.path), index.passages(listed.path)) for listed in index.documents()],
        lambda index: (index.status(), index.problems()),
        lambda index: index.verify(),
        lambda index: index.sync(),
        lambda index: index.rebuild(),
    ]


def columns(folder: Path) -> list[tuple[str, str]]:
    with closing(sqlite3.connect(folder / DATABASE)) as db:
        tables = [name for (name,) in db.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]
        return [
            (table, row[1])
            for table in tables
            if not table.startswith(("_", "sqlite", "meta")) and db.execute(f"SELECT 1 FROM {table}").fetchone()  # noqa: S608  # SQLite's own names
            for row in db.execute(f"PRAGMA table_info({table})")
        ]


def copied(good: Path, folder: Path) -> Path:
    shutil.copytree(good, folder)
    return folder


def use(folder: Path, good: Path, small_vectors: VectorTable) -> int:
    """Do all that users do; how often that ended in an error of ours. Any other error is raised."""
    refused = 0
    for act in of_index(good):
        try:
            with Index.open(folder, vectors=small_vectors, trust=True) as index:
                act(index)
        except SemsearchError:
            refused += 1
    return refused


def test_an_index_as_we_make_it_is_not_damage(good: Path, small_vectors: VectorTable, tmp_path: Path) -> None:
    assert use(copied(good, tmp_path / "copy"), good, small_vectors) == 0


@pytest.mark.parametrize("value", [-1, b"\xff\x00", 1e300])
def test_values_of_other_types_are_damage_and_no_bug(
    good: Path, small_vectors: VectorTable, tmp_path: Path, value: object
) -> None:
    for number, (table, column) in enumerate(columns(good)):
        if number % 3 != [-1, b"\xff\x00", 1e300].index(value):  # type: ignore[arg-type]  # is one of them
            continue  # each column has one of the values, and each value some of the columns
        folder = copied(good, tmp_path / f"{table}-{column}")
        try:
            change(folder, f"UPDATE {table} SET {column} = ?", value)  # noqa: S608  # names of our schema
        except sqlite3.IntegrityError:
            continue
        use(folder, good, small_vectors)


def test_sentences_without_vectors_are_damage_and_no_bug(
    good: Path, small_vectors: VectorTable, tmp_path: Path
) -> None:
    folder = copied(good, tmp_path / "bad")
    change(folder, "UPDATE passages SET first_sentence = first_sentence + 1000000")
    with Index.open(folder, vectors=small_vectors, trust=True) as index:
        assert index.verify()
    use(folder, good, small_vectors)


_NESTED = "[" * 100_000  # which Python's reader of JSON gives up by a RecursionError


@pytest.mark.parametrize(
    "column",
    [
        "roots.include",
        "roots.text_columns",
        "documents.metadata",
        "passages.headings",
        "passages.places",
        "fit.card",
        "record_metadata.metadata",
    ],
)
def test_json_that_is_nested_without_end_is_damage_and_no_bug(
    good: Path, small_vectors: VectorTable, tmp_path: Path, column: str
) -> None:
    folder, (table, name) = copied(good, tmp_path / "bad"), column.split(".")
    change(folder, f"UPDATE {table} SET {name} = ?", _NESTED)  # noqa: S608  # our own names
    assert use(folder, good, small_vectors)


@pytest.mark.parametrize(
    ("column", "value"),
    [
        ("roots.include", "[null]"),
        ("roots.exclude", "[[1]]"),
        ("passages.headings", "[[1]]"),
        ("passages.headings", "[null]"),
        ("passages.places", "[[1]]"),
        ("passages.places", '["a"]'),
    ],
)
def test_elements_of_another_kind_are_damage_and_no_bug(
    good: Path, small_vectors: VectorTable, tmp_path: Path, column: str, value: str
) -> None:
    folder, (table, name) = copied(good, tmp_path / "bad"), column.split(".")
    change(folder, f"UPDATE {table} SET {name} = ?", value)  # noqa: S608  # our own names
    assert use(folder, good, small_vectors)


def test_digests_that_are_nested_without_end_are_damage_and_no_bug(
    good: Path, small_vectors: VectorTable, tmp_path: Path
) -> None:
    folder = copied(good, tmp_path / "bad")
    with closing(sqlite3.connect(folder / DATABASE)) as db, db:
        db.execute("UPDATE meta SET value = ? WHERE key = 'digests'", (_NESTED,))
    assert use(folder, good, small_vectors)


def test_a_schema_that_is_no_text_is_damage(good: Path, small_vectors: VectorTable, tmp_path: Path) -> None:
    folder = copied(good, tmp_path / "bad")
    data = (folder / DATABASE).read_bytes()
    (folder / DATABASE).write_bytes(data.replace(b"TABLE documents", b"\xe9\xe9\xe9\xe9\xe9 documents"))
    with pytest.raises(IndexDamaged, match=r"index.sqlite is damaged"):
        Index.open(folder, vectors=small_vectors, trust=True)


def test_what_is_wrong_is_said(good: Path, small_vectors: VectorTable, tmp_path: Path) -> None:
    folder = copied(good, tmp_path / "bad")
    change(folder, "UPDATE passages SET headings = 'x'")
    message = r"index.sqlite is damaged: \d+ rows of passages have an invalid headings; remove .* and index again"
    with Index.open(folder, vectors=small_vectors, trust=True) as index, pytest.raises(IndexDamaged, match=message):
        index.search("a ship")


@pytest.mark.parametrize("change_of_count", ["+ 34575694", "+ 4611686018427387904", "- 1", "* -1"])
def test_a_passage_of_more_sentences_than_it_has_is_damage(
    good: Path, small_vectors: VectorTable, tmp_path: Path, change_of_count: str
) -> None:
    folder = copied(good, tmp_path / "bad")
    change(folder, f"UPDATE passages SET sentence_count = sentence_count {change_of_count}")  # noqa: S608  # ours
    with (
        Index.open(folder, vectors=small_vectors, trust=True) as index,
        pytest.raises(IndexDamaged, match="its checksum"),
    ):
        index.search("a ship in the storm")


def test_a_bug_is_no_damage(good: Path, small_vectors: VectorTable, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_: object, **__: object) -> list[list[Hit]]:
        raise KeyError("a bug")

    monkeypatch.setattr("semsearch.search.pipeline.make_hits", broken)
    with Index.open(good, vectors=small_vectors, trust=True) as index, pytest.raises(KeyError, match="a bug"):
        index.search("a ship")


def test_a_bug_in_an_index_too_large_to_be_audited_is_no_damage(
    good: Path, small_vectors: VectorTable, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*_: object, **__: object) -> list[list[Hit]]:
        monkeypatch.setattr("semsearch.storage.database.StepLimit.MOST_CALLS", -1)
        raise KeyError("a bug")

    monkeypatch.setattr("semsearch.storage.database.StepLimit.STEPS", 1)
    monkeypatch.setattr("semsearch.storage.database.StepLimit.MOST_CALLS", 1 << 40)
    monkeypatch.setattr("semsearch.search.pipeline.make_hits", broken)
    with Index.open(good, vectors=small_vectors, trust=True) as index, pytest.raises(KeyError, match="a bug"):
        index.search("a ship")


def test_tables_that_change_while_an_index_is_open_are_checked_again(
    good: Path, tmp_path: Path, small_vectors: VectorTable
) -> None:
    folder = copied(good, tmp_path / "bad")
    with Index.open(folder, vectors=small_vectors, trust=True) as index:
        assert index.search("a ship")
        with closing(sqlite3.connect(folder / DATABASE)) as db:
            db.execute("CREATE TRIGGER t AFTER INSERT ON documents BEGIN DELETE FROM passages; END")
        with pytest.raises(IndexDamaged, match="has the trigger 't'"):
            index.search("a ship")


def test_rows_that_make_a_query_endless_end_it(
    good: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, small_vectors: VectorTable
) -> None:
    folder = copied(good, tmp_path / "bad")
    with closing(sqlite3.connect(folder / DATABASE)) as db:
        db.execute("UPDATE documents SET first_passage = 100, passages = 2000")
        (row,) = db.execute("SELECT * FROM documents LIMIT 1").fetchall()
        marks = ", ".join("?" * len(row))
        db.executemany(  # each document claims all passages
            f"INSERT INTO documents VALUES ({marks})",  # noqa: S608
            [(100 + n, row[1], f"{n}.md", *row[3:]) for n in range(2000)],
        )
        passage = db.execute("SELECT * FROM passages LIMIT 1").fetchone()
        marks = ", ".join("?" * len(passage))
        db.executemany(f"INSERT INTO passages VALUES ({marks})", [(100 + n, *passage[1:]) for n in range(2000)])  # noqa: S608
        db.execute("INSERT INTO record_metadata SELECT id, id, '{}', 0 FROM documents WHERE id >= 100")
        reseal(db)
        db.commit()
    monkeypatch.setattr("semsearch.storage.database.StepLimit.MOST_CALLS", 3)
    with (
        Index.open(folder, vectors=small_vectors, trust=True) as index,
        pytest.raises(IndexDamaged, match="takes longer to read than any index"),
    ):
        index.facets()


def test_a_journal_does_not_delete_the_file_that_it_names(good: Path, tmp_path: Path) -> None:
    letter = tmp_path / "letter.txt"
    letter.write_text("A letter.")
    folder = tmp_path / "bad"
    folder.mkdir()
    with closing(sqlite3.connect(folder / DATABASE)) as db:
        db.execute("CREATE TABLE x (y)")
        db.execute("DROP TABLE x")
    magic, name = bytes.fromhex("d9d505f920a163d7"), str(letter).encode()
    head = (magic + struct.pack(">5I", 0, 0, 2, 512, 4096)).ljust(512, b"\0")
    tail = struct.pack(">I", (1 << 30) // 4096 + 1) + name + struct.pack(">2I", len(name), sum(name)) + magic
    (folder / f"{DATABASE}-journal").write_bytes(head + tail)
    with (
        pytest.raises(IndexDamaged, match="is no journal of an index"),
        Index.create(folder) as index,
    ):
        index.sync(good.parent / "docs")
    assert letter.read_text() == "A letter."


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="there are no pipes in folders")
def test_a_pipe_in_the_place_of_a_journal_is_not_waited_for(good: Path, tmp_path: Path) -> None:
    folder = copied(good, tmp_path / "bad")
    os.mkfifo(folder / f"{DATABASE}-journal")
    assert "index.sqlite-journal is no journal" in str(summarize(folder))


@pytest.mark.parametrize("kind", ["packed", "pipe", "endless"])
def test_a_map_that_would_take_all_memory_or_time_is_none(tmp_path: Path, kind: str) -> None:
    write_map(tmp_path, 1, PassageMap(1, np.arange(3), np.zeros((3, 2), np.float32), ()))
    path = tmp_path / MAP
    assert read_map(tmp_path, 1) is not None
    with np.load(path, allow_pickle=False) as arrays:
        parts = dict(arrays)
    path.unlink()
    if kind == "packed":
        with path.open("wb") as file:
            np.savez_compressed(file, **(parts | {"ids": np.zeros(10_000_000, np.int64)}))
        assert path.stat().st_size < 1_000_000
    elif os.name == "nt":
        pytest.skip("Windows has no such files")
    elif kind == "pipe":
        os.mkfifo(path)
    else:
        path.symlink_to("/dev/zero")
    assert read_map(tmp_path, 1) is None


def test_a_read_that_ctrl_c_stops_is_stopped(good: Path) -> None:
    counting = "WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n) SELECT count(*) FROM n"

    def count() -> None:
        with IndexDatabase(good).reading() as db:
            db.set_progress_handler(lambda: True, 1)  # as one in which a signal's handler raises
            db.execute(counting).fetchone()

    with pytest.raises(KeyboardInterrupt):
        count()


@pytest.mark.parametrize("name", ["../index.sqlite", "/etc/passwd", "", "..", "a\\b", b"a", "a\0b", 100 * "\u20ac"])
def test_a_segment_is_a_file_of_the_index(good: Path, small_vectors: VectorTable, tmp_path: Path, name: object) -> None:
    folder = copied(good, tmp_path / "bad")
    change(folder, "UPDATE segments SET file = ?", name)
    with (
        Index.open(folder, vectors=small_vectors, trust=True) as index,
        pytest.raises(IndexDamaged, match="not a file in its folder"),
    ):
        index.search("a ship")


@pytest.mark.parametrize(
    ("statement", "value"), [("UPDATE roots SET path = ?", "a\0b"), ("UPDATE removed SET sentences = ?", "x")]
)
def test_a_path_or_number_that_none_can_be_is_damage(
    good: Path, small_vectors: VectorTable, tmp_path: Path, statement: str, value: object
) -> None:
    folder = copied(good, tmp_path / "bad")
    change(folder, "INSERT INTO removed VALUES (9000, 1, 9000, 1, 1)")
    change(folder, statement, value)
    with (
        Index.open(folder, vectors=small_vectors, trust=True) as index,
        pytest.raises(IndexDamaged, match="have an invalid"),
    ):
        index.sync() if "roots" in statement else index.search("a ship")


def test_a_folder_of_segments_that_is_elsewhere_is_not_swept(
    good: Path, small_vectors: VectorTable, tmp_path: Path
) -> None:
    folder = copied(good, tmp_path / "bad")
    mine = tmp_path / "mine"
    (folder / "segments").rename(mine)
    (mine / "letter.txt").write_text("A letter.")
    (folder / "segments").symlink_to(mine, target_is_directory=True)
    with pytest.raises(IndexDamaged, match="is a symbolic link"):
        Index.open(folder, vectors=small_vectors, trust=True)
    assert (mine / "letter.txt").read_text() == "A letter."
