"""What the tests of the adapters share. Nothing of a framework is sent anywhere."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from serving import running
from small import write_articles

os.environ["HAYSTACK_TELEMETRY_ENABLED"] = "False"
os.environ["LANGSMITH_TRACING"] = "false"

from semsearch.index import Index
from semsearch.readers.document import Text
from semsearch.searchable import Searchable
from semsearch.server.open_indexes import OpenIndexes
from semsearch.word_vectors.table import WordVectors, load_vectors

GUIDE = """---
title: Keys
year: 2024
source: https://example.org/keys
---
# Keys

## Rotation

We rotate the keys of every service once a month. First make a new key, then revoke the old one.
"""


@pytest.fixture(scope="session")
def english() -> WordVectors:
    """The word vectors that ship: the suites ask for words that the small world has not."""
    return load_vectors("english")


@pytest.fixture(scope="session")
def ships(tmp_path_factory: pytest.TempPathFactory, english: WordVectors) -> Path:
    """The folder of an index of a dozen articles, a guide with front matter, and two texts that say the same."""
    folder = tmp_path_factory.mktemp("ships")
    write_articles(folder / "docs", 12)
    (folder / "docs" / "keys.md").write_text(GUIDE, encoding="utf-8")
    with Index.create(folder / "index", vectors=english) as index:
        index.sync(folder / "docs")
        index.add([Text("twice", "A ship in the storm."), Text("again", "A ship in the storm.")])
    return folder / "index"


@pytest.fixture(scope="module", params=["path", "index", "server"])
def asked(request: pytest.FixtureRequest, ships: Path) -> Iterator[Searchable | Path]:
    """What adapters may be given: the folder of that index, the index, the index on a server."""
    if request.param == "path":
        yield ships
    elif request.param == "index":
        with Index.open(ships) as index:
            yield index
    else:
        with running(OpenIndexes(places={"ships": ships})) as asker, Index.connect(asker.url) as remote:
            yield remote
