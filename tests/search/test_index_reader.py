"""A reader opens what is needed, once, and passes it on to that of the next generation."""

from __future__ import annotations

import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from small import small_vectors, write_articles

from semsearch.dense import faiss_store
from semsearch.dense.faiss_store import Vectors
from semsearch.index import Index
from semsearch.lexical.postings import LexicalSegment
from semsearch.search import index_reader as snapshots
from semsearch.search.index_reader import IndexReader
from semsearch.storage.database import IndexDatabase
from semsearch.topics.topic_fit import fit_topics


@pytest.fixture
def opened(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The names of files, as they are opened."""
    names: list[str] = []

    def counted(original: Any) -> Any:
        def open_(path: Path, *arguments: Any) -> Any:
            names.append(path.name)
            return original(path, *arguments)

        return open_

    monkeypatch.setattr(faiss_store, "Vectors", counted(Vectors))
    monkeypatch.setattr(snapshots, "LexicalSegment", counted(LexicalSegment))
    monkeypatch.setattr(snapshots, "open_topics", counted(snapshots.open_topics))
    return names


@pytest.fixture
def index(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Index]:
    assert fit_topics.__kwdefaults__ is not None
    monkeypatch.setitem(fit_topics.__kwdefaults__, "least", 9)
    write_articles(tmp_path / "docs", 12)
    with Index.create(tmp_path / "index", vectors=small_vectors(tmp_path)) as made:
        made.sync(tmp_path / "docs")
        yield made


def use(reader: IndexReader) -> list[Any]:
    """All that a reader gives."""
    ids = np.arange(1, 30)
    query = reader.passage_vectors.fetch(ids[:1]).rows
    terms = reader.lexical.telling_terms([""], ["the captain of the ship"], 3)
    return [
        reader.passage_vectors.search(query, 5).ids.tolist(),
        reader.sentence_vectors.fetch(ids).rows.tolist(),
        reader.lexical.scores(terms).best(5).tolist(),
        None if reader.topics is None else reader.topics.dimension,
    ]


def test_nothing_is_opened_before_it_is_needed(index: Index, opened: list[str]) -> None:
    with IndexDatabase(index.path).reading() as db:
        reader = IndexReader(db, index._database, index._vectors)
        assert opened == []
        assert reader.lexical
        assert [name.split("-")[0] for name in opened] == ["words"]


def test_threads_open_each_file_once_and_are_told_the_same(index: Index, opened: list[str]) -> None:
    with IndexDatabase(index.path).reading() as db:
        expected = use(IndexReader(db, index._database, index._vectors))
        opened.clear()
        reader = IndexReader(db, index._database, index._vectors)
    found, failures, ready = list[list[Any]](), list[BaseException](), threading.Barrier(6)

    def ask() -> None:
        try:
            ready.wait()
            found.extend(use(reader) for _ in range(3))
        except BaseException as error:
            failures.append(error)

    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)  # so that threads take turns in the middle of opening
    try:
        threads = [threading.Thread(target=ask) for _ in range(6)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    finally:
        sys.setswitchinterval(interval)
    assert failures == []
    assert found == [expected] * 18
    assert len(opened) == len(set(opened)) == 4


def test_the_next_generation_goes_on_with_the_files_that_it_still_has(index: Index, opened: list[str]) -> None:
    store = IndexDatabase(index.path)
    with store.reading() as db:
        before = IndexReader(db, index._database, index._vectors)
        told = use(before)
        embedder = before.embedder(db)
    opened.clear()
    write_articles(index.path.parent / "docs", 1, first=30)
    index.sync()
    with store.reading() as db:
        after = IndexReader(db, index._database, index._vectors, previous=before)
        assert after.generation == before.generation + 1
        use(after)
        assert after.embedder(db) is embedder
    assert sorted(name.split("-")[0] for name in opened) == ["passage", "sentence", "words"]
    assert use(before) == told
    store.close()


def test_what_is_removed_is_gone_from_passages_and_sentences_each_by_its_own_ids(index: Index) -> None:
    (index.path.parent / "docs" / "sea-0.md").unlink()
    index.sync()
    with IndexDatabase(index.path).reading() as db:
        reader, ids = IndexReader(db, index._database, index._vectors), np.arange(1, 1000)
        for vectors, held in (
            (reader.passage_vectors, "SELECT id, 1 FROM passages"),
            (reader.sentence_vectors, "SELECT first_sentence, sentence_count FROM passages"),
        ):
            expected = [id_ for first, count in db.execute(held) for id_ in range(first, first + count)]
            assert sorted(ids[vectors.fetch(ids).positions].tolist()) == sorted(expected)


def test_after_a_refit_the_embedder_is_another(index: Index) -> None:
    store = IndexDatabase(index.path)
    with store.reading() as db:
        before = IndexReader(db, index._database, index._vectors)
        embedder = before.embedder(db)
    index.refit()
    with store.reading() as db:
        assert IndexReader(db, index._database, index._vectors, previous=before).embedder(db) is not embedder
    store.close()


def test_an_empty_index_has_nothing_to_open(tmp_path: Path, opened: list[str]) -> None:
    with (
        Index.create(tmp_path / "index", vectors=small_vectors(tmp_path)) as index,
        IndexDatabase(index.path).reading() as db,
    ):
        reader = IndexReader(db, index._database, index._vectors)
        assert reader.passage_vectors.search(np.zeros((2, 5), np.float32), 5).ids.shape == (2, 0)
        assert len(reader.sentence_vectors.fetch(np.arange(5)).rows) == 0
        assert reader.topics is None
        assert reader.halves.k == 0
        assert reader.embedder(db) is None
    assert opened == []
