"""What a publication sends, who may publish where, and what is deleted there."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from memory_store import memory_engine
from servers.watched_place import watched_place
from small import index_of_articles

from semsearch.errors import PublicationFailed, StorageError, UsageError
from semsearch.index import Index
from semsearch.indexing.follow_files import Follower
from semsearch.readers.document import Text
from semsearch.snapshots.publisher import GRACE_SECONDS, Publisher, claimed
from semsearch.snapshots.store_uris import BLOCKS, CLAIM, MANIFESTS, POINTER
from semsearch.storage.publication import read_note
from semsearch.stores import registry
from semsearch.system import clock
from semsearch.word_vectors.table import VectorTable


@pytest.fixture
def index(tmp_path: Path, small_vectors: VectorTable) -> Iterator[Index]:
    with index_of_articles(tmp_path, 6, vectors=small_vectors) as made:
        yield made


@pytest.fixture
def place(tmp_path: Path) -> Path:
    return tmp_path / "place"


def names(place: Path, prefix: str) -> set[str]:
    return {path.name for path in (place / prefix).rglob("*") if path.is_file()}


def published(place: Path) -> int | None:
    """The generation that a new reader sees."""
    with Index.open(place.as_uri()) as reader:
        state = reader.status(drift=False, stale=False).published
        return None if state is None else state.generation


def test_only_what_has_changed_travels(index: Index, place: Path) -> None:
    with watched_place(place) as (uri, watched):
        first = index.publish(uri)
        sent = {name for name in watched.put_names if name.startswith(BLOCKS)}
        assert first.sent_blocks == first.blocks == len(sent)
        assert first.sent_bytes == first.bytes
        watched.put_names.clear()
        index.add([Text("one", "A comet is near the planet.")])  # publishes by itself
        again = [name for name in watched.put_names if name.startswith(BLOCKS)]
        assert len(again) == len(set(again)) == 4  # of the database, and a new segment of each kind
        assert not sent & set(again)
        segments = {path.name for path in (index.path / "segments").iterdir()}
        assert len(segments) == 6
        assert len([name for name in watched.put_names if name.startswith(MANIFESTS)]) == 1


def test_what_is_published_is_not_published_again_unless_all_of_it_is_asked_for(index: Index, place: Path) -> None:
    first = index.publish(place)
    assert not index.publish().is_new
    assert index.sync().seconds > 0
    whole = index.publish(whole=True)
    assert (whole.is_new, whole.sent_blocks) == (True, first.blocks)


def test_an_index_without_a_place_says_how_to_give_it_one(index: Index) -> None:
    with pytest.raises(UsageError, match="has no snapshot store yet"):
        index.publish()
    assert index.unpublish() is None
    assert index.status(drift=False, stale=False).published is None


def test_what_is_published_no_more_stays(index: Index, place: Path) -> None:
    index.publish(place)
    assert index.unpublish() == place.as_uri()
    index.add([Text("one", "A comet.")])
    assert published(place) == 1


def test_two_indexes_never_share_a_place(index: Index, place: Path, tmp_path: Path, small_vectors: VectorTable) -> None:
    index.publish(place)
    with Index.create(tmp_path / "other", vectors=small_vectors) as other:
        other.add([Text("one", "A comet.")])
        with pytest.raises(UsageError, match=f"another index, written at .*{index.path.name}"):
            other.publish(place)
        assert other.status(drift=False, stale=False).published is None
        assert published(place) == 1
        other.publish(place, take_over=True)
        with Index.open(place.as_uri()) as reader:
            assert len(reader) == 1
        with pytest.raises(PublicationFailed, match="another index"):
            index.add([Text("two", "A star.")])
        assert "two" in index


def test_two_copies_of_an_index_never_share_a_place(index: Index, place: Path, tmp_path: Path) -> None:
    index.publish(place)
    index._release()
    shutil.copytree(index.path, tmp_path / "copy")
    index.add([Text("one", "A comet.")])
    with Index.open(tmp_path / "copy", vectors=index._vectors(), trust=True) as copy:
        with pytest.raises(PublicationFailed, match="another copy of this index has published generation 2"):
            copy.add([Text("two", "A star.")])
        copy.publish(take_over=True)
        with Index.open(place.as_uri()) as reader:
            assert "two" in reader
            assert "one" not in reader


def test_a_lost_note_is_no_loss(index: Index, place: Path) -> None:
    index.publish(place)
    (index.path / "published.json").write_text("{")
    index.add([Text("one", "A comet.")])
    assert published(place) == 2
    (index.path / "published.json").unlink()
    assert not index.publish().is_new


def test_a_failed_publication_leaves_the_write_and_the_next_one_catches_up(index: Index, place: Path) -> None:
    index.publish(place)
    place.rename(place.with_name("elsewhere"))
    with pytest.raises(
        PublicationFailed, match=r"generation 2 is written, but could not be published to .*is it mount"
    ):
        index.add([Text("one", "A comet.")])
    assert "one" in index
    state = index.status(drift=False, stale=False).published
    assert state is not None
    assert state.generation == 1
    assert "is it mounted?" in state.failure
    assert not place.exists()
    place.with_name("elsewhere").rename(place)
    index.sync()  # which has nothing to do
    newest = index.status(drift=False, stale=False)
    assert published(place) == newest.generation >= 2
    assert newest.published == type(state)(place.as_uri(), newest.generation)


def test_a_watched_index_goes_on_where_its_place_cannot_be_reached(
    index: Index, place: Path, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    index.publish(place)
    place.rename(place.with_name("elsewhere"))
    (tmp_path / "docs" / "new.md").write_text("# New\n\nA comet.\n")
    follower = Follower(index._database, index._writer, 1 << 20, 1)
    changed = [frozenset[str](), frozenset({(tmp_path / "docs" / "new2.md").as_posix()})]
    reports = []
    for report in follower.follow(changed):
        reports.append(report)
        (tmp_path / "docs" / "new2.md").write_text("# New\n\nA star.\n")
    assert [report.added for report in reports] == [1, 1]
    assert "could not be published" in caplog.text


def test_what_nothing_names_is_deleted_after_the_grace_period_and_not_before(
    index: Index, place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    index.publish(place)
    leftover = place / BLOCKS / "ab" / "left-over-by-a-crash.tmp"
    leftover.parent.mkdir(exist_ok=True)
    leftover.write_bytes(b"1")
    first = names(place, MANIFESTS)
    for number in range(3):
        index.add([Text(str(number), f"A comet is near the planet {number}.")])
    assert len(names(place, MANIFESTS)) == 4
    before = names(place, BLOCKS)
    now = clock.now()
    monkeypatch.setattr(clock, "now", lambda: now + GRACE_SECONDS - 60)
    index.add([Text("3", "A star.")])
    assert names(place, MANIFESTS) > first  # it was replaced less than that ago
    assert names(place, BLOCKS) > before
    monkeypatch.setattr(clock, "now", lambda: now + GRACE_SECONDS + 1)
    index.add([Text("4", "The moon.")])
    assert len(names(place, MANIFESTS)) == 3  # this one, and two that were replaced in the last minutes
    assert not names(place, MANIFESTS) & first
    assert leftover.exists()  # nothing has named it only since somebody looked
    monkeypatch.setattr(clock, "now", lambda: now + 3 * GRACE_SECONDS)
    index.add([Text("5", "The sun.")])
    index.add([Text("6", "The orbit.")])
    assert not leftover.exists()
    assert not names(place, BLOCKS) >= before
    with Index.open(place.as_uri()) as reader:
        assert reader.verify() == []
        assert "6" in reader


def test_a_clock_that_was_ahead_keeps_nothing_for_longer_than_the_grace_period(
    index: Index, place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    now = clock.now()
    monkeypatch.setattr(clock, "now", lambda: now + 1e9)
    for number in range(3):
        index.add([Text(str(number), f"A comet is near the planet {number}.")])
        index.publish(place)
    ahead = names(place, MANIFESTS)
    monkeypatch.setattr(clock, "now", lambda: now)
    index.add([Text("3", "A star.")])
    assert names(place, MANIFESTS) > ahead
    monkeypatch.setattr(clock, "now", lambda: now + GRACE_SECONDS + 1)
    index.add([Text("4", "The moon.")])
    assert len(names(place, MANIFESTS)) == 2
    with Index.open(place.as_uri()) as reader:
        assert reader.verify() == []


def test_segments_of_an_engine_stay_as_long_as_readers_elsewhere_may_open_them(
    tmp_path: Path, place: Path, small_vectors: VectorTable, monkeypatch: pytest.MonkeyPatch
) -> None:
    engine = memory_engine()
    monkeypatch.setitem(registry._ENGINES, "memory", engine)
    with Index.create(tmp_path / "index", vectors=small_vectors, store="memory:docs") as index:
        index.add([Text("one", "A comet is near the planet."), Text("two", "The judge is in the court.")])
        index.publish(place)
        with index._database.reading() as db:
            stores = registry.open_stores(registry.get_address(db), index.path)
        old = set(stores["passage"].names())
        with Index.open(place.as_uri(), look_every=1000) as reader:
            before = reader.search("planet")
            assert before == index.search("planet")
            index.refit()  # all vectors anew: without readers elsewhere, the old ones would go now
            index.compact()
            assert old < set(stores["passage"].names())
            assert reader.search("planet") == before
        assert set(read_note(index.path).generations[0].engine_segments) >= old
        now = clock.now()
        monkeypatch.setattr(clock, "now", lambda: now + GRACE_SECONDS + 1)
        index.add([Text("three", "A star.")])
        index.add([Text("four", "The moon.")])
        assert not old & set(stores["passage"].names())


def test_an_address_with_a_password_is_not_kept(index: Index) -> None:
    with pytest.raises(UsageError, match="must not contain a password"):
        index.publish("sftp://ada:secret@host/docs")
    assert index.status(drift=False, stale=False).published is None


def test_a_place_is_reached_or_it_is_said(index: Index, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="is it mounted"):
        index.publish(tmp_path / "disk" / "docs")
    assert index.status(drift=False, stale=False).published is None
    index.publish(tmp_path / "place")
    shutil.rmtree(tmp_path / "place")
    with pytest.raises(StorageError, match="is it mounted"):
        index.publish()
    assert index.publish(tmp_path / "place").is_new


def test_blocks_are_sent_before_the_manifest_and_the_pointer_comes_last(index: Index, place: Path) -> None:
    with watched_place(place) as (uri, watched):
        index.publish(uri)
    kinds = [name.partition("/")[0] for name in watched.put_names]
    assert kinds == sorted(kinds, key=["blocks", "manifests", POINTER].index)
    assert kinds[-1] == POINTER
    assert (place / CLAIM).exists()
    assert not list(index.path.glob("*.tmp"))


def test_publishing_waits_for_no_grace_where_none_is_given(index: Index, place: Path) -> None:
    index.publish(place)
    index.unpublish()
    index.add([Text("1", "A comet.")])
    index.publish(place, take_over=True)
    index.unpublish()
    index.add([Text("2", "A star.")])
    uri = claimed(index._database, place, take_over=False)
    Publisher(index._database, uri, grace=0).publish()
    assert len(names(place, MANIFESTS)) == 1
