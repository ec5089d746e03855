"""Two small indexes, and a server of both."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from serving import Asker, running
from small import write_articles

from semsearch.index import Index
from semsearch.readers.document import Text
from semsearch.server.open_indexes import OpenIndexes
from semsearch.word_vectors.table import VectorTable


@pytest.fixture(scope="package")
def folder(tmp_path_factory: pytest.TempPathFactory, small_vectors: VectorTable) -> Path:
    """A folder with two indexes: docs, of twelve files and a text, and notes, of a text."""
    folder = tmp_path_factory.mktemp("served")
    write_articles(folder / "docs", 12)
    with Index.create(folder / "indexes" / "docs", vectors=small_vectors) as docs:
        docs.sync(folder / "docs")
        docs.add([Text("added", "A ship in the storm, and a <b>sailor</b>.", metadata={"year": 2021})])
    with Index.create(folder / "indexes" / "notes", vectors=small_vectors) as notes:
        notes.add([Text("a/b c", "The judge in the court. A ship.")])
    return folder


@pytest.fixture(scope="package")
def asker(folder: Path) -> Iterator[Asker]:
    """A client of a server of both indexes."""
    pytest.importorskip("uvicorn", reason="an optional dependency")
    with running(OpenIndexes(folder=folder / "indexes")) as asker:
        yield asker


@pytest.fixture(scope="package")
def docs(folder: Path) -> Iterator[Index]:
    """The index docs, opened here."""
    with Index.open(folder / "indexes" / "docs") as index:
        yield index
