"""Whenever a writer is killed, the index opens, verifies, and answers as before or as after."""

from __future__ import annotations

import os
import shutil
from dataclasses import dataclass
from pathlib import Path

import pytest
from processes.crashing import CAN_FORK, LEAST, Deaths
from small import small_vectors, write_articles

from semsearch.errors import IndexNotFound
from semsearch.index import Index
from semsearch.topics import topic_fit

pytestmark = pytest.mark.usefixtures("maps_in_few_steps")  # as in the processes that die
QUERIES = ["the captain of the ship", "bread from the oven", "a violin and a judge"]


@pytest.fixture(autouse=True)
def _adapted(monkeypatch: pytest.MonkeyPatch) -> None:
    """Indexes learn topics, so that their file is among what a kill may interrupt."""
    monkeypatch.setattr(topic_fit, "LEAST", LEAST)


@dataclass
class World:
    """A folder of documents, an index of them as it was, and what it answered."""

    folder: Path
    action: str
    before: object = None

    @property
    def template(self) -> Path:
        return self.folder / "template"

    @property
    def work(self) -> Path:
        return self.folder / "work"

    def write(self, deaths: Deaths, *points: int) -> None:
        """Carry the action out in copies of the index, each killed at one of these events."""
        deaths.die(self.folder, self.template, self.action, list(points))


def answers(path: Path) -> object:
    """All that an index says, after checking that its parts agree. None where there is no index."""
    try:
        index = Index.open(path, trust=True)
    except IndexNotFound:
        return None
    with index:
        assert index.verify() == []
        hits = [index.search(query, 5) for query in QUERIES]
        said = [(hit.document, hit.sentence, round(hit.score, 5)) for found in hits for hit in found]
        status = index.status(stale=False, known_words=False)
        assert (status.adapted is None) == (status.passages == 0)
        return said, status.documents, index.settings.method


def prepare(folder: Path, action: str) -> World:
    world = World(folder, action)
    small_vectors(folder)
    docs = folder / "docs"
    write_articles(docs, 4)
    if action == "first":
        return world
    with Index.create(world.template, vectors=folder / "small") as index:
        index.sync(docs)
        for number in range(7 if action == "merge" else 0):
            (docs / "sea-0.md").write_text(f"# Sea {number}\n\nThe captain left the ship.\n")
            index.sync()
        if action == "refit":  # more documents under the old fit, but not yet twice as many
            write_articles(docs, 3, first=4)
            index.sync()
    if action in ("sync", "merge"):
        (docs / "sea-0.md").write_text("# Sea\n\nThe judge sold the ship to an astronomer.\n")
    if action == "sync":
        (docs / "kitchen-1.md").unlink()
        (docs / "night-2.md").rename(docs / "night-22.md")
        write_articles(docs, 1, first=4)
    world.action = "sync" if action == "merge" else action
    return world


def points(events: int, most: int, last: int = 20) -> list[int]:
    """An even choice of all events, and all of the `last`, where the commit is. By hand, all: SEMSEARCH_TORTURE=1."""
    if os.environ.get("SEMSEARCH_TORTURE"):
        return list(range(1, events + 1))
    step = max(1, -(-(events - last) // most))
    return sorted({*range(1, events + 1, step), *range(max(1, events - last), events + 1)})


@pytest.mark.parametrize("action", ["first", "sync", "merge", "refit", "rebuild"])
def test_a_writer_killed_at_any_point_leaves_the_index_as_before_or_as_after(
    tmp_path: Path, deaths: Deaths, action: str
) -> None:
    world = prepare(tmp_path, action)
    before = answers(world.template) if action != "first" else None
    world.work.mkdir()
    world.write(deaths, 0)
    after = answers(world.work / "0")
    assert after != before
    events = int((world.work / "events").read_text())
    chosen = points(events, 6, last=8) if CAN_FORK else points(events, 4)[:: max(1, events // 6)]
    world.write(deaths, *chosen)
    seen = set()
    for point in chosen:
        found = answers(world.work / str(point))
        empty = found is not None and action == "first" and found[1] == 0  # type: ignore[index]
        assert found in (before, after) or empty, f"killed at event {point} of {events}"
        seen.add(found == after)
    assert seen == {True, False}, "the kills should come on both sides of the commit"


def test_after_a_kill_the_next_sync_completes_the_work_and_sweeps_the_leftovers(tmp_path: Path, deaths: Deaths) -> None:
    world = prepare(tmp_path, "sync")
    world.work.mkdir()
    world.write(deaths, 0)
    after = answers(world.work / "0")
    events = int((world.work / "events").read_text())
    for point in (events // 3, events - 6, events):
        world.write(deaths, point)
        killed = world.work / str(point)
        with Index.open(killed, trust=True) as index:
            index.sync()
            index.add([])
            named = {path.name for path in (killed / "segments").iterdir()}
            with index._database.reading() as db:
                assert named == {file for (file,) in db.execute("SELECT file FROM segments")}
        assert answers(killed) == after
        shutil.rmtree(killed)


def test_a_killed_creation_can_be_made_again(tmp_path: Path, deaths: Deaths) -> None:
    world = prepare(tmp_path, "first")
    world.work.mkdir()
    world.write(deaths, 0)
    for point in (3, 12, 25):
        world.write(deaths, point)
        killed = world.work / str(point)
        with pytest.raises(IndexNotFound):
            Index.open(killed, trust=True)
        with Index.create(killed, vectors=tmp_path / "small") as index:
            assert index.sync(tmp_path / "docs").added == 4
            assert index.verify() == []


def test_a_map_whose_making_is_killed_at_any_point_is_whole_or_absent(tmp_path: Path, deaths: Deaths) -> None:
    world = prepare(tmp_path, "map")
    before = answers(world.template)
    world.work.mkdir()
    world.write(deaths, 0)
    with Index.open(world.work / "0", trust=True) as index:
        coloured = index.map_coloured()
        assert coloured is not None
        made = coloured.map
        assert len(made) == index.status(known_words=False, stale=False).passages
    events = int((world.work / "events").read_text())
    seen = set()
    chosen = points(events, 3, last=4) if CAN_FORK else points(events, 4)[:: max(1, events // 6)]
    world.write(deaths, *chosen)
    for point in chosen:
        with Index.open(world.work / str(point), trust=True) as index:
            found = index.map_coloured()
            assert found is None or found.map.points.tobytes() == made.points.tobytes()
            seen.add(found is None)
            if point in (chosen[0], chosen[-1]):
                assert index.map().points.tobytes() == made.points.tobytes()
        if point in chosen[::4]:
            assert answers(world.work / str(point)) == before
    assert seen == {True, False}
