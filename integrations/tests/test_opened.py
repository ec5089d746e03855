"""An adapter's index is opened by its path once, however many use it, and what is none is refused."""

from __future__ import annotations

import gc
from pathlib import Path
from weakref import ref

import pytest

from semsearch.errors import IndexNotFound, UsageError
from semsearch.index import Index
from semsearch.remote_index import RemoteIndex
from semsearch.word_vectors.table import VectorTable
from semsearch_integrations.adapted_index import name_of, searchable, writable, written


def test_all_that_name_an_index_share_it(tmp_path: Path, small_vectors: VectorTable) -> None:
    Index.create(tmp_path / "index", vectors=small_vectors).close()
    first = searchable(tmp_path / "index")
    assert searchable(str(tmp_path / "index")) is first
    assert searchable(tmp_path / "other" / ".." / "index") is first
    assert writable(tmp_path / "index") is first
    assert isinstance(searchable("http://127.0.0.1:9/"), RemoteIndex)


def test_an_index_that_nobody_uses_any_more_is_forgotten(tmp_path: Path, small_vectors: VectorTable) -> None:
    Index.create(tmp_path / "index", vectors=small_vectors).close()
    before = ref(searchable(tmp_path / "index"))
    gc.collect()
    assert before() is None


def test_what_is_open_stays_as_it_is(tmp_path: Path, small_vectors: VectorTable) -> None:
    with Index.create(tmp_path / "index", vectors=small_vectors) as index:
        assert searchable(index) is index
        assert writable(index) is index
        assert name_of(index) == str(tmp_path / "index")
        with pytest.raises(UsageError, match="cannot serialise"):
            written(index)


def test_only_a_store_makes_an_index(tmp_path: Path) -> None:
    with pytest.raises(IndexNotFound):
        searchable(tmp_path / "index")
    assert list(tmp_path.iterdir()) == []
    with writable(tmp_path / "index") as index:
        assert searchable(tmp_path / "index") is index


@pytest.mark.parametrize("given", [None, 3, ["a"], object()])
def test_what_cannot_be_searched_is_refused(given: object) -> None:
    with pytest.raises(UsageError, match="expected the path of an index"):
        searchable(given)  # type: ignore[arg-type]  # the point
    with pytest.raises(UsageError, match="expected a local index"):
        writable(given)  # type: ignore[arg-type]  # neither has an index of ours


def test_documents_are_not_kept_on_a_server() -> None:
    with pytest.raises(UsageError, match="expected a local index"):
        writable("http://127.0.0.1:9/")


def test_a_path_or_an_address_is_written_down(tmp_path: Path) -> None:
    assert written(tmp_path) == str(tmp_path)
    assert written("http://127.0.0.1:9/") == "http://127.0.0.1:9/"
    assert name_of(RemoteIndex("http://127.0.0.1:9/")) == "http://127.0.0.1:9/"
    assert name_of(RemoteIndex("http://127.0.0.1:9/", index="notes")) == "notes"
