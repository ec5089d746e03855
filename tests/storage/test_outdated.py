"""An index of an earlier version is refused with the commands that make it again; one of a later version is refused."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest
from console import INDEX, index_docs, semsearch, write_docs

from semsearch import Index
from semsearch.errors import IndexDamaged, IndexOutdated
from semsearch.storage.schema import DATABASE, SCHEMA
from semsearch.word_vectors.table import VectorTable


@pytest.fixture
def path(tmp_path: Path, small_vectors: VectorTable) -> Path:
    write_docs(tmp_path)
    return index_docs(tmp_path, small_vectors) / INDEX


def set_version(path: Path, version: int) -> None:
    with closing(sqlite3.connect(path / DATABASE)) as db:
        db.execute(f"PRAGMA user_version = {version}")


def test_one_of_an_earlier_version_is_deleted_as_the_message_says(path: Path) -> None:
    set_version(path, SCHEMA - 1)
    with pytest.raises(IndexOutdated, match=r"semsearch delete .*index its files again"):
        Index.open(path)
    assert semsearch("index", "--rebuild", "--name", path).status == 2
    assert semsearch("delete", path, "--yes").status == 0
    assert not path.exists()


def test_one_of_a_later_version_says_so(path: Path) -> None:
    set_version(path, 99)
    with pytest.raises(IndexDamaged, match=r"version 99.*use a newer semsearch"):
        Index.open(path)
