"""An `OpenCache` opens each thing once, when it is first needed, whichever thread asks."""

from __future__ import annotations

import threading

import pytest

from semsearch.system.open_cache import OpenCache


def test_it_is_opened_when_it_is_first_asked_for_and_then_kept() -> None:
    opened: OpenCache[str, list[str]] = OpenCache()
    first = opened.get("a", lambda: ["a"])
    assert opened.get("a", lambda: ["another"]) is first
    assert opened.get("b", lambda: ["b"]) == ["b"]


class Key:
    """A key that tells when it has been looked up."""

    def __init__(self) -> None:
        self.looked = threading.Semaphore(0)

    def __hash__(self) -> int:
        self.looked.release()
        return 1


def test_threads_that_ask_at_once_get_one_and_the_same() -> None:
    opened: OpenCache[Key, object] = OpenCache()
    key, going, found = Key(), threading.Event(), list[object]()

    def open_slowly() -> object:
        going.wait()
        return object()

    threads = [threading.Thread(target=lambda: found.append(opened.get(key, open_slowly))) for _ in range(4)]
    for thread in threads:
        thread.start()
    for _ in range(4):  # several have seen that it is not open
        key.looked.acquire()
    going.set()
    for thread in threads:
        thread.join()
    assert len(found) == 4
    assert len({id(each) for each in found}) == 1


def test_a_failure_is_not_kept() -> None:
    opened: OpenCache[str, int] = OpenCache()

    def fail() -> int:
        raise FileNotFoundError

    with pytest.raises(FileNotFoundError):
        opened.get("a", fail)
    assert opened.get("a", lambda: 5) == 5
