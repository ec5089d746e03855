"""A document has at most as many hits as are asked for, in every mode, and the page is full while there are others."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

import pytest
from small import article

from semsearch.index import Index
from semsearch.readers.document import Text
from semsearch.results.options import Mode
from semsearch.word_vectors.table import VectorTable


@pytest.fixture(scope="module")
def index(tmp_path_factory: pytest.TempPathFactory, small_vectors: VectorTable) -> Iterator[Index]:
    with Index.create(tmp_path_factory.mktemp("documents") / "index", vectors=small_vectors) as index:
        long = article("sea", 1, paragraphs=60)
        index.add([Text("long", long, format="markdown")])
        index.add([Text(f"short{n}", article("sea", n + 2, paragraphs=2), format="markdown") for n in range(12)])
        yield index


@pytest.mark.parametrize("mode", ["hybrid", "dense", "lexical"])
@pytest.mark.parametrize("most", [1, 2])
def test_each_document_has_so_many_hits_at_most(most: int, mode: Mode, index: Index) -> None:
    hits = index.search("ship in the storm, harbour and sailor", 8, mode=mode, per_document=most)
    assert len(hits) == 8
    assert max(Counter(hit.document for hit in hits).values()) <= most
    assert [hit.score for hit in hits] == sorted((hit.score for hit in hits), reverse=True)


def test_they_are_the_best_of_each(index: Index) -> None:
    best: dict[str, int] = {}
    for hit in index.search("ship in the storm", 200, duplicates=True):
        best.setdefault(hit.document, hit.passage_id)
    hits = index.search("ship in the storm", 200, duplicates=True, per_document=1)
    assert {hit.document: hit.passage_id for hit in hits} == best
    assert len(hits) == len(best)
