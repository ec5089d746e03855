"""Whenever a publisher is killed, readers find the generation before or the one after, and the next one goes on."""

from __future__ import annotations

import os
from pathlib import Path

from processes.crashing import CAN_FORK, Deaths, place_of
from small import small_vectors, write_articles

from semsearch.index import Index
from semsearch_scale.snapshots.publisher import publish

QUERIES = ["the captain of the ship", "bread from the oven", "a violin and a judge"]


def answers(path: Path) -> list[tuple[str, str, float]]:
    """What an index answers, after checking that its parts agree."""
    with Index.open(path, trust=True) as index:
        assert index.verify() == []
        hits = [hit for query in QUERIES for hit in index.search(query, 5)]
        return [(hit.document, hit.sentence, round(hit.score, 5)) for hit in hits]


def points(events: int) -> list[int]:
    """Events at which to kill: a few of all, and the last ones, where the pointer is swapped."""
    if os.environ.get("SEMSEARCH_TORTURE"):
        return list(range(1, events + 1))
    last = 6 if CAN_FORK else 3
    return sorted({*range(1, events + 1, max(1, events // 3)), *range(max(1, events - last), events + 1)})


def test_readers_find_the_generation_before_or_the_one_after(tmp_path: Path, deaths: Deaths) -> None:
    template, work = tmp_path / "template", tmp_path / "work"
    small_vectors(tmp_path)
    write_articles(tmp_path / "docs", 4)
    with Index.create(template, vectors=tmp_path / "small") as index:
        index.sync(tmp_path / "docs")
        publish(template, place_of(template))
        write_articles(tmp_path / "docs", 2, first=4)
        index.sync()
    before, after = answers(place_of(template)), answers(template)
    assert before != after
    work.mkdir()
    deaths.die(tmp_path, template, "publish", [0])
    assert answers(place_of(work / "0")) == after
    chosen = points(int((work / "events").read_text()))
    deaths.die(tmp_path, template, "publish", chosen)
    seen = set()
    for point in chosen:
        place = place_of(work / str(point))
        found = answers(place)
        assert found in (before, after), f"killed at event {point}"
        seen.add(found == after)
        if point == chosen[0]:
            publish(work / str(point), place)
            assert answers(place) == after
    assert seen == {True, False}, "the kills should come on both sides of the pointer"
