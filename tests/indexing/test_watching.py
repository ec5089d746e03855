"""An index that is watched follows its files, whatever order they change in. Batches of paths are made by the tests."""

from __future__ import annotations

import threading
from collections.abc import Iterable, Iterator
from pathlib import Path
from queue import Queue

import pytest

from semsearch.index import Index
from semsearch.indexing.follow_files import RootsOf, sync_changes
from semsearch.readers.registry import MAX_BYTES
from semsearch.results.reports import SyncReport
from semsearch.system.locking import writer_lock

TICK: frozenset[str] = frozenset()


@pytest.fixture
def docs(tmp_path: Path) -> Path:
    folder = tmp_path / "docs"
    folder.mkdir()
    (folder / "ships.txt").write_text("The captain has a ship.")
    (folder / "bread.txt").write_text("The bread is in the oven.")
    return folder


def follow(index: Index, batches: Iterable[frozenset[str]]) -> Iterator[SyncReport]:
    return sync_changes(index._database, index._writer, batches, max_file_bytes=MAX_BYTES, processes=1)


def named(*paths: Path) -> frozenset[str]:
    return frozenset(path.as_posix() for path in paths)


def counts(done: SyncReport) -> tuple[int, int, int, int]:
    return done.added, done.changed, done.moved, done.removed


def test_everything_is_synced_first_and_then_what_changes(index: Index, docs: Path) -> None:
    def changes() -> Iterator[frozenset[str]]:
        yield TICK
        (docs / "moon.txt").write_text("The moon.")
        yield named(docs / "moon.txt")
        yield TICK
        (docs / "moon.txt").unlink()
        yield named(docs / "moon.txt")

    (docs / "ships.txt").write_text("A storm came from the coast.")  # before anyone watched
    assert [counts(done) for done in follow(index, changes())] == [(0, 1, 0, 0), (1, 0, 0, 0), (0, 0, 0, 1)]


def test_an_atomic_save_is_one_change(index: Index, docs: Path) -> None:
    def changes() -> Iterator[frozenset[str]]:
        yield TICK
        (docs / ".ships.txt.swp").write_text("A storm came from the coast.")
        (docs / ".ships.txt.swp").replace(docs / "ships.txt")
        yield named(docs / ".ships.txt.swp", docs / "ships.txt")

    assert [counts(done) for done in follow(index, changes())][1:] == [(0, 1, 0, 0)]


def test_what_is_no_news_takes_no_lock_and_says_nothing(index: Index, docs: Path) -> None:
    def changes() -> Iterator[frozenset[str]]:
        yield TICK
        with writer_lock(index.path):
            (docs / ".gitignore").write_text("draft*\n")
            (docs / "draft.txt").write_text("The moon.")
            (docs / ".git").mkdir()
            paths = [docs / "draft.txt", docs / ".git" / "index.md", docs / "gone.txt", docs / "picture.png"]
            yield named(docs, *paths, index.path / "index.sqlite", docs.parent / "elsewhere.txt")
            yield TICK

    assert len(list(follow(index, changes()))) == 1


def test_while_another_process_writes_changes_wait(index: Index, docs: Path) -> None:
    def changes() -> Iterator[frozenset[str]]:
        with writer_lock(index.path):
            yield TICK
            yield TICK
        yield TICK
        with writer_lock(index.path):
            (docs / "a.txt").write_text("The moon.")
            yield named(docs / "a.txt")
            (docs / "b.txt").write_text("A rose.")
            yield named(docs / "b.txt")
        yield TICK

    assert [counts(done) for done in follow(index, changes())] == [(0, 0, 0, 0), (2, 0, 0, 0)]


def test_new_rules_hold_for_what_lies_beside_them(index: Index, docs: Path) -> None:
    def changes() -> Iterator[frozenset[str]]:
        yield TICK
        (docs / ".semsearchignore").write_text("ships*\n")
        yield named(docs / ".semsearchignore")
        (docs / ".semsearchignore").unlink()
        yield named(docs / ".semsearchignore")

    assert [counts(done) for done in follow(index, changes())][1:] == [(0, 0, 0, 1), (1, 0, 0, 0)]


def test_a_file_that_vanishes_between_is_no_error(index: Index, docs: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def changes() -> Iterator[frozenset[str]]:
        yield TICK
        (docs / "ships.txt").write_text("A storm came from the coast.")
        (docs / "new.txt").write_text("The moon.")
        (docs / "bread.txt").write_text("Butter.")
        vanishing.update({"ships.txt", "new.txt"})
        yield named(docs / "ships.txt", docs / "new.txt", docs / "bread.txt")
        yield named(docs / "ships.txt", docs / "new.txt")

    vanishing: set[str] = set()
    read = "semsearch.indexing.read_files.read_file"
    from semsearch.readers.read import read_file

    def gone(path: Path, **rest: int) -> object:
        if path.name in vanishing:
            path.unlink()
        return read_file(path, **rest)

    monkeypatch.setattr(read, gone)
    done = list(follow(index, changes()))[1:]
    assert [counts(report) for report in done] == [(0, 1, 0, 1)]
    assert done[0].skipped == ()


def test_a_root_that_vanishes_is_kept_and_comes_back(index: Index, docs: Path, tmp_path: Path) -> None:
    def changes() -> Iterator[frozenset[str]]:
        yield TICK
        docs.rename(tmp_path / "away")
        yield named(docs, docs / "ships.txt")
        (tmp_path / "away").rename(docs)
        (docs / "moon.txt").write_text("The moon.")
        yield named(docs)

    _, vanished, back = follow(index, changes())
    assert "no longer exists; its 2 documents were kept" in vanished.warnings[0]
    assert (counts(back), back.unchanged, back.warnings) == ((1, 0, 0, 0), 2, ())


def test_roots_are_those_that_the_index_has_now(index: Index, docs: Path, tmp_path: Path) -> None:
    roots = RootsOf(index._database)
    assert roots() == (docs.as_posix(),)
    (tmp_path / "more").mkdir()
    (tmp_path / "more" / "a.txt").write_text("The moon.")
    with Index.open(index.path) as other:
        other.sync(tmp_path / "more")
    assert roots() == (docs.as_posix(), (tmp_path / "more").as_posix())


def test_files_that_really_change_are_followed_until_it_is_stopped(index: Index, docs: Path) -> None:
    pytest.importorskip("watchfiles", reason="an optional dependency")
    stop, reports = threading.Event(), Queue[SyncReport | None]()

    def watch() -> None:
        with Index.open(index.path) as opened:
            for done in opened.watch(stop=stop):
                reports.put(done)
        reports.put(None)

    thread = threading.Thread(target=watch)
    thread.start()
    try:
        assert reports.get(timeout=600) == SyncReport(unchanged=2, seconds=pytest.approx(0, abs=600))
        (docs / "new").mkdir()
        (docs / "new" / "moon.txt").write_text("The moon.")
        added = reports.get(timeout=600)
        assert added is not None
        assert added.added == 1
        assert index.search("moon", mode="lexical")[0].document == "new/moon.txt"
    finally:
        stop.set()
        thread.join()
    assert reports.queue[-1] is None
