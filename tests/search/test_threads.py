"""Threads that share an index are answered at the same time, each by one generation, from files opened once.

Nothing here waits for time to pass: who has to meet, meets at a barrier, which is broken where one does not come.
"""

from __future__ import annotations

import sqlite3
import threading
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import FIRST_EXCEPTION, ThreadPoolExecutor, wait
from pathlib import Path
from typing import Any

import pytest
from small import small_vectors, write_articles

from semsearch.dense.faiss_store import Vectors
from semsearch.errors import UsageError
from semsearch.index import Index
from semsearch.lexical.postings import LexicalSegment
from semsearch.readers.document import Text
from semsearch.search import index_reader, pipeline
from semsearch.search.candidates import Candidates, Query
from semsearch.search.index_reader import IndexView
from semsearch.storage import connections, connections as reader_pool

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


def test_files_are_opened_once_whoever_needs_them_first(index: Index, monkeypatch: pytest.MonkeyPatch) -> None:
    index.add([Text("more", "A comet and a planet.")])  # a second segment of each kind
    index._release()
    opened: Counter[str] = Counter()
    barrier = threading.Barrier(THREADS)

    def counting(kind: type[Any]) -> Callable[..., Any]:
        def open_(path: Path, segment: Any) -> Any:
            opened[path.name] += 1
            return kind(path, segment)

        return open_

    monkeypatch.setattr(index_reader, "LexicalSegment", counting(LexicalSegment))
    monkeypatch.setattr("semsearch.dense.faiss_store.Vectors", counting(Vectors))
    loaded = index_reader.load_embedder

    def load(*arguments: Any) -> Any:
        opened["embedder"] += 1
        return loaded(*arguments)

    monkeypatch.setattr(index_reader, "load_embedder", load)

    def ask() -> Any:
        barrier.wait(PATIENCE)
        return index.search("the captain")

    answers = together(*[ask] * THREADS)
    assert len(opened) >= 6
    assert set(opened.values()) == {1}
    assert answers == [answers[0]] * THREADS


def test_a_connection_is_used_again_and_none_is_left_open(index: Index, monkeypatch: pytest.MonkeyPatch) -> None:
    index._release()
    opened: list[sqlite3.Connection] = []
    open_reader = connections.open_reader
    monkeypatch.setattr(reader_pool, "open_reader", lambda folder: opened.append(open_reader(folder)) or opened[-1])
    for question in QUESTIONS:
        together(lambda q=question: index.search(q))  # each in a thread that ends
    assert len(opened) == 1
    many = threading.Barrier(2 * reader_pool._IDLE)

    def hold() -> None:
        with index._database.reading():
            many.wait(PATIENCE)

    together(*[hold] * (2 * reader_pool._IDLE))
    assert len(opened) == 2 * reader_pool._IDLE
    assert sum(map(is_open, opened)) == reader_pool._IDLE
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


def test_no_thread_sees_rows_of_one_generation_with_vectors_of_another(tmp_path: Path) -> None:
    """Even versions speak of the sea, odd ones of the kitchen, so that a row beside another's vector is seen."""
    texts = ("The captain has a ship, a sail and an anchor.", "The oven has bread, flour and butter.")
    versions, asked = 6, threading.Condition()
    answers: Counter[int] = Counter()  # so often has each reader been answered
    done = threading.Event()  # the writer has no more, or a reader has seen what must not be

    with Index.create(tmp_path / "index", vectors=small_vectors(tmp_path)) as index:

        def write() -> None:
            try:
                for version in range(2, versions + 2):
                    with asked:  # so that there is a reader at work in every generation
                        before = Counter(answers)
                        came = asked.wait_for(
                            lambda b=before: done.is_set() or sum((answers - b).values()) >= THREADS, PATIENCE
                        )
                    assert came
                    index.add([Text(str(number), f"{texts[version % 2]} v{version}x") for number in range(4)])
            finally:
                done.set()

        def read(reader: int) -> None:
            try:
                look(reader)
            finally:
                done.set()
                with asked:
                    asked.notify_all()

        def look(reader: int) -> None:
            seen = 0
            while not done.is_set():
                hits = index.search("captain ship", mode=("dense", "hybrid")[reader % 2], duplicates=True)
                found = {int(hit.passage.rsplit(" v", 1)[1].split("x")[0]) for hit in hits}
                assert len(hits) == 4
                (version,) = found
                assert all(hit.dense is not None and (hit.dense > 0.5) == (version % 2 == 0) for hit in hits)
                assert version >= seen
                seen = version
                with asked:
                    answers[reader] += 1
                    asked.notify_all()

        index.add([Text(str(number), f"{texts[1]} v1x") for number in range(4)])
        together(write, *[lambda r=reader: read(r) for reader in range(THREADS)])
        assert f"v{versions + 1}x" in index.search("captain")[0].passage
        assert index.verify() == []
