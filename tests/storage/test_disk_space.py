"""Free pages are counted and given back; whether anyone reads an earlier state is seen by SQLite's own locks."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path

import pytest

from semsearch.storage.commit import write_transaction
from semsearch.storage.connections import connect
from semsearch.storage.database import IndexDatabase
from semsearch.storage.index_files import FreePages, free_pages, settle, vacuum

ROW = "x" * 1000


@pytest.fixture
def store(tmp_path: Path) -> IndexDatabase:
    """A database with a thousand rows."""
    made = IndexDatabase(tmp_path)
    made.create()
    with write_transaction(made) as db:
        db.executemany("INSERT INTO meta VALUES (?, ?)", [(f"{number:03}", ROW) for number in range(1000)])
    return made


def log_size(store: IndexDatabase) -> int:
    log = Path(f"{store.path}-wal")
    return log.stat().st_size if log.exists() else 0


@pytest.mark.parametrize(
    ("free", "pages", "share", "is_more"),
    [(0, 0, 0.0, False), (16, 17, 0.0, False), (17, 60, 0.25, True), (100, 400, 0.25, False), (101, 400, 0.25, True)],
)
def test_giving_back_pays_above_a_share_and_a_few_pages(free: int, pages: int, share: float, is_more: bool) -> None:
    assert FreePages(free, pages).are_more_than(share) is is_more


def test_a_vacuum_gives_free_pages_back_and_keeps_the_rows(store: IndexDatabase) -> None:
    with write_transaction(store) as db:
        db.execute("DELETE FROM meta WHERE key BETWEEN '100' AND '999'")
        seen = free_pages(db)
    before = store.path.stat().st_size
    assert seen.free > 0.8 * seen.all
    vacuum(store)
    assert store.path.stat().st_size < before / 5
    with store.reading() as db:
        assert db.execute("SELECT key FROM meta WHERE key < 'a' ORDER BY key").fetchall() == [
            (f"{number:03}",) for number in range(100)
        ]
        assert free_pages(db).free == 0


def test_where_no_one_reads_all_is_settled_and_the_log_is_empty(store: IndexDatabase) -> None:
    assert settle(store)
    with closing(connect(store.path, "ro")) as idle:  # open, in no transaction
        idle.execute("SELECT count(*) FROM meta").fetchone()
        with write_transaction(store) as db:
            db.execute("DELETE FROM meta WHERE key BETWEEN '011' AND '999'")
        assert log_size(store) > 0
        assert settle(store)
        assert log_size(store) == 0


@pytest.mark.parametrize("writes_before", [0, 1])
def test_a_reader_of_an_earlier_state_is_seen(store: IndexDatabase, writes_before: int) -> None:
    with closing(connect(store.path, "ro")) as reader, closing(connect(store.path, "ro")) as idle:
        idle.execute("SELECT count(*) FROM meta").fetchone()
        for number in range(writes_before):  # with a log, and without one, readers hold different locks
            with write_transaction(store) as db:
                db.execute("DELETE FROM meta WHERE key = ?", (f"{number:03}",))
        reader.execute("BEGIN")
        seen = reader.execute("SELECT count(*) FROM meta").fetchone()
        with write_transaction(store) as db:
            db.execute("DELETE FROM meta WHERE key BETWEEN '500' AND '999'")
        assert not settle(store)
        assert reader.execute("SELECT count(*) FROM meta").fetchone() == seen
        reader.execute("ROLLBACK")
        assert settle(store)


def test_a_reader_of_the_last_state_is_in_no_ones_way(store: IndexDatabase) -> None:
    with closing(connect(store.path, "ro")) as reader:
        reader.execute("SELECT count(*) FROM meta").fetchone()
        with write_transaction(store) as db:
            db.execute("DELETE FROM meta WHERE key BETWEEN '500' AND '999'")
        reader.execute("BEGIN")
        reader.execute("SELECT count(*) FROM meta").fetchone()
        assert settle(store)
        reader.execute("ROLLBACK")
