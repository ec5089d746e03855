"""A creation can be taken back as long as nobody has put anything into the index."""

from __future__ import annotations

from pathlib import Path

from semsearch.index import Index
from semsearch.readers.document import Text
from semsearch.storage.database import READING_LOG
from semsearch.system.locking import writer_lock
from semsearch.word_vectors.table import VectorTable


def test_a_discarded_creation_leaves_nothing(tmp_path: Path, small_vectors: VectorTable) -> None:
    index = Index.create(tmp_path / "index", vectors=small_vectors)
    assert index.search("ship") == []
    (index.path / READING_LOG).mkdir()
    (index.path / READING_LOG / "chunk").touch()  # what an interrupted first write had read
    index.discard()
    assert list(tmp_path.glob("index*")) == []


def test_an_index_that_holds_something_is_not_discarded(tmp_path: Path, small_vectors: VectorTable) -> None:
    index = Index.create(tmp_path / "index", vectors=small_vectors)
    index.add([Text("a", "The ship.")])
    index.discard()
    assert index.search("ship")[0].document == "a"
    index.remove("a")
    index.discard()  # it was written to, and may be again
    assert index.status(known_words=False).documents == 0
    index.close()


def test_an_index_that_another_writes_to_is_not_discarded(tmp_path: Path, small_vectors: VectorTable) -> None:
    index = Index.create(tmp_path / "index", vectors=small_vectors)
    with writer_lock(index.path):
        index.discard()
    with Index.open(index.path) as opened:
        assert opened.add([Text("a", "The ship.")]).added == 1
