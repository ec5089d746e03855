"""Boosts add points to the scores of hits, exactly, and the explanation says which."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime, timedelta
from pathlib import Path

import pytest

from semsearch.errors import UsageError
from semsearch.filters import parse_boost
from semsearch.index import Index
from semsearch.multi_index import MultiIndex
from semsearch.readers.document import Text
from semsearch.results.hits import Hit
from semsearch.results.options import Mode
from semsearch.word_vectors.table import VectorTable

QUERY = "a ship in the storm"
TODAY = datetime.now().astimezone()


def dated(days: int) -> str:
    return (TODAY - timedelta(days=days)).strftime("%Y-%m-%d")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory, small_vectors: VectorTable) -> Path:
    folder = tmp_path_factory.mktemp("boosts")
    with Index.create(folder / "notes", vectors=small_vectors, adapt=False) as index:
        index.add(
            [
                Text("guide/old", "A ship in the storm.", metadata={"date": dated(3000), "author": "Ada"}),
                Text("guide/new", "The ship and a storm again.", metadata={"date": dated(1)}),
                Text("plain", "A sailor in the harbour, and one ship."),
            ]
        )
    with Index.create(folder / "other", vectors=small_vectors, adapt=False) as index:
        index.add([Text("far", "A storm, a captain and a boat.")])
    return folder


@pytest.fixture(scope="module")
def index(folder: Path) -> Iterator[Index]:
    with Index.open(folder / "notes") as index:
        yield index


def scores(hits: list[Hit]) -> dict[str, float]:
    return {hit.document: hit.score for hit in hits}


@pytest.mark.parametrize("mode", ["hybrid", "dense", "lexical"])
def test_points_are_added_where_the_filter_holds(mode: Mode, index: Index) -> None:
    before = scores(index.search(QUERY, mode=mode))
    hits = index.search(QUERY, mode=mode, boosts=["plain^5", "author=Ada|Grace^-0.25"])
    expected = {"guide/old": -0.25, "guide/new": 0.0, "plain": 5.0}
    assert scores(hits) == {name: pytest.approx(score + expected[name]) for name, score in before.items()}
    assert hits[0].document == "plain"
    assert [hit.rank for hit in hits] == [1, 2, 3]


@pytest.mark.parametrize("mode", ["hybrid", "dense", "lexical"])
def test_the_explanation_adds_up_with_a_part_for_each_boost(mode: Mode, index: Index) -> None:
    for hit in index.search(QUERY, mode=mode, boosts=["guide/^0.1", "recent:1y^0.2"]):
        explanation = hit.explain()
        assert explanation.score == pytest.approx(hit.score)
        assert explanation.boosts is not None
        assert [part.boost for part in explanation.boosts] == ["guide/", "recent:1y"]
        assert all(part.points == part.weight * part.share for part in explanation.boosts)
        stored = Hit.from_dict(hit.to_dict(origin=True))
        assert index.explain(QUERY, stored) == explanation


def test_what_is_recent_gets_more_and_half_after_a_half_life(index: Index) -> None:
    hits = index.search(QUERY, boosts=["recent:1d^1"])
    parts = {hit.document: hit.origin.boosts[0].share for hit in hits if hit.origin and hit.origin.boosts}
    assert 0.2 < parts["guide/new"] <= 0.6  # a day, and as much of a second as has passed
    assert parts["guide/old"] < 1e-6
    assert parts["plain"] == 0  # a text that a program added has no date
    assert hits[0].document == "guide/new"


def test_the_time_of_a_file_is_its_date(tmp_path: Path, small_vectors: VectorTable) -> None:
    (tmp_path / "a.md").write_text("A ship.", encoding="utf-8")
    with Index.create(tmp_path / "index", vectors=small_vectors) as index:
        index.sync(tmp_path / "a.md")
        (hit,) = index.search("ship", boosts=["recent^1"])
        assert hit.origin is not None
        assert hit.origin.boosts is not None
        assert hit.origin.boosts[0].share == pytest.approx(1, abs=0.01)


def test_of_several_indexes_only_what_all_of_them_miss_is_said(folder: Path, caplog: pytest.LogCaptureFixture) -> None:
    with MultiIndex.open(folder / "notes", folder / "other") as both:
        assert both.search("ship", filters=["author=Ada"])
        assert both.search('"boat"')
        assert caplog.messages == []
        both.search('"storm ship ship"', filters=["guide/|autor=Ada"])
        assert caplog.messages == [
            "no document has the key 'autor'; did you mean author?",
            "no passage that the filters allow has the phrase 'storm ship ship'",
        ]


@pytest.mark.parametrize(
    "text", ["", "guide/", "^0.1", "guide/^", "guide/^much", "a^nan", "a^inf", "=x^1", "recent:0d^1"]
)
def test_a_boost_that_makes_no_sense_is_refused(text: str) -> None:
    with pytest.raises(UsageError):
        parse_boost(text)
