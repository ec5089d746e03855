"""Writes to an index in a process that dies at the n-th event: for laws/test_crash.py.

An event is an SQL statement, a connection closed, a file opened for writing, a rename, a removal or an fsync; death
comes just before it, and without any of Python's farewells. For each point the template is copied to WORK/POINT and
written to there. Point 0 never dies; how many events there were is then in WORK/events. Where the system can fork, a
process that has loaded what a write needs forks for each point, of all tests; elsewhere each point starts one.
"""

from __future__ import annotations

import importlib
import json
import os
import pkgutil
import shutil
import sqlite3
import subprocess
import sys
import tempfile
import traceback
from collections.abc import Callable
from pathlib import Path
from typing import Any

from semsearch.mapping import arrange_passages
from semsearch.storage.database import Connection

DEATH = 77
NEEDED = {
    "dense",
    "embedding",
    "indexing",
    "lexical",
    "maintenance",
    "mapping",
    "sources",
    "text",
    "storage",
    "system",
    "topics",
}
LEAST = 9  # passages of which topics are learned
FEW_STEPS = 50  # in each of the two phases in which a map is arranged
CAN_FORK = hasattr(os, "fork")


class Deaths:
    """Has writes carried out that die."""

    def __init__(self) -> None:
        self._process: subprocess.Popen[str] | None = None
        self._errors = tempfile.TemporaryFile("w+", encoding="utf-8")  # noqa: SIM115  # until close

    def die(self, folder: Path, template: Path, action: str, points: list[int]) -> None:
        """Carry out an action for each point, by `docs` and the vectors `small` of a folder, in copies in `work`."""
        for point in points:
            request = json.dumps([dict(os.environ), str(folder), str(template), action, point])
            self._process = process = self._process or self._start()
            assert process.stdin is not None
            assert process.stdout is not None
            process.stdin.write(f"{request}\n")
            process.stdin.flush()
            answer = process.stdout.readline()
            if not CAN_FORK:
                self._end()
                answer = str(process.returncode)
            self._errors.seek(0)
            assert answer.strip() in ("0", str(DEATH)), self._errors.read()

    def _start(self) -> subprocess.Popen[str]:
        environment = {**os.environ, "OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"}
        environment["PYTHONPATH"] = os.pathsep.join(sys.path)
        pipe = subprocess.PIPE
        return subprocess.Popen(
            [sys.executable, __file__], env=environment, stdin=pipe, stdout=pipe, stderr=self._errors, text=True
        )

    def _end(self) -> None:
        if self._process is not None:
            self._process.communicate()
            self._process = None

    def close(self) -> None:
        """End the process that writes."""
        self._end()
        self._errors.close()


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

        class Dying(Connection):
            def close(self) -> None:  # the last connection merges the log into the database here, and deletes it
                event()
                super().close()

        def traced(*arguments: Any, **options: Any) -> sqlite3.Connection:
            connection: sqlite3.Connection = connect(*arguments, **{**options, "factory": Dying})
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
    with Index.open(index_path, trust=True) as index:
        actions: dict[str, Callable[[], object]] = {
            "sync": index.sync,
            "refit": index.refit,
            "map": index.map,
            "rebuild": lambda: index.rebuild(method="usif"),
            "publish": lambda: publish(index_path),
        }
        actions[action]()


def publish(index_path: Path) -> None:
    """Publish an index, as the tests of semsearch-scale let it die."""
    from semsearch_scale.snapshots import publisher

    publisher.publish(index_path, place_of(index_path))


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
    for name in ("filelock", "semsearch.readers.markup.markdown"):
        importlib.import_module(name)


def carry_out(request: str) -> int:
    """Do what is asked for, in a process of its own; the exit status where it did not die."""
    environment, *paths, action, point = json.loads(request)
    os.environ.update(environment)
    folder, template = map(Path, paths)
    try:
        run(point, folder / "small", folder / "docs", template, folder / "work", action)
    except BaseException:
        traceback.print_exc()
        return 1
    return 0


def main() -> None:
    if CAN_FORK:
        load()
    import semsearch.indexing.sync
    from semsearch.topics import topic_fit

    arrange_passages.GATHERING = arrange_passages.SETTLING = FEW_STEPS
    topic_fit.LEAST = LEAST  # so that a few documents are enough to adapt to
    semsearch.indexing.sync.LOGGED_FROM = 0  # and to note what was read of them
    for request in sys.stdin:
        if not CAN_FORK:
            sys.exit(carry_out(request))
        if not (child := os.fork()):
            os._exit(carry_out(request))
        print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), flush=True)


if __name__ == "__main__":
    main()
