"""The seconds of a report are those of the whole write: vectors opened, all embedded, committed, disk given back."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from console import semsearch
from small import small_vectors, write_articles

from semsearch.index import Index
from semsearch.indexing import generation
from semsearch.readers.document import Text
from semsearch.results.reports import SyncReport
from semsearch.settings import Settings
from semsearch.storage.database import IndexDatabase
from semsearch.system import clock

VECTORS, EMBEDDING, COMMIT, DISK = 1000.0, 100.0, 10.0, 1.0
WRITES: dict[str, tuple[Callable[[Index], SyncReport], float]] = {
    "sync": (lambda index: index.sync(), EMBEDDING + COMMIT + DISK),
    "add": (lambda index: index.add([Text("a", "The ship.")]), EMBEDDING + COMMIT + DISK),
    "refit": (lambda index: index.refit(), EMBEDDING + COMMIT + DISK),
    "rebuild": (lambda index: index.rebuild(), VECTORS + EMBEDDING + COMMIT + DISK),
}


class Clock:
    """A clock that stands still, but for what is known to take its time."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.now = 0.0
        monkeypatch.setattr(clock, "seconds", lambda: self.now)
        self._slow(monkeypatch, Settings, "find_vectors", VECTORS)
        self._slow(monkeypatch, generation.Generation, "finish", EMBEDDING)
        self._slow(monkeypatch, IndexDatabase, "close", COMMIT)  # once, when a transaction has been committed
        self._slow(monkeypatch, generation, "reclaim_space", DISK)

    def _slow(self, monkeypatch: pytest.MonkeyPatch, owner: object, name: str, seconds: float) -> None:
        act = getattr(owner, name)

        def slowly(*arguments: object, **keywords: object) -> object:
            self.now += seconds
            return act(*arguments, **keywords)

        monkeypatch.setattr(owner, name, slowly)


@pytest.fixture
def index(tmp_path: Path) -> Index:
    """An index of two documents, where there are three by now. Its word vectors are open."""
    write_articles(tmp_path / "docs", 2)
    made = Index.create(tmp_path / "index", vectors=small_vectors(tmp_path).folder)
    made.sync(tmp_path / "docs")
    write_articles(tmp_path / "docs", 1, first=2)
    return made


@pytest.mark.parametrize("action", WRITES)
def test_a_report_has_the_time_of_all_that_was_done(index: Index, action: str, monkeypatch: pytest.MonkeyPatch) -> None:
    act, seconds = WRITES[action]
    Clock(monkeypatch)
    assert act(index).seconds == seconds


def test_a_rebuild_and_the_sync_after_it_are_counted_together(index: Index, monkeypatch: pytest.MonkeyPatch) -> None:
    index._release()
    Clock(monkeypatch)
    report = semsearch("index", "--name", index.path, "--rebuild", "--json").json
    assert report["seconds"] >= VECTORS + 2 * (EMBEDDING + COMMIT + DISK)
