"""A reader of a published index: it answers as the index does, follows it, and refuses to write."""

from __future__ import annotations

import json
import shutil
import sqlite3
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from published import SELDOM, add_published, followed, reader_of
from scale_servers.watched_place import watched_place
from small import index_of_articles, write_articles

from semsearch.errors import IndexDamaged, IndexNotFound, UsageError
from semsearch.index import Index
from semsearch.multi_index import MultiIndex
from semsearch.readers.document import Text
from semsearch.server.open_indexes import OpenIndexes
from semsearch.storage.checksums import update_digests
from semsearch.storage.database import write_transaction
from semsearch.word_vectors.table import VectorTable
from semsearch_scale.snapshots.publisher import publish
from semsearch_scale.snapshots.snapshot_format import (
    DATABASE_BLOCK,
    CurrentPointer,
    PublishedManifest,
    block_name,
    describe_file,
    digest_of,
    read_block,
)
from semsearch_scale.snapshots.snapshot_store import BLOCKS, MANIFESTS, POINTER


@pytest.fixture
def index(tmp_path: Path, small_vectors: VectorTable) -> Iterator[Index]:
    with index_of_articles(tmp_path, 6, vectors=small_vectors) as made:
        publish(made.path, tmp_path / "place")
        yield made


@pytest.fixture
def place(tmp_path: Path, index: Index) -> Path:
    del index
    return tmp_path / "place"


@pytest.fixture
def reader(index: Index, place: Path) -> Iterator[Index]:
    del index
    with reader_of(place.as_uri(), look_every=SELDOM) as opened:
        yield opened


def caches(tmp_path: Path) -> Path:
    (cache,) = (tmp_path / "user-cache" / "semsearch" / "published").iterdir()
    return cache


def generation_of(reader: Index) -> int:
    return reader.status(known_words=False, stale=False).generation


WRITES: list[Callable[[Index], object]] = [
    lambda index: index.sync(),
    lambda index: index.add([Text("one", "A comet.")]),
    lambda index: index.remove("sea-0.md"),
    lambda index: index.remove_texts(["one"]),
    lambda index: index.refit(),
    lambda index: index.rebuild(),
    lambda index: write_transaction(index._database).__enter__(),
]


def test_a_reader_refuses_to_write_and_says_where_that_is_done(reader: Index, index: Index) -> None:
    for write in WRITES:
        with pytest.raises(UsageError, match=f"which is read-only; the index is written at .*:{index.path}"):
            write(reader)


def test_a_reader_moves_to_what_was_published_since(reader: Index, index: Index, place: Path, tmp_path: Path) -> None:
    assert not followed(reader).look()
    for number in range(6, 9):
        write_articles(tmp_path / "docs", 1, first=number)
        index.sync()
        publish(index.path, place)
        assert followed(reader).look()
        for query in ("a ship in the storm", "bread"):
            assert reader.search(query) == index.search(query)
        assert reader.verify() == []


def test_a_question_is_answered_by_the_generation_it_began_with(reader: Index, index: Index, place: Path) -> None:
    with reader._database.reading():
        before = reader.search("planet")
        add_published(index, place, [Text("new", "A comet is near the planet.")])
        assert followed(reader).look()
        assert reader.search("planet") == before
    assert reader.search("planet") == index.search("planet") != before


def test_questions_are_answered_while_a_newer_generation_is_being_fetched(index: Index, tmp_path: Path) -> None:
    fetching, let = threading.Event(), threading.Event()

    def before_get(name: str) -> None:
        if name.startswith(BLOCKS):
            fetching.set()
            assert let.wait(60)

    with watched_place(tmp_path / "other") as (uri, watched):
        publish(index.path, uri)
        with reader_of(uri, look_every=0) as reader:
            before = reader.search("planet")
            watched.before_get = staticmethod(before_get)
            add_published(index, uri, [Text("new", "A comet is near the planet.")])
            assert reader.search("planet") == before  # which begins to look
            assert fetching.wait(60)
            for _ in range(3):
                assert reader.search("planet") == before
            let.set()
            while reader.search("planet") == before:  # a thread moves
                pass
            assert reader.search("planet") == index.search("planet")


def test_a_reader_goes_on_while_the_place_cannot_be_reached(
    reader: Index, index: Index, place: Path, caplog: pytest.LogCaptureFixture
) -> None:
    expected = index.search("planet")
    place.rename(place.with_name("elsewhere"))
    for _ in range(2):
        with pytest.raises(IndexNotFound):
            followed(reader).look()
    assert reader.search("planet") == expected
    assert [record.levelname for record in caplog.records] == ["WARNING"]  # said once
    assert "no snapshot is published" in followed(reader).failure
    with Index.open(place.as_uri()) as another:  # from what was fetched
        assert another.search("planet") == expected
        assert followed(another).failure == followed(reader).failure
    place.with_name("elsewhere").rename(place)
    add_published(index, place, [Text("new", "A comet.")])
    assert followed(reader).look()
    assert (generation_of(reader), followed(reader).failure) == (2, "")


@pytest.mark.parametrize("damage", ["missing", "changed", "shorter", "longer"])
def test_a_damaged_block_answers_nobody_and_is_mended_by_a_whole_publication(
    damage: str, index: Index, place: Path, reader: Index
) -> None:
    before = reader.search("planet")
    add_published(index, place, [Text("new", "A comet is near the planet.")])
    pointer = CurrentPointer.from_bytes((place / POINTER).read_bytes())
    manifest = PublishedManifest.from_bytes((place / MANIFESTS / pointer.manifest).read_bytes())
    block = place / block_name(manifest.segments[-1].digests[0])
    data = block.read_bytes()
    block.unlink()
    if damage != "missing":
        block.write_bytes({"changed": bytes(len(data)), "shorter": data[:-1], "longer": data + b"1"}[damage])
    with pytest.raises(IndexDamaged, match="run where the index is written: semsearch publish --whole"):
        followed(reader).look()
    assert reader.search("planet") == before
    publish(index.path, place, whole=True)
    assert followed(reader).look()
    assert reader.search("planet") == index.search("planet")
    assert reader.verify() == []


def test_a_place_that_another_index_took_over_is_said(
    index: Index, reader: Index, place: Path, tmp_path: Path, small_vectors: VectorTable
) -> None:
    before = reader.search("planet")
    with Index.create(tmp_path / "other", vectors=small_vectors) as other:
        other.add([Text("one", "A comet is near the planet.")])
        publish(other.path, place, take_over=True)
        with pytest.raises(IndexDamaged, match="now holds another index; open it again"):
            followed(reader).look()
        assert reader.search("planet") == before == index.search("planet")
        with Index.open(place.as_uri()) as again:
            assert again.search("planet") == other.search("planet")
        assert reader.search("planet") == before


def test_a_cache_keeps_what_was_used_lately_and_a_reader_that_slept_finds_the_newest(
    index: Index, reader: Index, place: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = reader.search("planet")
    with reader_of(place) as other:
        add_published(index, place, [Text("new", "A comet is near the planet.")])
        assert followed(other).look()
        (generations,) = caches(tmp_path).glob("*/generations")
        assert len(list(generations.iterdir())) == 2  # one for each reader
        assert reader.search("planet", mode="dense")
        assert reader.search("planet") == before
        monkeypatch.setattr("semsearch_scale.snapshots.snapshot_cache.UNUSED_SECONDS", 0.0)
        add_published(index, place, [Text("more", "A star.")])
        assert followed(other).look()
        assert len(list(generations.iterdir())) == 1
        with other._database.reading() as db:
            named = {file for (file,) in db.execute("SELECT file FROM segments")}
        assert {path.name for path in (generations.parent / "segments").iterdir()} == named
        assert reader.search("planet") == index.search("planet")
        assert reader.verify() == []


def test_a_deleted_cache_is_fetched_again(reader: Index, index: Index, tmp_path: Path) -> None:
    expected = index.search("planet")
    shutil.rmtree(caches(tmp_path))
    reader._searcher = None
    assert reader.search("planet") == expected
    assert reader.verify() == []


def published_by_hand(place: Path, database: Path, change: Callable[[dict[str, Any]], object]) -> None:
    """Publish a database as somebody who means harm may do it, with a manifest that is changed."""
    file = describe_file(database, "index.sqlite", DATABASE_BLOCK)
    for number, digest in enumerate(file.digests):
        (place / block_name(digest)).parent.mkdir(exist_ok=True)
        (place / block_name(digest)).write_bytes(read_block(database, file, number))
    pointer = CurrentPointer.from_bytes((place / POINTER).read_bytes())
    card = json.loads((place / MANIFESTS / pointer.manifest).read_bytes())
    card["database"].update(size=file.size, digests=file.digests)
    change(card)
    data = json.dumps(card).encode()
    (place / MANIFESTS / digest_of(data)).write_bytes(data)
    made = CurrentPointer(index=card["index"], generation=card["generation"], manifest=digest_of(data), size=len(data))
    (place / POINTER).write_bytes(made.to_bytes())


@pytest.mark.parametrize(
    ("statement", "change", "said"),
    [
        ("CREATE TRIGGER evil AFTER INSERT ON meta BEGIN SELECT 1; END", lambda _: None, "has the trigger"),
        ("CREATE VIEW evil AS SELECT 1", lambda _: None, "has the view"),
        ("UPDATE segments SET file = '../../evil' WHERE kind = 'words'", lambda _: None, "not a file in its folder"),
        ("UPDATE meta SET value = '0' WHERE key = 'index_id'", lambda _: None, "its database"),
        ("UPDATE meta SET value = '9' WHERE key = 'generation'", lambda _: None, "its database is of generation 9"),
        ("SELECT 1", lambda card: card.update(segments=[]), "does not list the file"),
        ("SELECT 1", lambda card: card["segments"][0].update(name="../evil"), "name"),
        ("SELECT 1", lambda card: card["database"].update(size=1 << 40), "do not agree"),
        ("SELECT 1", lambda card: card.update(generation=5), "its database is of generation 1"),
    ],
)
def test_what_somebody_else_published_is_checked_before_it_is_used(
    statement: str, change: Callable[[dict[str, Any]], object], said: str, index: Index, place: Path, tmp_path: Path
) -> None:
    copy = tmp_path / "evil.sqlite"
    index._release()
    shutil.copy(index.path / "index.sqlite", copy)
    with sqlite3.connect(copy) as db:
        db.execute("PRAGMA journal_mode = DELETE")
        db.execute(statement)
        update_digests(db)
    db.close()
    published_by_hand(place, copy, change)
    with pytest.raises(IndexDamaged, match=said):
        Index.open(place.as_uri())
    assert not list((tmp_path / "user-cache").rglob("*evil*"))
    assert not list((tmp_path / "user-cache").rglob("newest.json"))


def test_a_database_of_something_else_is_refused(place: Path, tmp_path: Path) -> None:
    (tmp_path / "evil.sqlite").write_bytes(b"no database" * 1000)
    published_by_hand(place, tmp_path / "evil.sqlite", lambda _: None)
    with pytest.raises(IndexDamaged):
        Index.open(place.as_uri())


def test_several_are_searched_as_one_and_served(index: Index, place: Path) -> None:
    with MultiIndex.open(place.as_uri(), index.path) as several:
        assert list(several.indexes) == ["place", "index"]
        assert several.search("planet", duplicates=True)[0].index in several.indexes
    served = OpenIndexes(places={"docs": place.as_uri()})
    try:
        assert served.get("docs").search("planet") == index.search("planet")
    finally:
        served.close()
