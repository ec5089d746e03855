"""Writes to an index while operations on files fail, or the power is lost: what came of it, and what must come of it.

A disk is full or failing, from the n-th operation on or at the n-th alone; so are files and memory for maps lacking.
`World` prepares an index and one action on it, given at the command line; `World.broken` carries it out with a fault,
`World.lost_power` leaves of its files what a disk may have kept, and both say what is not as promised.
"""

from __future__ import annotations

import contextlib
import errno
import gc
import os
import shutil
from collections.abc import Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from console import Result, semsearch
from processes.crashing import LEAST
from sealing import trust
from small import small_vectors, write_articles

from disk_faults.file_doors import Doors, Fault, Kind, Operation, Watcher
from disk_faults.power import Disk, Survival
from semsearch.errors import IndexNotFound
from semsearch.index import Index
from semsearch.indexing import sync
from semsearch.topics import topic_fit

ACTIONS = ("first", "sync", "refit", "rebuild", "remove")
QUERIES = ("the captain of the ship", "bread from the oven", "a violin and a judge")
KEPT = {"index.sqlite", "lock", "writer.json", "segments"}  # all that an index consists of when nobody has it open
_UNTOUCHED = ("the index is unchanged", "nothing was changed", "is unchanged")

_SQLITE: dict[Kind, int] = {  # what SQLite's VFS returns when the disk fails
    "open": 14,
    "map": 5386,
    "write": 778,
    "truncate": 1546,
    "sync": 1034,
    "remove": 2570,
}
_SQLITE_FULL = 13


@dataclass(frozen=True)
class Trouble:
    """A way in which operations fail: of some kinds, with an error, from a point on or there alone."""

    name: str
    number: int
    kinds: frozenset[Kind]
    lasting: bool
    share: float = 0.0  # of a write that is written nevertheless

    def fault(self, operation: Operation) -> Fault:
        is_full = self.number == errno.ENOSPC and operation.kind == "write"
        code = _SQLITE_FULL if is_full else _SQLITE.get(operation.kind, 1)
        return Fault(self.number, code, int(self.share * len(operation.data)))

    def concerns(self, operation: Operation) -> bool:
        if self.number == errno.EIO and "/docs/" in operation.path:
            return False  # such a document is skipped, and that is said
        if self.number in (errno.ENOSPC, errno.EROFS) and operation.kind == "open":
            return operation.creating
        return operation.kind in self.kinds


_WRITING: frozenset[Kind] = frozenset({"mkdir", "write", "truncate", "sync", "sync folder", "rename", "remove"})
_ROOM: frozenset[Kind] = frozenset({"open", "mkdir", "write", "sync"})
TROUBLES = (
    Trouble("a failing operation", errno.EIO, _WRITING | {"open", "map"}, lasting=False),
    Trouble("a failing disk", errno.EIO, _WRITING, lasting=True),
    Trouble("a disk that flushes nothing", errno.EIO, frozenset({"sync", "sync folder"}), lasting=True),
    Trouble("no room once", errno.ENOSPC, _ROOM, lasting=False, share=0.5),
    Trouble("a full disk", errno.ENOSPC, _ROOM, lasting=True, share=0.5),
    Trouble("one file too many", errno.EMFILE, frozenset({"open"}), lasting=False),
    Trouble("too many files", errno.EMFILE, frozenset({"open"}), lasting=True),
    Trouble("no memory for a map", errno.ENOMEM, frozenset({"map"}), lasting=True),
    Trouble("a disk that becomes read-only", errno.EROFS, _WRITING | {"open"}, lasting=True),
    Trouble("a disk without memory maps", errno.ENODEV, frozenset({"map"}), lasting=True),
)


@dataclass
class Faults:
    """Watches the doors: counts the operations that a trouble concerns, and fails one of them, or all from it on."""

    trouble: Trouble
    point: int  # 0: never
    seen: int = 0
    failed: list[Operation] = field(default_factory=list)

    def __call__(self, operation: Operation) -> Fault | None:
        if not self.trouble.concerns(operation):
            return None
        self.seen += 1
        if not self.point or self.seen < self.point or (self.failed and not self.trouble.lasting):
            return None
        self.failed.append(operation)
        return self.trouble.fault(operation)


@dataclass
class World:
    """A folder with documents and an index of them, what is done to it, and its answers before and after that."""

    folder: Path
    action: str
    before: object = None
    after: object = None

    @classmethod
    def prepared(cls, folder: Path, action: str) -> World:
        world = cls(folder, action)
        small_vectors(folder)
        write_articles(folder / "docs", 4)
        (folder / "more").mkdir()
        (folder / "more" / "more.md").write_text("A violin in the concert.\n")
        if action != "first":
            with Index.create(folder / "template", vectors=folder / "small") as index:
                index.sync(folder / "docs")
                if action == "refit":
                    for number in (4, 5):
                        write_articles(folder / "docs", 1, first=number)
                        index.sync()
        if action == "sync":
            (folder / "docs" / "kitchen-1.md").unlink()
            (folder / "docs" / "night-2.md").rename(folder / "docs" / "night-22.md")
            (folder / "docs" / "sea-0.md").write_text("# Sea\n\nThe judge sold the ship to an astronomer.\n")
            write_articles(folder / "docs", 1, first=4)
        if action != "first":
            trust(folder / "template", copied_to=world.work)
        world.before = answers(folder / "template")
        return world

    def points(self, doors: Doors, trouble: Trouble) -> int:
        """Carry the action out without a fault; how many operations the trouble concerns."""
        watching = Faults(trouble, 0)
        self._succeed(doors, watching)
        return watching.seen

    def operations(self, doors: Doors) -> list[Operation]:
        """Carry the action out; all that it did to files of the index, in order."""
        done: list[Operation] = []
        self._succeed(doors, done.append)
        is_ours = (f"{self.work}{os.sep}", str(self.work), str(self.folder))
        return [one for one in done if one.path.startswith(is_ours[0]) or one.path in is_ours]

    def lost_power(self, operations: Sequence[Operation], done: int, survival: Survival) -> list[str]:
        """Lose the power after some of the operations; what is then not as promised."""
        disk = Disk(self.work, as_was=self.folder / "template")
        for operation in operations[:done]:
            disk.tell(operation)
        shutil.rmtree(self.work, ignore_errors=True)
        disk.leave(self.work, survival, seed=f"{self.action} {done}")
        try:
            state = answers(self.work)
            wrong = list(self._wrong_state(state))
            if done == len(operations) and state != self.after:
                wrong.append("what was committed is lost")
            wrong += self._goes_on(state)
        except Exception as error:  # whatever it is, it is what is looked for
            wrong = [f"{type(error).__name__}: {error}"]
        return [f"{one}\n    after {operations[done - 1 : done]}" for one in wrong]

    def broken(self, doors: Doors, trouble: Trouble, point: int) -> list[str]:
        """Carry the action out with a fault; what is then not as promised, with what was said and what had failed."""
        faults = Faults(trouble, point)
        files = self._open_files()
        try:
            result = self._carry_out(doors, faults)
            wrong = list(self._wrong(result))
        except Exception as error:  # whatever it is, it is what is looked for
            result, wrong = Result(1, "", repr(error)), [f"{type(error).__name__}: {error}"]
        if faults.failed and self._open_files() > files:
            gc.collect()  # what an error's traceback keeps
            wrong += [f"{left} files are left open"] if (left := self._open_files() - files) > 0 else []
        return [f"{one}\n    after {faults.failed[:1]}\n    said {result.err!r}" for one in wrong]

    @property
    def work(self) -> Path:
        return self.folder / "work"

    def _open_files(self) -> int:
        """The open files of this world: threads that earlier tests left in the process open others meanwhile."""
        count = 0
        for each in Path("/proc/self/fd").iterdir():
            with contextlib.suppress(OSError):
                count += each.readlink().is_relative_to(self.folder)
        return count

    def _succeed(self, doors: Doors, watcher: Watcher) -> None:
        result = self._carry_out(doors, watcher)
        assert result.status == 0, result.err
        self.after = answers(self.work)

    def _carry_out(self, doors: Doors, watcher: Watcher) -> Result:
        shutil.rmtree(self.work, ignore_errors=True)
        if self.action != "first":
            shutil.copytree(self.folder / "template", self.work)
        doors.watcher = watcher
        try:
            return self._run()
        finally:
            doors.watcher = None

    def _run(self) -> Result:
        name = ("--name", self.work)
        if self.action == "first":
            return semsearch("index", self.folder / "docs", *name, "--vectors", self.folder / "small")
        if self.action == "remove":
            return semsearch("remove", self.folder / "docs" / "sea-0.md", "--index", self.work)
        options = {"sync": [], "rebuild": ["--rebuild", "--set", "method=usif"]}
        if self.action in options:
            return semsearch("index", *name, *options[self.action])
        return semsearch(self.action, "--index", self.work)

    def _wrong(self, result: Result) -> Iterator[str]:
        if result.status not in (0, 2):
            yield f"the exit status is {result.status}"
        if result.status and not result.err.strip():
            yield "it failed without a word"
        state = answers(self.work)
        yield from self._wrong_state(state)
        if not result.status and state != self.after:
            yield "it said that all is well, and the index is as before"
        is_untrue = any(words in result.err for words in _UNTOUCHED) and "next step failed" not in result.err
        if result.status and is_untrue and state == self.after != self.before:
            yield "it said that the index is unchanged, and it is not"
        yield from self._goes_on(state)

    def _wrong_state(self, state: object) -> Iterator[str]:
        is_empty = self.action == "first" and isinstance(state, tuple) and state[1] == 0
        if state not in (self.before, self.after) and not is_empty:
            yield f"the index is neither as before nor as after: {state}"

    def _goes_on(self, state: object) -> Iterator[str]:
        again = self._run() if self.action != "remove" or state == self.before else Result(0, "", "")
        if again.status:
            yield f"the next run failed: {again.err}"
            return
        if answers(self.work) != self.after:
            yield "the next run did not complete the work"
        with Index.open(self.work) as index:
            index.sync(self.folder / "more")  # something is read
            index.add([])
        if left := {path.name for path in self.work.iterdir()} - KEPT:
            yield f"left behind: {sorted(left)}"
        with Index.open(self.work) as index, index._database.reading() as db:
            named = {name for (name,) in db.execute("SELECT file FROM segments")}
        if left := {path.name for path in (self.work / "segments").iterdir()} ^ named:
            yield f"segments that are there or are named, not both: {left}"


def answers(path: Path) -> object:
    """What an index says, after checking that its parts agree; None where there is no index."""
    try:
        index = Index.open(path)
    except IndexNotFound:
        return None
    with closing(index):
        if faults := index.verify():
            return faults
        hits = [hit for query in QUERIES for hit in index.search(query, 5)]
        status = index.status(stale=False, known_words=False)
        said = [(str(hit.path)[-12:], hit.sentence, round(hit.score, 5)) for hit in hits]
        return said, status.documents, index.settings.method, status.adapted


def prepare_process(patch: pytest.MonkeyPatch) -> None:
    """Let few documents be enough for topics, and for a log of what was read."""
    patch.setattr(topic_fit, "LEAST", LEAST)
    patch.setattr(sync, "LOGGED_FROM", 0)
