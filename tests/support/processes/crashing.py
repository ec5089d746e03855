"""Runs one write to an index and dies at its n-th event: a helper process of laws/test_crash.py.

    python processes/crashing.py VECTORS DOCS TEMPLATE WORK ACTION POINT...

An event is an SQL statement, a connection closed, a file opened for writing, a rename, a removal or an fsync; death
comes just before it, and without any of Python's farewells. For each point the index folder TEMPLATE is copied to
WORK/POINT and written to there. Point 0 never dies; how many events there were is then in WORK/events. Where the system
can fork, all points share one start.
"""

from __future__ import annotations

import importlib
import os
import pkgutil
import shutil
import sqlite3
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

DEATH = 77
NEEDED = {
    "dense",
    "embedding",
    "indexing",
    "lexical",
    "maintenance",
    "mapping",
    "snapshots",
    "sources",
    "text",
    "storage",
    "system",
    "topics",
}
LEAST = 9  # passages of which topics are learned


class Countdown:
    """Counts events, and ends the process at the last of them."""

    def __init__(self, point: int) -> None:
        self.point = point
        self.seen = 0

    def event(self, *_: object) -> None:
        self.seen += 1
        if self.seen == self.point:
            os._exit(DEATH)

    def watch(self) -> None:
        connect, fsync, event = sqlite3.connect, os.fsync, self.event

        class Dying(sqlite3.Connection):
            def close(self) -> None:  # the last connection merges the log into the database here, and deletes it
                event()
                super().close()

        def traced(*arguments: Any, **options: Any) -> sqlite3.Connection:
            connection: sqlite3.Connection = connect(*arguments, **options, factory=Dying)
            connection.set_trace_callback(self.event)
            return connection

        def counted(descriptor: int) -> None:
            self.event()
            fsync(descriptor)

        sqlite3.connect, os.fsync = traced, counted  # type: ignore[assignment]
        sys.addaudithook(self._audit)

    def _audit(self, name: str, arguments: tuple[Any, ...]) -> None:
        if name in ("os.rename", "os.remove", "os.mkdir") or (
            name == "open" and isinstance(arguments[2], int) and arguments[2] & (os.O_WRONLY | os.O_RDWR)
        ):
            self.event()


def act(action: str, index_path: Path, vectors: Path, docs: Path) -> None:
    """Carry out an action on the index, which the test interrupts."""
    from semsearch.index import Index

    if action == "first":
        with Index.create(index_path, vectors=vectors) as index:
            index.sync(docs)
        return
    with Index.open(index_path) as index:
        actions: dict[str, Callable[[], object]] = {
            "sync": index.sync,
            "refit": index.refit,
            "compact": index.compact,
            "map": index.map,
            "rebuild": lambda: index.rebuild(method="usif"),
            "publish": lambda: index.publish(place_of(index_path)),
        }
        actions[action]()


def place_of(index_path: Path) -> Path:
    """The folder that an index is published to."""
    return index_path.with_name(f"{index_path.name}-place")


def run(point: int, vectors: Path, docs: Path, template: Path, work: Path, action: str) -> None:
    copy = work / str(point)
    if template.exists():
        shutil.copytree(template, copy)
    if action == "publish":
        shutil.copytree(place_of(template), place_of(copy))
    countdown = Countdown(point)
    countdown.watch()
    act(action, copy, vectors, docs)
    if point == 0:
        (work / "events").write_text(str(countdown.seen))


def load() -> None:
    """Load all that a write may need, or each child would after the fork, which takes longer than what it does."""
    import semsearch.index

    for module in pkgutil.walk_packages(semsearch.__path__, "semsearch."):
        if module.name.split(".")[1] in NEEDED:
            importlib.import_module(module.name)
    importlib.import_module("filelock._api")


def main(arguments: list[str]) -> None:
    vectors, docs, template, work = (Path(argument) for argument in arguments[:4])
    action, points = arguments[4], [int(argument) for argument in arguments[5:]]
    if len(points) > 1:
        load()
    import semsearch.indexing.reading_log
    from semsearch.topics.topic_fit import fit_topics

    assert fit_topics.__kwdefaults__ is not None
    fit_topics.__kwdefaults__["least"] = LEAST  # so that a few documents are enough to adapt to
    semsearch.indexing.reading_log.MUCH = 0  # and to note what was read of them
    for point in points:
        if len(points) > 1 and hasattr(os, "fork"):
            child = os.fork()
            if child == 0:
                run(point, vectors, docs, template, work, action)
                os._exit(0)
            os.waitpid(child, 0)
        else:
            run(point, vectors, docs, template, work, action)


if __name__ == "__main__":
    main(sys.argv[1:])
