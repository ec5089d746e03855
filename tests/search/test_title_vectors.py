"""What a document's title adds to the scores of its passages."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from semsearch.index import Index
from semsearch.readers.document import Text
from semsearch.results.hits import Hit
from semsearch.word_vectors.table import VectorTable

TEXT = "The captain saw the storm from the harbour. A sailor went with the ship."
QUESTION = "bread and a rose"


@pytest.fixture
def index(tmp_path: Path, small_vectors: VectorTable) -> Iterator[Index]:
    with Index.create(tmp_path / "index", vectors=small_vectors) as index:
        titles = {
            "baker": "Bread",
            "sea": "Ships in a storm",
            "number": "17",
            "harbour/anchor.txt": "",
            "none": "",
            "bread-rose.txt": "",
        }
        index.add([Text(id_, TEXT, title=title) for id_, title in titles.items()])
        yield index


def found(index: Index, **options: Any) -> dict[str, Hit]:
    return {hit.document: hit for hit in index.search(QUESTION, duplicates=True, **options)}


def test_of_passages_that_say_the_same_that_under_the_title_asked_for_is_first(index: Index) -> None:
    hits = found(index, mode="dense")
    dense = {document: hit.dense for document, hit in hits.items()}
    assert dense["none"] == dense["number"]
    first = [document for document in dense if document in ("baker", "sea", "none")]
    assert first[0] == "baker"
    assert all(each is not None for each in dense.values())
