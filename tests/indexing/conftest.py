"""An index of the documents that a test file has."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from semsearch.index import Index
from semsearch.word_vectors.table import VectorTable


@pytest.fixture
def index(tmp_path: Path, docs: Path, small_vectors: VectorTable) -> Iterator[Index]:
    """An index of the folder `docs`, which is sound after the test too."""
    with Index.create(tmp_path / "index", vectors=small_vectors) as made:
        made.sync(docs)
        yield made
        assert made.verify() == []
