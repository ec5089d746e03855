"""Errors of the disk are storage_errors in one line, and the index stays as it was."""

from __future__ import annotations

import errno
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest
from small import small_vectors, write_articles

import semsearch.storage.database
from semsearch.errors import IndexDamaged, IndexNotFound, SourceError, StorageError
from semsearch.index import Index
from semsearch.maintenance.index_folders import summarize
from semsearch.readers.document import Text
from semsearch.storage.database import IndexDatabase, is_index
from semsearch.storage.failures import raise_explained, storage_errors


@pytest.fixture
def path(tmp_path: Path) -> Path:
    write_articles(tmp_path / "docs", 6)
    with Index.create(tmp_path / "index", vectors=small_vectors(tmp_path)) as index:
        index.sync(tmp_path / "docs")
    return tmp_path / "index"


def check_unchanged(path: Path) -> None:
    with Index.open(path) as index:
        assert index.verify() == []
        assert index.status(stale=False).documents == 6
        assert index.search("moon")


def test_a_folder_of_documents_is_told_from_its_index(path: Path) -> None:
    (path.parent / "indexes").mkdir()
    path.rename(path.parent / "indexes" / "docs")
    with pytest.raises(IndexNotFound, match=r"did you mean .*docs\?"):
        Index.open(path.parent / "docs")
    with pytest.raises(IndexNotFound, match="create one with: semsearch index PATH"):
        Index.open(path.parent / "letters")


def test_read_only_media_can_be_searched(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    connect = semsearch.storage.database.connect
    asked: list[str] = []

    def refusing(database: Path, mode: str) -> sqlite3.Connection:
        asked.append(mode)
        if mode == "ro":  # a file that is not there fails as SQLite does where it cannot keep its shared memory
            database = database / "nowhere"
        return connect(database, mode)

    monkeypatch.setattr(semsearch.storage.database, "connect", refusing)
    check_unchanged(path)
    assert set(asked) == {"ro", "immutable=1"}


def test_a_writer_leaves_everything_in_the_database_file(path: Path) -> None:
    names = {entry.name for entry in path.iterdir()}
    assert not names & {"index.sqlite-wal", "index.sqlite-shm"}


def test_what_is_no_index_is_told_from_what_is_damaged(path: Path, tmp_path: Path) -> None:
    assert is_index(path)
    assert not is_index(tmp_path)
    other = tmp_path / "other"
    other.mkdir()
    with closing(sqlite3.connect(other / "index.sqlite")) as db:
        db.execute("CREATE TABLE songs (name)")
    with pytest.raises(IndexDamaged, match="another program"):
        Index.open(other)
    with closing(sqlite3.connect(path / "index.sqlite")) as db:
        db.execute("UPDATE meta SET value = 'semsearch index 99' WHERE key = 'format'")
        db.commit()
    with pytest.raises(IndexDamaged, match="newer semsearch"):
        Index.open(path)
    with closing(sqlite3.connect(path / "index.sqlite")) as db:
        db.execute("DELETE FROM meta WHERE key = 'format'")
        db.commit()
    with pytest.raises(IndexNotFound, match="was interrupted"):
        Index.open(path)


def test_a_read_inside_a_read_sees_the_same_generation(path: Path) -> None:
    store = IndexDatabase(path)
    with store.reading() as outer, Index.open(path) as writer:
        before = outer.execute("SELECT value FROM meta WHERE key = 'generation'").fetchone()
        writer.add([Text("a", "A ship.")])
        with store.reading() as inner:
            assert inner.execute("SELECT value FROM meta WHERE key = 'generation'").fetchone() == before
    store.close()


def test_indexes_are_listed_with_their_sizes_and_damaged_ones_with_their_problem(path: Path, tmp_path: Path) -> None:
    bad = tmp_path / "zbad"
    bad.mkdir()
    (bad / "index.sqlite").write_text("not a database, however long this text may be, and however hard one looks at it")
    good, damaged = summarize(path), summarize(bad)
    assert good is not None
    assert damaged is not None
    assert (good.name, good.documents, good.passages, good.problem) == ("index", 6, 18, "")
    assert good.size_bytes > 0
    assert damaged.name == "zbad"
    assert "damaged" in damaged.problem
    assert summarize(tmp_path / "nowhere") is None


def test_a_disk_without_room_is_full_whatever_sqlite_calls_it(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("semsearch.storage.failures._SMALLEST", 1 << 62)
    error = sqlite3.OperationalError("disk I/O error")
    error.sqlite_errorname = "SQLITE_IOERR_SHMSIZE"
    with pytest.raises(StorageError, match="is full"), storage_errors(path):
        raise error


def test_a_source_that_cannot_be_read_is_not_blamed_on_the_index(path: Path) -> None:
    refusal = PermissionError(errno.EACCES, "Permission denied", "/elsewhere/a.txt")
    with (
        pytest.raises(SourceError, match=r"/elsewhere/a\.txt cannot be read: Permission denied"),
        storage_errors(path),
    ):
        raise refusal
    refusal.filename = str(path / "segments" / "a")
    with pytest.raises(StorageError, match="cannot be written"), storage_errors(path):
        raise refusal
    with pytest.raises(StorageError, match="cannot be read"):
        raise_explained(refusal, path, writes=False)
