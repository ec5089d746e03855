"""What every place does: a folder, and what fsspec reaches."""

from __future__ import annotations

import secrets
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from semsearch.dense.engines import complete
from semsearch.errors import IndexDamaged, StorageError, UsageError
from semsearch.storage.published import name_of, published_at
from semsearch.system.locations import shown_uri
from semsearch_scale.snapshots import snapshot_store
from semsearch_scale.snapshots.snapshot_store import (
    FolderObjects,
    SnapshotStore,
    get_checked,
    open_snapshot_store,
)


@pytest.fixture(params=["folder", "memory"])
def place(request: pytest.FixtureRequest, tmp_path: Path) -> SnapshotStore:
    """A place that is claimed."""
    if request.param == "memory":
        pytest.importorskip("fsspec", reason="an optional dependency")
    uri = tmp_path.joinpath("place").as_uri() if request.param == "folder" else f"memory://{secrets.token_hex(4)}/docs"
    store = open_snapshot_store(uri)
    assert store.create(snapshot_store.CLAIM, b"first")
    return store


def test_what_was_put_is_got_whole_and_no_more_than_asked_for(place: SnapshotStore) -> None:
    place.put("blocks/ab/abc", b"12345")
    assert place.get("blocks/ab/abc", 5) == b"12345"
    assert place.get("blocks/ab/abc", 3) == b"1234"
    with pytest.raises(IndexDamaged, match="larger than the limit of 3 bytes"):
        get_checked(place, "blocks/ab/abc", 3, "the block")


def test_an_object_is_created_once(place: SnapshotStore) -> None:
    assert not place.create(snapshot_store.CLAIM, b"second")
    assert place.get(snapshot_store.CLAIM, 100) == b"first"


def test_of_many_that_create_an_object_at_once_one_does(place: SnapshotStore) -> None:
    if place.uri.startswith("memory:"):
        pytest.skip("fsspec cannot refuse in its memory")
    together = threading.Barrier(6, timeout=60)

    def create(number: int) -> bool:
        together.wait()
        return place.create("manifests/abc", bytes([number]))

    with ThreadPoolExecutor(6) as pool:
        made = list(pool.map(create, range(6)))
    assert made.count(True) == 1
    assert place.get("manifests/abc", 10) == bytes([made.index(True)])


def test_objects_are_listed_below_a_prefix_and_deleted(place: SnapshotStore) -> None:
    for name in ("blocks/ab/abc", "blocks/cd/cde", "manifests/abc"):
        place.put(name, b"1")
    assert sorted(place.names(snapshot_store.BLOCKS)) == ["blocks/ab/abc", "blocks/cd/cde"]
    place.delete("blocks/ab/abc")
    place.delete("blocks/ab/abc")
    assert place.names(snapshot_store.BLOCKS) == ["blocks/cd/cde"]
    assert place.names("nothing/") == []


def test_what_is_not_there_is_said(place: SnapshotStore) -> None:
    with pytest.raises(FileNotFoundError):
        place.get("blocks/ab/abc", 5)


class StuckPlace(FolderObjects):
    """A place that answers nothing until it is let."""

    let = threading.Event()

    def get(self, name: str, most: int) -> bytes:
        self.let.wait(60)
        return super().get(name, most)


def test_a_place_that_does_not_answer_is_an_error_within_the_deadline(tmp_path: Path) -> None:
    with pytest.raises(StorageError, match=r"memory://docs cannot be reached: no answer within 0\.05 seconds"):
        SnapshotStore(StuckPlace(tmp_path), "memory://docs", 0.05).get("current.json", 10)
    StuckPlace.let.set()


def test_uris_of_places_are_told_from_paths(tmp_path: Path) -> None:
    assert published_at("s3://b/docs/") == "s3://b/docs/"
    assert [published_at(each) for each in ("docs", "./docs", "C:\\docs", "C:/docs", "a:b")] == [None] * 5
    assert snapshot_store.canonical(tmp_path) == tmp_path.as_uri()
    assert [name_of(each) for each in ("s3://b/docs", "s3://b", "file:///a/my%20docs")] == [
        "docs",
        "b",
        "my docs",
    ]
    nobodys = f"~no-such-user{secrets.token_hex(4)}/docs"  # as in the shell, a folder of this name
    assert snapshot_store.canonical(nobodys) == Path(nobodys).absolute().as_uri()
    assert published_at(nobodys) is None
    assert complete(f"lance:{nobodys}", "docs") == f"lance:{Path(nobodys).absolute()}"
    assert shown_uri("postgres://ada:secret@host/db") == "postgres://ada:…@host/db"
    assert published_at(tmp_path) is None
    (tmp_path / snapshot_store.CLAIM).write_text("{}")
    assert published_at(tmp_path) == tmp_path.as_uri()


@pytest.mark.parametrize("uri", ["s3://", "nosuch:///", "memory://?x=1"])
def test_a_uri_that_names_no_folder_is_no_place(uri: str) -> None:
    with pytest.raises(UsageError, match="names no folder; give one such as"):
        snapshot_store.canonical(uri)


def test_a_place_that_cannot_write_whole_objects_is_refused() -> None:
    with pytest.raises(UsageError, match="is no place for snapshots; give a folder"):
        open_snapshot_store("sftp://host/docs")
    with pytest.raises(UsageError, match="not a number of seconds"):
        open_snapshot_store("s3://bucket/docs?timeout=soon")
