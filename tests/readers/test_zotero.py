"""A library of Zotero: notes by item, and what it says of the attached files, also after that has changed."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from cited import places
from fixtures import reading_here
from sample_files.zotero_library import TABLES

from semsearch import Index
from semsearch.errors import SourceError
from semsearch.readers.containers import zotero
from semsearch.readers.read import read_bytes
from semsearch.word_vectors.table import VectorTable

ABOUT = {"author": ["Ann Lee", "Tide Office"], "year": 2015, "journal": "Journal of Tides", "tags": ["moon", "sea"]}


def change(folder: Path, sql: str) -> None:
    with closing(sqlite3.connect(folder / "zotero.sqlite")) as db:
        db.executescript(sql)


@pytest.fixture
def library(tmp_path: Path) -> Iterator[Path]:
    zotero._references.cache_clear()
    folder = tmp_path / "Zotero"
    (folder / "storage/PAPERKEY").mkdir(parents=True)
    (folder / "storage/PAPERKEY/paper.txt").write_text("The harbour waits for the water.\n")
    change(folder, TABLES)
    yield folder
    zotero._references.cache_clear()


def test_notes_annotations_and_abstracts_stand_under_their_item(library: Path) -> None:
    document = read_bytes((library / "zotero.sqlite").read_bytes(), "zotero.sqlite")
    assert [each for each in places(document) if each[1]] == [
        ("How tides rise", "How tides rise"),
        ("How tides rise, abstract", "We measure tides."),
        ("How tides rise, note", "Doubts"),
        ("How tides rise, note", "The gauge was wet & old."),
        ("How tides rise, annotation, page 12", "rises twice a day"),
        ("How tides rise, annotation, page 12", "a < b?"),
        ("note", "Buy sextants."),
    ]
    assert document.format == "zotero"
    assert [block.metadata for block in document.blocks if "gauge" in block.text] == [ABOUT]


def test_a_log_of_changes_is_not_looked_for(library: Path) -> None:
    change(library, "PRAGMA journal_mode = WAL; INSERT INTO tags VALUES (3, 'wind');")
    with reading_here():
        assert len(read_bytes((library / "zotero.sqlite").read_bytes(), "zotero.sqlite").blocks) > 5


@pytest.mark.parametrize("data", [b"SQLite format 3\0" + bytes(500), b"", b"words", b"\0" * 4096])
def test_what_is_no_library_is_refused(data: bytes) -> None:
    with pytest.raises(SourceError, match="cannot be read as a library of Zotero"):
        read_bytes(data, "zotero.sqlite")


def test_a_library_with_a_damaged_page_is_refused() -> None:
    with closing(sqlite3.connect(":memory:")) as db:
        db.executescript(f"PRAGMA page_size = 512; {TABLES}")
        data = bytearray(db.serialize())
    data[960:974] = bytes.fromhex("581700ffffffffffffffffffffff")  # the length of a row
    with pytest.raises(SourceError, match="cannot be read as a library of Zotero: it is damaged"), reading_here():
        read_bytes(bytes(data), "zotero.sqlite")


def found(index: Index, question: str, **options: Any) -> list[tuple[str, str | None]]:
    return [(hit.document, hit.place) for hit in index.search(question, k=3, mode="lexical", **options)]


def test_attached_files_have_title_authors_and_year_also_after_a_change(
    library: Path, small_vectors: VectorTable
) -> None:
    paper = "storage/PAPERKEY/paper.txt"
    with Index.create(library.parent / "index", vectors=small_vectors) as index:
        assert index.sync(library).skipped == ()
        assert found(index, "harbour waits", filters=["year=2015", "author=Ann Lee", "tags=moon"]) == [(paper, None)]
        assert found(index, "gauge wet", filters=["year=2015"])[0] == ("zotero.sqlite", "How tides rise, note")
        assert {each.title for each in index.documents()} == {"Zotero", "How tides rise"}
        change(library, "UPDATE itemDataValues SET value = '1999' WHERE valueID = 2")
        assert index.sync(library).changed == 2
        assert found(index, "harbour waits", filters=["year=1999"]) == [(paper, None)]
        change(library, "UPDATE itemNotes SET note = '<p>Sell sextants.</p>' WHERE itemID = 4")
        assert index.sync(library).changed == 1
        assert index.sync(library).changed == 0


def test_attached_files_that_have_long_been_indexed_are_read_again_for_a_new_or_changed_library(
    library: Path, small_vectors: VectorTable
) -> None:
    paper, database, aside = library / "storage/PAPERKEY/paper.txt", library / "zotero.sqlite", library.parent / "aside"
    (library / "other.txt").write_text("A rose.")
    database.rename(aside)
    for path in (paper, library / "other.txt"):
        os.utime(path, (1_000_000_000, 1_000_000_000))
    with Index.create(library.parent / "index", vectors=small_vectors) as index:
        assert index.sync(library).added == 2
        aside.rename(database)
        done = index.sync(library)
        assert (done.added, done.changed, done.unchanged) == (1, 1, 1)
        assert found(index, "harbour waits", filters=["year=2015"]) == [("storage/PAPERKEY/paper.txt", None)]
        os.utime(database, (1_000_000_000, 1_000_000_000))
        assert index.sync(library).unchanged == 3
        change(library, "UPDATE itemDataValues SET value = '1999' WHERE valueID = 2")
        done = index.sync(library)
        assert (done.added, done.changed, done.unchanged) == (0, 2, 1)


def test_a_file_that_only_looks_attached_is_as_it_is(tmp_path: Path) -> None:
    assert zotero.reference_of(str(tmp_path / "storage/PAPERKEY/paper.pdf")) == {}
    (tmp_path / "zotero.sqlite").write_bytes(b"no database")
    assert zotero.reference_of(str(tmp_path / "storage/PAPERKEY/paper.pdf")) == {}
    assert zotero.reference_of(str(tmp_path / "other/PAPERKEY/paper.pdf")) == {}


def test_what_another_process_says_of_files_is_checked() -> None:
    said = {"title": 3, "year": "2015", "author": ["Ann", 3], "tags": ["sea"], "doi": "10/1", "path": "x"}
    assert zotero._checked(said) == {"tags": ["sea"], "doi": "10/1"}
