"""Too little memory is an error in one line that says what to do."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from small import write_articles

from semsearch.dense import faiss_store
from semsearch.errors import StorageError
from semsearch.index import Index
from semsearch.word_vectors.table import VectorTable


def test_vectors_that_cannot_be_mapped_are_not_said_to_be_damaged(
    tmp_path: Path, small_vectors: VectorTable, monkeypatch: pytest.MonkeyPatch
) -> None:
    def failing(*_: object) -> Any:
        raise RuntimeError("Error in faiss::MmappedFileMappingOwner: could not mmap(): Cannot allocate memory")

    write_articles(tmp_path / "docs", 3)
    with Index.create(tmp_path / "index", vectors=small_vectors) as index:
        index.sync(tmp_path / "docs")
    monkeypatch.setattr(faiss_store, "_read", failing)
    with Index.open(tmp_path / "index") as index, pytest.raises(StorageError, match="Cannot allocate memory"):
        index.search("ship")
