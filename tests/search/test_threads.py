"""Threads that share an index are answered at the same time, each by one generation, from files opened once.

Nothing here waits for time to pass: who has to meet, meets at a barrier, which is broken where one does not come.
"""

from __future__ import annotations

import sqlite3
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import FIRST_EXCEPTION, ThreadPoolExecutor, wait
from pathlib import Path
from typing import Any

import pytest
from small import small_vectors, write_articles

from semsearch.errors import UsageError
from semsearch.index import Index
from semsearch.search import pipeline
from semsearch.search.candidates import Candidates, Query
from semsearch.search.index_reader import IndexView
from semsearch.storage import database

THREADS = 4
PATIENCE = 60  # seconds, after which a test that hangs is broken
QUESTIONS = ["the captain of the ship", "bread and butter", "the moon", "a rose in the garden"]


@pytest.fixture
def index(tmp_path: Path) -> Iterator[Index]:
    write_articles(tmp_path / "docs", 6)
    with Index.create(tmp_path / "index", vectors=small_vectors(tmp_path)) as made:
        made.sync(tmp_path / "docs")
        yield made


def together(*work: Callable[[], Any]) -> list[Any]:
    """Each piece of work in a thread of its own, all at once; what each gives, or the first error."""
    with ThreadPoolExecutor(len(work)) as pool:
        futures = [pool.submit(each) for each in work]
        for future in wait(futures, PATIENCE, FIRST_EXCEPTION).done:
            future.result()
        return [future.result(PATIENCE) for future in futures]


def meeting(monkeypatch: pytest.MonkeyPatch, barrier: threading.Barrier) -> None:
    """All threads must have come to the scoring of their candidates before one goes on."""
    find = pipeline.find

    def met(*arguments: Any) -> Any:
        barrier.wait(PATIENCE)
        return find(*arguments)

    monkeypatch.setattr(pipeline, "find", met)


def test_threads_are_in_a_search_at_the_same_time(index: Index, monkeypatch: pytest.MonkeyPatch) -> None:
    expected = [index.search(question) for question in QUESTIONS]
    meeting(monkeypatch, threading.Barrier(THREADS))
    assert together(*[lambda q=question: index.search(q) for question in QUESTIONS]) == expected


def test_a_connection_is_used_again_and_none_is_left_open(index: Index, monkeypatch: pytest.MonkeyPatch) -> None:
    index._release()
    opened: list[sqlite3.Connection] = []
    open_reader = database.open_reader
    monkeypatch.setattr(database, "open_reader", lambda folder: opened.append(open_reader(folder)) or opened[-1])
    for question in QUESTIONS:
        together(lambda q=question: index.search(q))  # each in a thread that ends
    assert len(opened) == 1
    many = threading.Barrier(2 * database._IDLE)

    def hold() -> None:
        with index._database.reading():
            many.wait(PATIENCE)

    together(*[hold] * (2 * database._IDLE))
    assert len(opened) == 2 * database._IDLE
    assert sum(map(is_open, opened)) == database._IDLE
    index.close()
    assert not any(map(is_open, opened))


def is_open(connection: sqlite3.Connection) -> bool:
    try:
        connection.execute("SELECT 1")
    except sqlite3.ProgrammingError:
        return False
    return True


def test_an_index_that_is_closed_during_a_search_answers_it_all_the_same(
    index: Index, monkeypatch: pytest.MonkeyPatch
) -> None:
    expected = index.search("the captain")
    inside, closed, find = threading.Event(), threading.Event(), pipeline.find
    used: list[sqlite3.Connection] = []

    def waiting(query: Query, depth: int, index: IndexView) -> Candidates:
        used.append(index.db)
        inside.set()
        assert closed.wait(PATIENCE)
        return find(query, depth, index)

    monkeypatch.setattr(pipeline, "find", waiting)

    def close() -> None:
        assert inside.wait(PATIENCE)
        index.close()
        assert is_open(used[0])
        closed.set()

    assert together(lambda: index.search("the captain"), close)[0] == expected
    assert not is_open(used[0])
    with pytest.raises(UsageError, match="is closed; open it again"):
        index.search("the captain")
