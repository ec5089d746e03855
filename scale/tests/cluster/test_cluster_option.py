"""`semsearch index --cluster`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from console import INDEX, semsearch, work_in, write_docs

from semsearch.word_vectors.table import VectorTable

if TYPE_CHECKING:
    from distributed import LocalCluster


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder to work in, with documents and no index."""
    write_docs(tmp_path)
    work_in(tmp_path, monkeypatch)
    return tmp_path


def test_files_are_read_on_a_cluster(folder: Path, small_vectors: VectorTable, cluster: LocalCluster) -> None:
    address = cluster.scheduler_address
    made = semsearch("index", "docs", "--vectors", small_vectors.folder, "--cluster", address)
    assert (made.status, made.err) == (0, "")
    assert "2 added" in made.out


def test_what_is_no_address_is_said_and_nothing_is_made(folder: Path, small_vectors: VectorTable) -> None:
    result = semsearch("index", "docs", "--vectors", small_vectors.folder, "--cluster", "scheduler:8786")
    assert result.status == 2
    assert "'scheduler:8786' is not the address of a scheduler; give one such as tcp://scheduler:8786" in result.err
    assert not (folder / INDEX).exists()
