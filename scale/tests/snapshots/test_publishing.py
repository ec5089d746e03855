"""What a publication sends, who may publish where, and what is deleted there."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from memory_store import memory_engine
from published import add_published, reader_of
from scale_servers.watched_place import watched_place
from small import index_of_articles

from semsearch.dense import engines
from semsearch.errors import UsageError
from semsearch.index import Index
from semsearch.readers.document import Text
from semsearch.storage.schema import get_address
from semsearch.word_vectors.table import VectorTable
from semsearch_scale.publication import get_place, in_use, read_note
from semsearch_scale.snapshots import publisher
from semsearch_scale.snapshots.publisher import GRACE_SECONDS, publish
from semsearch_scale.snapshots.snapshot_store import BLOCKS, CLAIM, MANIFESTS, POINTER


@pytest.fixture
def index(tmp_path: Path, small_vectors: VectorTable) -> Iterator[Index]:
    with index_of_articles(tmp_path, 6, vectors=small_vectors) as made:
        yield made


@pytest.fixture
def place(tmp_path: Path) -> Path:
    return tmp_path / "place"


def names(place: Path, prefix: str) -> set[str]:
    return {path.name for path in (place / prefix).rglob("*") if path.is_file()}


def place_of(index: Index) -> str | None:
    with index._database.reading() as db:
        return get_place(db)


def published(place: Path) -> int:
    """The generation that a new reader sees."""
    with Index.open(place.as_uri()) as reader:
        return reader.status(known_words=False, stale=False).generation


def test_only_what_has_changed_travels(index: Index, place: Path) -> None:
    with watched_place(place) as (uri, watched):
        first = publish(index.path, uri)
        sent = {name for name in watched.put_names if name.startswith(BLOCKS)}
        assert first.sent_blocks == first.blocks == len(sent)
        assert first.sent_bytes == first.bytes
        watched.put_names.clear()
        add_published(index, uri, [Text("one", "A comet is near the planet.")])
        again = [name for name in watched.put_names if name.startswith(BLOCKS)]
        assert len(again) == len(set(again)) == 4  # of the database, and a new segment of each kind
        assert not sent & set(again)
        segments = {path.name for path in (index.path / "segments").iterdir()}
        assert len(segments) == 6
        assert len([name for name in watched.put_names if name.startswith(MANIFESTS)]) == 1


def test_what_is_published_is_not_published_again_unless_all_of_it_is_asked_for(index: Index, place: Path) -> None:
    first = publish(index.path, place)
    assert not publish(index.path, place).is_new
    assert index.sync().seconds > 0
    whole = publish(index.path, place, whole=True)
    assert (whole.is_new, whole.sent_blocks) == (True, first.blocks)


def test_two_indexes_never_share_a_place(index: Index, place: Path, tmp_path: Path, small_vectors: VectorTable) -> None:
    publish(index.path, place)
    with Index.create(tmp_path / "other", vectors=small_vectors) as other:
        other.add([Text("one", "A comet.")])
        with pytest.raises(UsageError, match=f"another index, written at .*{index.path.name}"):
            publish(other.path, place)
        assert place_of(other) is None
        assert published(place) == 1
        publish(other.path, place, take_over=True)
        with Index.open(place.as_uri()) as reader:
            assert len(reader) == 1
        with pytest.raises(match="another index"):
            add_published(index, place, [Text("two", "A star.")])
        assert "two" in index


def test_what_nothing_names_is_deleted_after_the_grace_period_and_not_before(
    index: Index, place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    publish(index.path, place)
    leftover = place / BLOCKS / "ab" / "left-over-by-a-crash.tmp"
    leftover.parent.mkdir(exist_ok=True)
    leftover.write_bytes(b"1")
    first = names(place, MANIFESTS)
    for number in range(3):
        add_published(index, place, [Text(str(number), f"A comet is near the planet {number}.")])
    assert len(names(place, MANIFESTS)) == 4
    before = names(place, BLOCKS)
    now = publisher.now()
    monkeypatch.setattr(publisher, "now", lambda: now + GRACE_SECONDS - 60)
    add_published(index, place, [Text("3", "A star.")])
    assert names(place, MANIFESTS) > first  # it was replaced less than that ago
    assert names(place, BLOCKS) > before
    monkeypatch.setattr(publisher, "now", lambda: now + GRACE_SECONDS + 1)
    add_published(index, place, [Text("4", "The moon.")])
    assert len(names(place, MANIFESTS)) == 3  # this one, and two that were replaced in the last minutes
    assert not names(place, MANIFESTS) & first
    assert not leftover.exists()
    monkeypatch.setattr(publisher, "now", lambda: now + 3 * GRACE_SECONDS)
    add_published(index, place, [Text("5", "The sun.")])
    add_published(index, place, [Text("6", "The orbit.")])
    assert not leftover.exists()
    assert not names(place, BLOCKS) >= before
    with Index.open(place.as_uri()) as reader:
        assert reader.verify() == []
        assert "6" in reader


def test_segments_of_an_engine_stay_as_long_as_readers_elsewhere_may_open_them(
    tmp_path: Path, place: Path, small_vectors: VectorTable, monkeypatch: pytest.MonkeyPatch
) -> None:
    engine, find = replace(memory_engine(), in_use=in_use), engines._find
    monkeypatch.setattr(engines, "_find", lambda uri: engine if uri.startswith("memory:") else find(uri))
    with Index.create(tmp_path / "index", vectors=small_vectors, store="memory:docs") as index:
        index.add([Text("one", "A comet is near the planet."), Text("two", "The judge is in the court.")])
        publish(index.path, place)
        with index._database.reading() as db:
            stores = engines.open_stores(get_address(db), index.path)
        old = set(stores["passage"].names())
        with reader_of(place) as reader:
            before = reader.search("planet")
            assert before == index.search("planet")
            index.refit()  # all vectors anew: without readers elsewhere, the old ones would go now
            publish(index.path, place)
            assert old < set(stores["passage"].names())
            assert reader.search("planet") == before
        assert set(read_note(index.path).generations[0].engine_segments) >= old
        now = publisher.now()
        monkeypatch.setattr(publisher, "now", lambda: now + GRACE_SECONDS + 1)
        add_published(index, place, [Text("three", "A star.")])
        add_published(index, place, [Text("four", "The moon.")])
        assert not old & set(stores["passage"].names())


def test_an_address_with_a_password_is_not_kept(index: Index) -> None:
    with pytest.raises(UsageError, match="must not contain a password"):
        publish(index.path, "sftp://ada:secret@host/docs")
    assert place_of(index) is None


def test_blocks_are_sent_before_the_manifest_and_the_pointer_comes_last(index: Index, place: Path) -> None:
    with watched_place(place) as (uri, watched):
        publish(index.path, uri)
    kinds = [name.partition("/")[0] for name in watched.put_names]
    assert kinds == sorted(kinds, key=["blocks", "manifests", POINTER].index)
    assert kinds[-1] == POINTER
    assert (place / CLAIM).exists()
    assert not list(index.path.glob("*.tmp"))
