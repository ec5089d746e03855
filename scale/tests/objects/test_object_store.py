"""Objects of a store: their states, and how they are fetched."""

import threading
from datetime import timedelta
from typing import Any

import pytest
from memory_bucket import LONG_AGO, MemoryBucket, use_bucket

from semsearch.errors import StorageError
from semsearch.sources.root_files import RemoteState
from semsearch_scale.objects import object_store
from semsearch_scale.objects.object_store import fetch_object, fetched_ahead, open_store, time_of

SECOND = 1_000_000_000
A = "s3://bucket/docs/a.md"


@pytest.fixture
def bucket(monkeypatch: pytest.MonkeyPatch) -> MemoryBucket:
    return use_bucket(monkeypatch)


def seen(path: str = A) -> RemoteState:
    info = open_store("s3://bucket/docs").info(path)
    return RemoteState("s3://bucket/docs", info["size"], time_of(info))


def test_the_time_of_an_object_is_its_own_to_the_second_and_differs_by_version() -> None:
    first, second = (time_of({"LastModified": LONG_AGO, "ETag": etag}) for etag in ('"a"', '"b"'))
    assert first // SECOND == second // SECOND == int(LONG_AGO.timestamp())
    assert first != second


def test_a_listing_and_a_look_tell_of_one_state() -> None:
    listed = {"LastModified": LONG_AGO + timedelta(milliseconds=123), "ETag": '"a"'}  # MinIO's listings have them
    assert time_of(listed) == time_of({"LastModified": LONG_AGO, "ETag": '"a"'})


def test_an_object_is_fetched_with_the_state_that_was_listed(bucket: MemoryBucket) -> None:
    bucket.put("a.md", "one")
    state = seen()
    bucket.put("a.md", "two")
    found = fetch_object(A, state, 100)
    assert (found.data, found.size, found.mtime_ns) == (b"two", 3, state.mtime_ns)  # so that it differs next time
    assert seen() != state
    assert fetch_object(A, state, 2).data == b"tw"


def test_an_object_that_does_not_come_whole_is_not_taken(bucket: MemoryBucket, monkeypatch: pytest.MonkeyPatch) -> None:
    bucket.put("a.md", "one")
    monkeypatch.setattr(bucket, "cat_file", lambda *_, **__: b"on")
    with pytest.raises(OSError, match="got 2 of 3 bytes"):
        fetch_object(A, seen(), 100)


def test_a_store_that_does_not_answer_is_given_up(bucket: MemoryBucket) -> None:
    never = threading.Event()
    bucket.put("a.md", "one")
    state = seen()
    bucket.seconds = 0.05
    open_store.cache_clear()
    bucket.before = lambda *_: never.wait() and None
    try:
        with pytest.raises(StorageError, match=r"s3://bucket/docs cannot be reached: no answer within"):
            fetch_object(A, state, 100)
    finally:
        never.set()


def test_objects_are_fetched_in_order_and_only_a_few_ahead(
    bucket: MemoryBucket, monkeypatch: pytest.MonkeyPatch
) -> None:
    begun: list[str] = []

    class Noted:
        def __init__(self, call: Any) -> None:
            self.path = call.args[0]
            begun.append(self.path)

        def result(self) -> str:
            return str(self.path)

    monkeypatch.setattr(object_store, "begun", Noted)
    state = RemoteState("s3://bucket/docs", 20_000_000, 1)
    wanted = [(f"s3://bucket/docs/{number}", state) for number in range(5)]
    coming = fetched_ahead([wanted[0], None, *wanted[1:]], 1 << 30)
    first = next(coming)
    assert first is not None
    assert first() == wanted[0][0]
    assert begun == [path for path, _ in wanted[:2]]  # the third would be more than lies ready
    assert [fetch and fetch() for fetch in coming] == [None, *(path for path, _ in wanted[1:])]
