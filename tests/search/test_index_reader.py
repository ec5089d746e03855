"""A reader opens what is needed, once, and passes it on to that of the next generation."""

from __future__ import annotations

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
