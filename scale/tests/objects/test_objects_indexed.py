"""An index of objects in a store: what is fetched, what changes are seen, and what goes wrong."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from memory_bucket import MemoryBucket, use_bucket
from small import article

from semsearch.errors import StorageError
from semsearch.index import Index
from semsearch.indexing.read_files import PreparerElsewhere, SentChunk
from semsearch.sources.root_files import RemoteState
from semsearch.sources.unchanged import PresentFile
from semsearch.storage.known_files import get_roots
from semsearch.word_vectors.table import VectorsReference, VectorTable
from semsearch_scale.objects.object_store import open_store, size_of, time_of

DOCS = "s3://bucket/docs"
WITH_OPTIONS = f"{DOCS}?endpoint=http://localhost:9000&region=x"
NAMES = ("a.md", "b.md", "guide/c.md", "guide/deep/d.md", "notes.txt")


@pytest.fixture
def bucket(monkeypatch: pytest.MonkeyPatch) -> MemoryBucket:
    made = use_bucket(monkeypatch)
    for number, name in enumerate(NAMES):
        made.put(name, article("sea", number))
    return made


@pytest.fixture
def index(tmp_path: Path, bucket: MemoryBucket, small_vectors: VectorTable) -> Iterator[Index]:
    """An index of all objects, which is sound after the test too."""
    with Index.create(tmp_path / "index", vectors=small_vectors.folder) as made:
        made.sync(WITH_OPTIONS)
        bucket.fetched.clear()
        yield made
        assert made.verify() == []


def documents(index: Index) -> list[str]:
    return [document.document for document in index.documents()]


def segments(index: Index) -> list[bytes]:
    return sorted(path.read_bytes() for path in (index.path / "segments").iterdir())


def test_the_index_of_objects_is_that_of_the_same_files(
    index: Index, bucket: MemoryBucket, tmp_path: Path, small_vectors: VectorTable
) -> None:
    for name, (data, _, _) in bucket.objects.items():
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
    with Index.create(tmp_path / "here", vectors=small_vectors) as here:
        here.sync(tmp_path / "bucket/docs")
        assert segments(index) == segments(here)
        assert documents(index) == documents(here) == [*NAMES]
    assert index.roots == (DOCS,)
    hit = index.search("ship")[0]
    assert (hit.path, hit.root, hit.stale) == (f"{DOCS}/{hit.document}", DOCS, False)


def test_only_what_is_new_or_has_changed_is_fetched(index: Index, bucket: MemoryBucket) -> None:
    assert index.sync().unchanged == 5
    assert bucket.fetched == []
    bucket.put("a.md", article("sea", 9))
    bucket.put("new.md", article("law", 1))
    bucket.delete("b.md")
    assert index.status().stale == 3
    bucket.fetched.clear()
    done = index.sync()
    assert (done.added, done.changed, done.removed, done.unchanged) == (1, 1, 1, 3)
    assert set(bucket.fetched) == {"a.md", "new.md"}
    assert index.status().stale == 0


def test_an_object_replaced_within_its_second_by_one_as_large_is_noticed(index: Index, bucket: MemoryBucket) -> None:
    text = article("sea", 0)
    bucket.put("a.md", text.replace("Part 1", "Part 7"))
    assert index.sync().changed == 1
    assert "Part 7" in index.document(f"{DOCS}/a.md").text


def test_an_object_that_was_moved_keeps_its_vectors(index: Index, bucket: MemoryBucket) -> None:
    bucket.put("guide/b.md", article("sea", 1))
    bucket.delete("b.md")
    done = index.sync()
    assert (done.moved, done.added, done.removed, done.passages) == (1, 0, 0, 0)


def test_ignore_rules_and_globs_hold(bucket: MemoryBucket, tmp_path: Path, small_vectors: VectorTable) -> None:
    bucket.put("guide/.gitignore", "deep/\n")
    bucket.put(".hidden/x.md", "words")
    bucket.put("code.bin", b"\x00\x01" * 100)
    bucket.put("settings.toml", 'colour = "red"\n')
    with Index.create(tmp_path / "index", vectors=small_vectors) as index:
        done = index.sync(DOCS, exclude=["b.md"])
        assert documents(index) == ["a.md", "guide/c.md", "notes.txt", "settings.toml"]
        assert done.not_read == {".bin": 1}
        bucket.fetched.clear()
        assert index.sync().not_read == {".bin": 1}
        assert bucket.fetched == ["guide/.gitignore"]


def test_a_store_that_cannot_be_listed_costs_no_document(index: Index, bucket: MemoryBucket) -> None:
    def refuse(call: str, path: str) -> None:
        if path == "bucket/docs/guide":  # within the walk
            raise ConnectionError("the network is down")

    bucket.before = refuse
    done = index.sync(f"{DOCS}?endpoint=http://wrong:1", prune=True)
    assert (done.removed, done.added) == (0, 0)
    [warning] = done.warnings
    assert warning.startswith(f"{DOCS} cannot be reached: the network is down")
    assert warning.endswith("its 5 documents were kept")
    assert index.status().warnings == (warning,)
    bucket.before = lambda *_: None
    assert index.sync().unchanged == 5
    with index._database.reading() as db:
        assert get_roots(db)[0].store == WITH_OPTIONS  # those that did not work are not kept


def test_a_bucket_that_has_gone_costs_no_document_unless_it_is_pruned(index: Index, bucket: MemoryBucket) -> None:
    bucket.objects.clear()
    assert "no longer exists; its 5 documents were kept (--prune removes them)" in index.sync().warnings[0]
    assert index.sync(prune=True).removed == 5


def test_a_store_that_does_not_answer_while_objects_are_read_leaves_the_index_as_it_was(
    index: Index, bucket: MemoryBucket
) -> None:
    def refuse(call: str, path: str) -> None:
        if call == "cat_file" and path.endswith("new.md"):
            raise ConnectionError("the network is down")

    before = index.search("ship")
    bucket.put("a.md", article("night", 1))
    bucket.put("new.md", article("night", 2))
    bucket.before = refuse
    with pytest.raises(StorageError, match="the network is down"):
        index.sync()
    assert index.search("ship") == before
    bucket.before = lambda *_: None
    assert (index.sync().changed, index.status().stale) == (1, 0)


@pytest.mark.parametrize("gone", [FileNotFoundError, PermissionError])
def test_an_object_that_cannot_be_read_is_told_and_the_rest_is_taken(
    index: Index, bucket: MemoryBucket, gone: type[OSError]
) -> None:
    def refuse(call: str, path: str) -> None:
        if call == "cat_file" and path.endswith(("new.md", "a.md")):
            raise gone(path)

    bucket.put("new.md", article("night", 2))
    bucket.put("other.md", article("night", 3))
    bucket.put("a.md", article("night", 1))
    bucket.before = refuse
    done = index.sync()
    assert done.added == 1
    assert f"{DOCS}/new.md" in [item.path for item in done.skipped]
    assert "a.md" in documents(index)  # as it was
    bucket.before = lambda *_: None
    done = index.sync()
    assert (done.added, done.changed) == (1, 1)


def failing(*_: str) -> None:
    raise ConnectionError("the network is down")


def sent(state: RemoteState, *names: str) -> SentChunk:
    return SentChunk(tuple(present(name, state) for name in names), 1)


def present(name: str, state: RemoteState) -> PresentFile:
    uri = f"{DOCS}/{name}"
    return PresentFile(1, name, uri, name, uri, state.size, state.mtime_ns, store=state.store)


def test_a_worker_elsewhere_reads_the_objects_that_it_sees_as_they_were_seen(
    index: Index, bucket: MemoryBucket, small_vectors: VectorTable
) -> None:
    prepare = PreparerElsewhere(index.settings, VectorsReference.of(small_vectors), (), 1000_000)
    info = open_store(DOCS).info(f"{DOCS}/a.md")
    state = RemoteState(DOCS, size_of(info), time_of(info))
    chunk = prepare(sent(state, "a.md"))
    assert chunk is not None
    assert [(file.size, file.mtime_ns, file.reason) for file in chunk.files] == [(state.size, state.mtime_ns, "")]
    assert prepare(sent(RemoteState(DOCS, state.size, state.mtime_ns + 1), "a.md")) is None
    assert prepare(sent(state, "a.md", "nothing.md")) is None
    bucket.before = failing
    assert prepare(sent(state, "a.md")) is None
