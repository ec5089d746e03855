"""Compacting leaves as few files as there need be, nothing removed, and every answer as it was."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from processes.crashing import CAN_FORK, Deaths
from small import small_vectors, write_articles

from semsearch.index import Index

QUERIES = ["the captain of the ship", "bread from the oven", "a violin and a judge"]


def scattered(folder: Path) -> Path:
    """An index in many files, with passages of removed documents in them."""
    write_articles(folder / "docs", 6)
    with Index.create(folder / "index", vectors=small_vectors(folder)) as index:
        index.sync(folder / "docs")
        for number in range(6, 11):
            write_articles(folder / "docs", 1, first=number)
            index.sync()
        (folder / "docs" / "kitchen-1.md").unlink()
        index.sync()
    return folder / "index"


def answers(index: Index) -> list[list[tuple[int, int, float]]]:
    found = [index.search(query, 5, mode=mode) for query in QUERIES for mode in ("hybrid", "dense", "lexical")]
    return [[(hit.passage_id, hit.sentence_id, hit.score) for hit in hits] for hits in found]


def files(path: Path) -> list[str]:
    with Index.open(path) as index, index._database.reading() as db:
        return [file for (file,) in db.execute("SELECT file FROM segments ORDER BY file")]


def test_it_leaves_one_file_of_each_kind_and_the_answers_as_they_were(tmp_path: Path) -> None:
    path = scattered(tmp_path)
    with Index.open(path) as index:
        before, status = answers(index), index.status(drift=False, stale=False)
        assert status.segments > 3
        assert status.removed > 0
        assert index.compact() is True
        after, status = answers(index), index.status(drift=False, stale=False)
        assert (status.segments, status.removed) == (3, 0)
        assert status.vectors == status.passages + status.sentences
        assert index.verify() == []
    for one, other in zip(before, after, strict=True):
        assert [hit[:2] for hit in one] == [hit[:2] for hit in other]
        np.testing.assert_allclose([hit[2] for hit in one], [hit[2] for hit in other], atol=1e-4)


def test_what_is_compact_is_left_alone(tmp_path: Path) -> None:
    path = scattered(tmp_path)
    with Index.open(path) as index:
        index.compact()
        kept, generation = files(path), index.status(drift=False, stale=False).generation
        assert index.compact() is False
        assert (files(path), index.status(drift=False, stale=False).generation) == (kept, generation)


def test_an_empty_index_has_nothing_to_compact(tmp_path: Path) -> None:
    with Index.create(tmp_path / "index", vectors=small_vectors(tmp_path)) as index:
        assert index.compact() is False


def test_killed_at_any_point_it_leaves_the_index_as_before_or_as_after(tmp_path: Path, deaths: Deaths) -> None:
    before = files(scattered(tmp_path))
    (tmp_path / "work").mkdir()
    deaths.die(tmp_path, tmp_path / "index", "compact", [0])
    events = int((tmp_path / "work" / "events").read_text())
    points = sorted({*range(1, events, events // 4), *range(events - 4, events + 1)})
    points = points if CAN_FORK else points[:: max(1, len(points) // 5)]
    deaths.die(tmp_path, tmp_path / "index", "compact", points)
    with Index.open(tmp_path / "index") as index:
        expected = [hit.passage_id for hit in index.search(QUERIES[0], 5)]
    seen = set()
    for point in points:
        path = tmp_path / "work" / str(point)
        held = files(path)
        assert held == before or len(held) == 3, f"killed at event {point} of {events}"
        seen.add(held == before)
        with Index.open(path, trust=True) as index:
            assert index.verify() == []
            assert [hit.passage_id for hit in index.search(QUERIES[0], 5)] == expected
    assert seen == {True, False}, "the kills should come on both sides of the commit"
