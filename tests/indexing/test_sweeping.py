"""Segments that nobody can need any more are dropped, and nothing else."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from small import article, small_vectors

from semsearch.index import Index
from semsearch.readers.document import Text


def files(index: Index) -> set[str]:
    return {path.name for path in (index.path / "segments").iterdir()}


@pytest.fixture
def index(tmp_path: Path) -> Index:
    index = Index.create(tmp_path / "index", vectors=small_vectors(tmp_path))
    index.add([Text("sea", article("sea", 1))])
    return index


def test_a_write_drops_what_no_generation_names(index: Index) -> None:
    before = files(index)
    (index.path / "segments" / "words-00000002-stray.postings").touch()
    index.refit()
    assert len(files(index)) == len(before)
    assert not files(index) & {name for name in before if name.startswith("passage")}


def test_a_write_that_fails_drops_what_it_wrote_and_nothing_else(index: Index, monkeypatch: pytest.MonkeyPatch) -> None:
    (index.path / "segments" / "other").touch()
    before, during = files(index), set[str]()

    def fail(*_: object, **__: object) -> None:
        during.update(files(index))
        raise OSError("the power is gone")

    monkeypatch.setattr("semsearch.indexing.generation.save_fit", fail)
    with pytest.raises(OSError, match="power"):
        index.add([Text("law", article("law", 1))])
    assert during > before
    assert files(index) == before


def test_what_is_in_use_is_left_for_the_next_write(index: Index, monkeypatch: pytest.MonkeyPatch) -> None:
    unlink, before = Path.unlink, files(index)

    def refuse(path: Path, missing_ok: bool = False) -> None:
        if path.parent.name == "segments":
            raise PermissionError(13, "used by another process", os.fspath(path))
        unlink(path, missing_ok=missing_ok)

    with monkeypatch.context() as patch:
        patch.setattr("semsearch.indexing.segment_merging.Path.unlink", refuse)
        index.refit()
    assert files(index) > before
    index.add([])
    assert len(files(index)) == len(before)
    assert index.verify() == []
