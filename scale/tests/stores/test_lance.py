"""An index whose vectors lie in tables of Lance, in a folder. Object stores: test_lance_s3.py."""

from __future__ import annotations

import socket
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pytest
from packages import needed
from small import small_vectors, write_articles

from semsearch.dense.engines import complete
from semsearch.dense.vector_store import NO_IDS
from semsearch.errors import IndexDamaged, MissingExtra, StorageError, UsageError
from semsearch.index import Index
from semsearch.readers.document import Text
from semsearch.storage.database import IndexDatabase
from semsearch.storage.segments import Segment, get_segments
from semsearch_scale.stores import lance_store as writing
from semsearch_scale.stores.lance_store import LanceStore, claim, release
from semsearch_scale.stores.lance_tables import LancePlace

lance = needed("lance", reason="pylance is not installed: pip install './scale[lance]'")

Float32 = npt.NDArray[np.float32]
QUESTIONS = ["the captain of the ship", "a telescope at night", "bread and butter", "roses", "judge", "concert"]


def unit_rows(n: int, *, seed: int = 0) -> Float32:
    rows = np.random.default_rng(seed).standard_normal((n, 16)).astype(np.float32)
    return np.asarray(rows / np.linalg.norm(rows, axis=1, keepdims=True))


def store_in(folder: Path) -> LanceStore:
    return LanceStore(LancePlace(f"lance:{folder}"), "passage")


def write(store: LanceStore, count: int, *, first: int = 1) -> list[Segment]:
    with store.writer(1) as writer:
        writer.add(np.arange(first, first + count), unit_rows(count, seed=first))
        return writer.finish()


# -- an index over it ------------------------------------------------------------------------------------------------


@pytest.fixture
def twins(tmp_path: Path) -> Iterator[tuple[Index, Index]]:
    """Two indexes of the same documents: their vectors in files, and in tables of Lance."""
    small_vectors(tmp_path)
    write_articles(tmp_path / "docs", 12)
    with (
        Index.create(tmp_path / "files", vectors=tmp_path / "small") as files,
        Index.create(tmp_path / "tables", vectors=tmp_path / "small", store=f"lance:{tmp_path / 'place'}") as tables,
    ):
        for index in (files, tables):
            index.sync(tmp_path / "docs")
        yield files, tables


def agree(files: Index, tables: Index, *more: dict[str, str | list[str]]) -> None:
    """Both find the same, with the same scores but for a sentence's last bit, which is rounded when it is made."""
    for options in ({}, *more):
        ours, theirs = (index.search_many(QUESTIONS, 7, **options) for index in (files, tables))
        assert any(ours)
        for one, other in zip(ours, theirs, strict=True):
            assert [(hit.passage_id, hit.sentence_id) for hit in one] == [
                (hit.passage_id, hit.sentence_id) for hit in other
            ]
            assert [hit.score for hit in one] == pytest.approx([hit.score for hit in other], abs=1e-4)


def test_an_index_over_it_lives_the_same_life_as_one_of_files(twins: tuple[Index, Index], tmp_path: Path) -> None:
    (tmp_path / "docs").joinpath(sorted(path.name for path in (tmp_path / "docs").iterdir())[0]).unlink()
    for index in twins:
        index.sync(tmp_path / "docs")
        index.add([Text("comet", "A comet is seen by the telescope at night.")])
    agree(*twins)
    for index in twins:
        index.refit()
    assert twins[1].verify() == []
    agree(*twins, {"mode": "dense"}, {"filters": ["night*"]})
    tables = twins[1]
    with IndexDatabase(tables.path).reading() as db:
        named = {segment.file for segment in get_segments(db) if segment.kind == "passage"}
    assert {path.name for path in (tmp_path / "place").iterdir()} == named | {"owner.lance"}


def test_a_table_that_is_gone_or_changed_is_told_and_made_again(twins: tuple[Index, Index], tmp_path: Path) -> None:
    tables = twins[1]
    (table,) = (tmp_path / "place").glob("passage-*")
    (data,) = (table / "data").iterdir()
    whole = data.read_bytes()
    tables._release()
    for damage, says in ((200, "does not match its digest"), (0, "cannot be read")):
        data.write_bytes(whole[:damage] + bytes([whole[damage] ^ 1]) + whole[damage + 1 :])
        assert any(table.name in problem and says in problem for problem in tables.verify())
    with pytest.raises(IndexDamaged, match=r"cannot be read.*--rebuild"):
        tables.search("ship", mode="dense")
    LancePlace(f"lance:{tmp_path / 'place'}").drop(table.name)
    assert f"{table.name} is missing" in tables.verify()
    tables._release()
    with pytest.raises(IndexDamaged, match="--rebuild"):
        tables.search("ship", mode="dense")
    tables.rebuild()
    agree(*twins)


# -- tables ----------------------------------------------------------------------------------------------------------


def test_what_a_killed_writer_left_is_told_and_can_be_dropped(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(writing, "_CHUNK", 10)
    store = store_in(tmp_path)
    store.writer(1).add(np.arange(1, 26), unit_rows(25))  # and never heard of again
    (left,) = store.names()
    (tmp_path / "passage-00000001-half.lance" / "data").mkdir(parents=True)  # before a version was named
    for name in {*store.names()}:
        store.drop(name)
    assert left not in store.names()
    assert [*tmp_path.iterdir()] == []


def test_all_that_was_written_is_flushed_to_the_disk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    flushed: set[str] = set()

    def note(path: Path) -> None:
        flushed.add(str(path))

    def note_file(descriptor: int) -> None:
        note(Path(f"/proc/self/fd/{descriptor}").readlink())

    monkeypatch.setattr("semsearch_scale.stores.lance_tables.sync_file", note_file)
    monkeypatch.setattr("semsearch_scale.stores.lance_tables.sync_folder", note)
    write(store_in(tmp_path), 100)
    assert {str(path) for path in (tmp_path, *tmp_path.rglob("*"))} <= flushed


# -- places ----------------------------------------------------------------------------------------------------------


def test_a_folder_that_is_not_there_yet_has_any_name_and_one_owner(tmp_path: Path) -> None:
    place = LancePlace(f"lance:{tmp_path / 'a b%20ü#x?y' / 'z'}")
    assert place.names("passage") == set()
    claim(place.uri, "one")
    claim(place.uri, "one")
    with pytest.raises(UsageError, match="another index"):
        claim(place.uri, "two")
    segments = write(store_in(tmp_path / "a b%20ü#x?y" / "z"), 50)
    release(place.uri, "two")
    assert place.names("passage") == {segments[0].file}
    release(place.uri, "one")
    release(place.uri, "one")
    assert [*tmp_path.iterdir()] == [tmp_path / "a b%20ü#x?y"]


def test_a_folder_with_other_files_is_refused_and_kept(tmp_path: Path) -> None:
    (tmp_path / "thesis.md").write_text("years of work")
    with pytest.raises(UsageError, match="contains other files"):
        claim(f"lance:{tmp_path}", "one")
    release(f"lance:{tmp_path}", "one")
    assert [*tmp_path.iterdir()] == [tmp_path / "thesis.md"]


@pytest.mark.parametrize(
    ("uri", "says"),
    [
        ("lance:", "names no folder or bucket"),
        ("lance:gs://bucket/x", "s3://BUCKET/PREFIX"),
        ("lance:s3:///x", "s3://BUCKET/PREFIX"),
        ("lance:s3://key@bucket/x", "in the environment"),
        ("lance:s3://key:secret@bucket/x", "password"),
        ("lance:s3://bucket/x?secret_access_key=x", "from the environment"),
        ("lance:s3://bucket/x?region=", "region="),
        ("lance:s3://bucket/x?timeout=soon", "number of seconds"),
        ("lance:s3://bucket/x?timeout=-1", "number of seconds"),
    ],
)
def test_what_is_no_address_is_refused(uri: str, says: str) -> None:
    with pytest.raises(UsageError, match=says):
        complete(uri, "notes")


def test_a_package_that_is_missing_is_named_with_its_cure(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(__import__("sys").modules, "lance", None)
    with pytest.raises(MissingExtra, match=r"\./scale\[lance\]"):
        claim(f"lance:{tmp_path}", "one")


@pytest.mark.parametrize("listens", [True, False], ids=["silent", "closed"])
def test_a_store_that_does_not_answer_is_told_within_the_deadline(listens: bool) -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        address = f"lance:s3://bucket/x?endpoint=http://127.0.0.1:{server.getsockname()[1]}&region=x&timeout=0.3"
        if not listens:
            server.close()
        place, segment = LancePlace(address), Segment("passage", "passage-1.lance", 1, NO_IDS, "")
        store = LanceStore(place, "passage")
        works: list[Callable[[], object]] = [
            lambda: claim(place.uri, "one"),
            lambda: place.names("passage"),
            lambda: store.open([segment], NO_IDS),
        ]
        for work in works:
            with pytest.raises(StorageError, match=r"did not answer within 0\.3 seconds|cannot be read"):
                work()
