"""`semsearch map`: make the map of an index."""

from __future__ import annotations

from pathlib import Path

import pytest
from console import index_docs, semsearch, work_in, write_docs

from semsearch.word_vectors.table import VectorTable

pytestmark = pytest.mark.usefixtures("maps_in_few_steps")


@pytest.fixture
def made(tmp_path: Path, small_vectors: VectorTable, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder to work in, with an index of its documents."""
    write_docs(tmp_path)
    work_in(index_docs(tmp_path, small_vectors), monkeypatch)
    assert semsearch("index").status == 0
    return tmp_path


def test_it_says_how_many_passages_there_are_and_how_to_see_them(made: Path) -> None:
    (line,) = semsearch("map").lines
    assert "a map of 3 passages, in " in line
    assert line.endswith("semsearch serve shows it")


def test_regions_come_as_json(made: Path) -> None:
    found = semsearch("map", "--json").json
    assert (found["passages"], found["regions"]) == (3, [])
