"""A search among some passages finds what a search of all would find of them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import get_args

import pytest
from small import index_of_articles

from semsearch.index import Index
from semsearch.results.options import Mode
from semsearch.word_vectors.table import VectorTable


@pytest.fixture(scope="module")
def index(tmp_path_factory: pytest.TempPathFactory, small_vectors: VectorTable) -> Iterator[Index]:
    """An index of twelve small articles."""
    with index_of_articles(tmp_path_factory.mktemp("among"), 12, vectors=small_vectors) as index:
        yield index


QUERY = "the captain of the ship"


@pytest.mark.parametrize("mode", get_args(Mode))
def test_only_the_given_passages_answer(index: Index, mode: Mode) -> None:
    everywhere = index.search(QUERY, 50, mode=mode, duplicates=True)
    among = [hit.passage_id for hit in everywhere][1::2]
    found = index.search(QUERY, 50, mode=mode, passages=among, duplicates=True)
    assert {hit.passage_id for hit in found} == set(among)


def test_ids_may_come_in_any_order_and_more_than_once_and_be_unknown(index: Index) -> None:
    first, second = (hit.passage_id for hit in index.search(QUERY, 2))
    found = index.search(QUERY, 5, passages=[max(first, second), 10**12, min(first, second), first])
    assert {hit.passage_id for hit in found} == {first, second}


def test_among_none_there_is_none(index: Index) -> None:
    assert index.search(QUERY, passages=[]) == []
    assert index.search(QUERY, passages=[10**12]) == []


def test_similar_passages_are_looked_for_among_them_too(index: Index) -> None:
    (hit,) = index.search(QUERY, 1)
    among = [one.passage_id for one in index.similar(hit, k=6)][2:4]
    assert {one.passage_id for one in index.similar(hit, passages=among)} <= set(among)
