"""The ranking as a page: stages of one shape, and a record of points that sum to the score, whatever the search."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from small import small_vectors, write_articles

from semsearch.index import Index
from semsearch.readers.document import Text
from semsearch.results.hits import Hit

QUERIES = ["a ship in the storm", "bread", '"the captain" ship', "E4711 of the ship", "xyzzy ship", "sea-3.md"]
OPTIONS: list[dict[str, Any]] = [
    {},
    {"mode": "dense"},
    {"mode": "lexical"},
    {"filters": ["sea-*|*.txt"], "duplicates": True},
    {"boosts": ["sea-*^0.3", "recent^0.1"], "per_document": 1},
]


@pytest.fixture(scope="module")
def index(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Index]:
    folder = tmp_path_factory.mktemp("pipeline")
    write_articles(folder / "docs", 12)
    sections = "".join(f"## Part {number}\n\nThe captain of the ship, part {number}.\n\n" for number in range(5))
    (folder / "docs" / "guide.md").write_text(f"# Ships\n\nA ship in the storm.\n\n{sections}", encoding="utf-8")
    with Index.create(folder / "index", vectors=small_vectors(folder)) as made:
        made.sync(folder / "docs")
        made.add([Text("error", "The error E4711 of the ship means that the captain sleeps.")])
        yield made


def recorded(hit: Hit) -> float:
    assert hit.origin is not None
    return hit.origin.score


@pytest.mark.parametrize("options", OPTIONS)
@pytest.mark.parametrize("query", QUERIES)
def test_the_points_of_the_record_sum_to_the_score(index: Index, query: str, options: dict[str, Any]) -> None:
    hits = index.search(query, 20, **options)
    assert bool(hits) == ((query, options.get("mode")) != ("sea-3.md", "dense"))
    for hit in hits:
        assert recorded(hit) == hit.score
        explained = hit.explain()
        assert explained.score == hit.score
        assert sum(explained.points.values()) == pytest.approx(hit.score)
        assert sum(boost.points for boost in explained.boosts or ()) == pytest.approx(explained.points.get("boosts", 0))
        assert (explained.exact.points if explained.exact else 0) == explained.points.get("exact", 0)


def test_a_reranker_adds_to_the_record(index: Index) -> None:
    def shortest(_: str, hits: Any) -> list[float]:
        return [-len(hit.passage) for hit in hits]

    with Index.open(index.path, vectors=index._vectors(), reranker=shortest) as opened:
        for query in QUERIES:
            assert all(recorded(hit) == pytest.approx(hit.score) for hit in opened.search(query))


def test_a_passage_that_no_search_would_show_is_explained_by_its_record(index: Index) -> None:
    query = "a ship in the storm"
    for hit in index.search("bread", 3):
        found = index.explain(query, hit)
        assert found.query == query
        assert sum(found.points.values()) == pytest.approx(found.score)


def test_a_document_with_three_hits_gives_way_to_others(index: Index) -> None:
    of_guide = [
        hit for hit in index.search("the captain of the ship", 30, duplicates=True) if hit.document == "guide.md"
    ]
    taken_off = [hit.origin.points.get("crowding", 0.0) for hit in of_guide if hit.origin is not None]
    assert len(taken_off) > 4
    assert taken_off[:3] == [0.0] * 3
    assert all(points < 0 for points in taken_off[3:])
