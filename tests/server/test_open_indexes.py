"""Indexes that are opened before somebody asks."""

from __future__ import annotations

import logging
from pathlib import Path

import pytest

from semsearch.errors import IndexDamaged
from semsearch.index import Index
from semsearch.readers.document import Text
from semsearch.search.searcher import Searcher
from semsearch.server.open_indexes import OpenIndexes
from semsearch.storage.connections import DATABASE
from semsearch.word_vectors.table import VectorTable

TEXTS = {"empty": "", "one": "The judge in the court.", "two": "A ship in the storm."}


@pytest.fixture
def folder(tmp_path: Path, small_vectors: VectorTable) -> Path:
    for name, text in TEXTS.items():
        with Index.create(tmp_path / name, vectors=small_vectors) as index:
            index.add([Text("text", text)] if text else [])
    return tmp_path


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """What indexes are asked from now on, in order."""
    queries: list[str] = []
    search = Searcher.search
    monkeypatch.setattr(
        Searcher,
        "search",
        lambda self, own, *rest, **more: (queries.extend(own), search(self, own, *rest, **more))[1],
    )
    return queries


def test_each_is_asked_what_it_knows(folder: Path, asked: list[str], caplog: pytest.LogCaptureFixture) -> None:
    indexes = OpenIndexes(folder=folder)
    with caplog.at_level(logging.WARNING):
        indexes.warm_up()
    indexes.close()
    assert asked == [TEXTS["one"], TEXTS["two"]]
    assert not caplog.records


def test_no_more_are_opened_when_the_time_is_up(folder: Path, asked: list[str]) -> None:
    indexes = OpenIndexes(places={"one": folder / "one", "two": folder / "two"})
    indexes.warm_up(seconds=-1)
    indexes.close()
    assert asked == [TEXTS["one"]]


def test_a_damaged_index_is_told_of_when_it_is_asked(folder: Path, asked: list[str]) -> None:
    (folder / "one" / DATABASE).write_bytes(b"no database")
    indexes = OpenIndexes(folder=folder)
    indexes.warm_up()
    assert asked == [TEXTS["two"]]
    with pytest.raises(IndexDamaged):
        indexes.get("one")
    indexes.close()
