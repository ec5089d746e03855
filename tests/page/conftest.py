"""A browser, and a server of two small indexes whose page it looks at."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

pytest.importorskip("playwright", reason="drives the browser")
pytest.importorskip("uvicorn", reason="an optional dependency")

from browsing import Visit, running_browser, visiting
from playwright.sync_api import Browser
from serving import Asker, running
from shown_texts import HOSTILE, WRAPPED
from small import write_articles

from semsearch.index import Index
from semsearch.readers.document import Text
from semsearch.server.open_indexes import OpenIndexes
from semsearch.word_vectors.table import VectorTable

CORE = ("test_asking.py", "test_everyone.py", "test_hits.py", "test_hostile.py", "test_problems.py")
collect_ignore = (  # the core: that one is answered, by keyboard and screen reader too, and safely
    []
    if os.environ.get("SEMSEARCH_TESTS") == "all"
    else [str(path) for path in Path(__file__).parent.rglob("test_*.py") if path.name not in CORE]
)


@pytest.fixture(scope="package")
def browser() -> Iterator[Browser]:
    """One browser for all tests of the page that this process runs."""
    with running_browser() as browser:
        yield browser


@pytest.fixture(scope="package")
def folder(tmp_path_factory: pytest.TempPathFactory, small_vectors: VectorTable) -> Path:
    """A folder with the indexes docs, of twelve files, notes, of three texts, and hostile, of texts that mean harm."""
    folder = tmp_path_factory.mktemp("shown")
    write_articles(folder / "docs", 12)
    with Index.create(folder / "indexes" / "docs", vectors=small_vectors) as docs:
        docs.sync(folder / "docs")
    with Index.create(folder / "indexes" / "notes", vectors=small_vectors) as notes:
        notes.add([Text("letters/1", WRAPPED, metadata={"year": 2021, "author": "Ada"})])
        notes.add([Text("letters/2", "Bread in the oven, and a song.", metadata={"year": 2022, "author": "Ada"})])
        notes.add([Text("letters/3", "Bread in the oven, and a song.", metadata={"year": 2022, "author": "Bo"})])
    with Index.create(folder / "indexes" / "hostile", vectors=small_vectors) as hostile:
        hostile.add(
            [Text(f"hostile/{name}", f"A ship in the storm. {text}", title=text) for name, text in HOSTILE.items()]
        )
    return folder


@pytest.fixture(scope="package")
def asker(folder: Path) -> Iterator[Asker]:
    """A client of a server of these indexes."""
    with running(OpenIndexes(folder=folder / "indexes")) as asker:
        yield asker


@pytest.fixture
def visit(browser: Browser, asker: Asker) -> Iterator[Visit]:
    """A tab of the width of a usual screen, in light colours."""
    with visiting(browser, asker) as visit:
        yield visit
