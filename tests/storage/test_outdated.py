"""An index of an earlier version is refused with the command that makes it again from its files, which does so."""

from __future__ import annotations

import sqlite3
import zipfile
from contextlib import closing
from pathlib import Path

import pytest
from typer.testing import CliRunner

from semsearch import Index
from semsearch.cli.main import app
from semsearch.errors import IndexDamaged, IndexNotTrusted, IndexOutdated, UsageError
from semsearch.maintenance.index_folders import delete, renew
from semsearch.storage.connections import DATABASE
from semsearch.storage.database import IndexDatabase
from semsearch.trust import OutsideName, record


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """An index that the first version made, of a folder of two files and a text that a program added."""
    with zipfile.ZipFile(Path(__file__).with_name("format-1.zip")) as archive:
        archive.extractall(tmp_path)
    with closing(sqlite3.connect(tmp_path / "index" / DATABASE)) as db, db:
        db.execute("UPDATE roots SET path = ?", ((tmp_path / "docs").as_posix(),))
        db.execute(
            "UPDATE meta SET value = json_set(value, '$.vectors', ?) WHERE key = 'settings'", (str(tmp_path / "small"),)
        )
    return tmp_path / "index"


def without_added_text(path: Path) -> Path:
    with closing(sqlite3.connect(path / DATABASE)) as db, db:
        db.execute("DELETE FROM documents WHERE root_id = 0")
    return path


def test_it_is_refused_and_the_command_that_is_named_makes_it_again(path: Path) -> None:
    with pytest.raises(IndexOutdated, match=r"from its files with: semsearch index --rebuild --name"):
        Index.open(path)
    before = (without_added_text(path) / DATABASE).read_bytes()
    with pytest.raises(IndexNotTrusted, match=r"would read .*/docs; open the word vectors .*/small"):
        renew(path)
    assert (path / DATABASE).read_bytes() == before
    with closing(sqlite3.connect(path / DATABASE)) as db:  # as this user's own index is
        docs, vectors = (path.parent / "docs").as_posix(), str(path.parent / "small")
        record(IndexDatabase(path), db, [OutsideName("root", docs), OutsideName("vectors", vectors)])
    done = CliRunner().invoke(app, ["index", "--rebuild", "--name", str(path)])
    assert done.exit_code == 0, done.output
    with Index.open(path, trust=True) as index:
        assert index.verify() == []
        assert index.status().documents == 2
        assert index.search("captain of the ship")[0].sentence == "The captain sail the ship to the harbour."
        assert index.sync().unchanged == 2


def test_texts_that_are_in_no_file_are_not_lost(path: Path) -> None:
    before = (path / DATABASE).read_bytes()
    with pytest.raises(UsageError, match="has 1 texts that a program added"):
        renew(path)
    assert (path / DATABASE).read_bytes() == before
    assert delete(path) == []  # as the message says
    assert not path.exists()


def test_an_index_of_a_later_version_says_so(path: Path) -> None:
    with closing(sqlite3.connect(path / DATABASE)) as db:
        db.execute("PRAGMA user_version = 99")
    with pytest.raises(IndexDamaged, match=r"version 99.*use a newer semsearch"):
        Index.open(path)
