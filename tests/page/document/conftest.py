"""A server, and an index opened here, of the documents that a test file has in the index `shelf`."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from serving import Asker, running

from semsearch.index import Index
from semsearch.server.open_indexes import OpenIndexes


@pytest.fixture(scope="module")
def asker(shelf: Path) -> Iterator[Asker]:
    """A client of a server of the index."""
    with running(OpenIndexes(folder=shelf / "indexes")) as asker:
        yield asker


@pytest.fixture(scope="module")
def index(shelf: Path) -> Iterator[Index]:
    """The index, opened here."""
    with Index.open(shelf / "indexes" / "shelf") as index:
        yield index
