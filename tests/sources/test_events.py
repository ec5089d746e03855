"""Batches of changed paths: from a made-up stream of the operating system's, and once from the real one."""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable, Collection, Iterator
from pathlib import Path
from typing import Any

import pytest

from semsearch.errors import MissingExtra, SourceError
from semsearch.indexing import follow_files
from semsearch.indexing.follow_files import changed_paths

Stream = Callable[[Collection[str]], Iterator[set[tuple[int, str]]]]


def told(monkeypatch: pytest.MonkeyPatch, streams: list[Stream], stop: threading.Event) -> list[list[str]]:
    """Let each watch be the next of some streams, and the last of them set `stop`; what each watches."""
    watched: list[list[str]] = []

    def watch(paths: Collection[str], _: threading.Event) -> Iterator[set[Any]]:
        watched.append(sorted(paths))
        yield from streams.pop(0)(paths)
        if not streams:
            stop.set()

    monkeypatch.setattr(follow_files, "_watch", watch)
    return watched


def test_a_root_that_is_replaced_is_watched_again_and_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    root, stop = tmp_path / "root", threading.Event()
    root.mkdir()

    def replaced(_: Collection[str]) -> Iterator[set[tuple[int, str]]]:
        yield set()
        root.rename(tmp_path / "old")  # kept, so that its number is not given to the new one
        root.mkdir()
        yield {(3, "/r/a")}
        raise AssertionError("the old folder is watched")

    watched = told(monkeypatch, [replaced, lambda _: iter([{(1, "/r/b")}, set()])], stop)
    assert list(changed_paths(lambda: [str(root)], stop)) == [set(), {"/r/a"}, {"/r/b", str(root)}, set()]
    assert watched == [[str(root)], [str(root)]]


def test_roots_may_come_and_go(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    stop, roots = threading.Event(), [str(tmp_path / "a")]

    def come(_: Collection[str]) -> Iterator[set[tuple[int, str]]]:
        yield set()
        (tmp_path / "a").mkdir()
        (tmp_path / "b.md").write_text("words")
        roots.append(str(tmp_path / "b.md"))
        yield set()

    def change(_: Collection[str]) -> Iterator[set[tuple[int, str]]]:
        yield set()
        (tmp_path / "b.md").unlink()
        yield set()

    watched = told(monkeypatch, [come, change, lambda _: iter([set()])], stop)
    assert list(changed_paths(lambda: list(roots), stop)) == [set(), set(), {*roots}, set(), {roots[1]}]
    assert watched == [[], roots, roots[:1]]


def test_what_the_system_refuses_is_explained(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refused(_: Collection[str]) -> Iterator[set[tuple[int, str]]]:
        raise OSError("OS file watch limit reached")

    stop = threading.Event()
    told(monkeypatch, [refused], stop)
    with pytest.raises(SourceError, match=r"cannot be watched: OS file watch limit reached; .*max_user_watches"):
        list(changed_paths(lambda: [str(tmp_path)], stop))


def test_without_the_extra_the_cure_is_named_at_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "watchfiles", None)
    with pytest.raises(MissingExtra, match=r"pip install '\.\[watch\]'"):
        changed_paths(lambda: [str(tmp_path)], threading.Event())


def test_the_system_tells_of_a_file_in_a_new_folder(tmp_path: Path) -> None:
    pytest.importorskip("watchfiles", reason="an optional dependency")
    stop = threading.Event()
    batches = changed_paths(lambda: [tmp_path.as_posix()], stop)
    assert next(batches) == set()
    (tmp_path / "new").mkdir()
    (tmp_path / "new" / "a.md").write_text("words")
    seen: set[str] = set()
    while not seen:  # as long as it takes: a test that hangs says so too
        seen |= next(batches)
    assert (tmp_path / "new").as_posix() in seen
    stop.set()
    assert all(not batch for batch in batches)
