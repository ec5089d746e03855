"""Readers go on while a writer works; a second writer is told who holds the lock."""

from __future__ import annotations

import os
import socket
from pathlib import Path

import pytest
from small import small_vectors, write_articles

from semsearch.errors import IndexLocked
from semsearch.index import Index
from semsearch.readers.document import Text
from semsearch.system.locking import writer_lock


def test_the_next_query_sees_the_new_generation(tmp_path: Path) -> None:
    write_articles(tmp_path / "docs", 2)
    vectors = small_vectors(tmp_path)
    with Index.create(tmp_path / "index", vectors=vectors) as writer, Index.open(tmp_path / "index") as reader:
        writer.sync(tmp_path / "docs")
        assert reader.search("planet", filters=["path=new"]) == []
        writer.add([Text("new", "A comet is near the planet.")])
        assert reader.search("planet")[0].document == "new"
        writer.remove("new")
        assert all(hit.document != "new" for hit in reader.search("planet"))


def test_a_second_writer_is_told_who_holds_the_lock(tmp_path: Path) -> None:
    with Index.create(tmp_path / "index", vectors=small_vectors(tmp_path)) as index:
        with writer_lock(index.path), pytest.raises(IndexLocked) as refusal:
            index.add([Text("a", "bread")])
        assert f"process {os.getpid()} on {socket.gethostname()}" in str(refusal.value)
        assert index.add([Text("a", "bread")]).added == 1


def test_a_search_does_not_wait_for_a_writer(tmp_path: Path) -> None:
    with Index.create(tmp_path / "index", vectors=small_vectors(tmp_path)) as index:
        index.add([Text("a", "bread and butter")])

        def slowly() -> object:
            yield Text("b", "bread and salt")
            with Index.open(index.path, vectors=index._vectors()) as other:  # in the middle of the write
                assert [hit.document for hit in other.search("bread")] == ["a"]

        index.add(slowly())  # type: ignore[arg-type]
        assert {hit.document for hit in index.search("bread")} == {"a", "b"}
