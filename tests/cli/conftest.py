"""A folder to work in, with documents and an index of them."""

from __future__ import annotations

from pathlib import Path

import pytest
from console import index_docs, work_in, write_docs

from semsearch.word_vectors.table import VectorTable


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory, small_vectors: VectorTable) -> Path:
    """A folder with documents and an index of them."""
    folder = tmp_path_factory.mktemp("work")
    write_docs(folder)
    return index_docs(folder, small_vectors)


@pytest.fixture
def here(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Commands run in that folder."""
    work_in(folder, monkeypatch)
