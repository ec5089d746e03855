"""The map of an index: made once, kept, brought up to date, made anew, and swept."""

from __future__ import annotations

import os
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
from small import write_articles

from semsearch.index import Index
from semsearch.mapping import mapper
from semsearch.mapping.mapper import MAP, PassageMap
from semsearch.readers.document import Text
from semsearch.results.documents import MapProgress
from semsearch.word_vectors.table import VectorTable

pytestmark = pytest.mark.usefixtures("maps_in_few_steps")


@pytest.fixture
def index(tmp_path: Path, small_vectors: VectorTable) -> Iterator[Index]:
    """An index of twenty-four small articles in a few topics."""
    write_articles(tmp_path / "docs", 24)
    with Index.create(tmp_path / "index", vectors=small_vectors) as index:
        index.sync(tmp_path / "docs")
        yield index


def there(index: Index) -> PassageMap:
    coloured = index.map_coloured()
    assert coloured is not None
    return coloured.map


def test_every_passage_is_on_the_map(index: Index) -> None:
    made = index.map()
    assert len(made) == index.status(known_words=False, stale=False).passages == len(made.points)
    hit = index.search("the captain of the ship", 1)[0]
    assert hit.passage_id in made.ids.tolist()


def test_passages_of_one_topic_lie_together(index: Index) -> None:
    made = index.map()
    place = dict(zip(made.ids.tolist(), made.points.tolist(), strict=True))
    sea = [place[hit.passage_id] for hit in index.search("sail harbour wave anchor", 6, mode="dense", duplicates=True)]
    across = max(abs(one[axis] - other[axis]) for one in sea for other in sea for axis in (0, 1))
    assert across < 0.8  # of 2


def test_a_map_is_kept_and_not_made_again(index: Index) -> None:
    seen: list[MapProgress] = []
    made = index.map(progress=seen.append)
    assert [*dict.fromkeys(each.phase for each in seen)] == ["reading", "comparing", "arranging", "naming", "writing"]
    again: list[MapProgress] = []
    assert index.map(progress=again.append).points.tobytes() == made.points.tobytes()
    assert [each.phase for each in again] == ["reading"]


def test_it_says_how_far_it_is(index: Index) -> None:
    assert index.map_status().state == "absent"
    states: list[tuple[str, str]] = []

    def look(_: MapProgress) -> None:
        status = index.map_status()
        assert status.progress is not None
        states.append((status.state, status.progress.phase))

    index.map(progress=look)
    assert ("running", "arranging") in states
    status = index.map_status()
    assert (status.state, status.passages, status.progress) == ("ready", status.of, None)


def test_after_a_write_the_map_is_outdated_and_the_next_call_makes_another(index: Index) -> None:
    before = index.map()
    index.add([Text("new", "The captain of the ship saw the harbour, the wave and the anchor.")])
    assert index.map_status().state == "outdated"
    assert len(there(index)) == len(before)
    after = index.map()
    assert (len(after), after.generation > before.generation) == (len(before) + 1, True)
    assert index.map_status().state == "ready"


def test_of_more_passages_than_there_is_room_for_an_even_sample_is_shown(
    index: Index, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(mapper, "MOST", 10)
    assert len(index.map()) == 10
    status = index.map_status()
    assert (status.passages, status.of > 10) == (10, True)


def test_passages_that_have_gone_are_not_shown(index: Index, tmp_path: Path) -> None:
    before = index.map()
    (tmp_path / "docs" / "sea-0.md").unlink()
    index.sync()
    left = there(index)
    assert 0 < len(left) < len(before)
    assert len(index.map()) == len(left) == index.map_status().of


def test_a_refit_makes_other_vectors_and_so_another_map(index: Index) -> None:
    index.map()
    index.refit()
    assert index.map_status().state == "absent"
    index.map()
    assert index.map_status().state == "ready"


def test_a_damaged_map_is_made_again(index: Index) -> None:
    made = index.map()
    (index.path / MAP).write_bytes(b"semsearch map 1\n nonsense")
    assert index.map_status().state == "absent"
    assert index.map().points.tobytes() == made.points.tobytes()


@pytest.mark.skipif(os.name == "nt" or os.geteuid() == 0, reason="permissions do not hold here")
def test_an_index_that_cannot_be_written_to_has_a_map_all_the_same(index: Index) -> None:
    index.path.chmod(0o500)
    try:
        assert len(index.map()) > 0
    finally:
        index.path.chmod(0o700)


def test_an_empty_index_has_an_empty_map(tmp_path: Path, small_vectors: VectorTable) -> None:
    with Index.create(tmp_path / "empty", vectors=small_vectors) as index:
        assert len(index.map()) == 0
        assert index.map_coloured() is None
        assert index.map_status().of == 0


def test_threads_that_ask_at_once_get_one_map(index: Index) -> None:
    found: list[bytes] = []
    arranged = 0

    def count(progress: MapProgress) -> None:
        nonlocal arranged
        arranged += progress.phase == "writing"

    def ask() -> None:
        found.append(index.map(progress=count).points.tobytes())

    threads = [threading.Thread(target=ask) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(set(found)) == 1
    assert arranged == 1


def test_a_search_in_a_part_of_the_map_finds_only_what_lies_there(index: Index) -> None:
    made = index.map()
    everywhere = index.search("the captain of the ship", 100, duplicates=True)
    place = dict(zip(made.ids.tolist(), made.points.tolist(), strict=True))
    middle = float(place[everywhere[0].passage_id][0])
    inside = made.ids[made.points[:, 0] < middle]
    found = index.search("the captain of the ship", 100, passages=inside, duplicates=True)
    expected = [hit.passage_id for hit in everywhere if hit.passage_id in inside]
    assert {hit.passage_id for hit in found} == set(expected)


def test_the_passages_behind_points_are_shown_in_the_order_asked_for(index: Index) -> None:
    first, second = index.search("the captain of the ship", 2)
    shown = index.map_passages([second.passage_id, 10**9, first.passage_id])
    assert [each.passage_id for each in shown] == [second.passage_id, first.passage_id]
    assert (shown[1].path, shown[1].title, shown[1].text) == (first.path, first.title, first.passage)
