"""When the disk is full or fails, or files and memory are lacking, an index is as before or as after, and goes on."""

from __future__ import annotations

import errno
import shutil
import sys
from pathlib import Path

import pytest
from disk_faults.failing import TROUBLES, Faults, Trouble, World, answers, prepare_process
from disk_faults.file_doors import Doors

from semsearch.errors import StorageError
from semsearch.index import Index

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="SQLite is watched as a library of its own")
SHARES = (0.3, 0.8)  # of all operations, after which one fails


@pytest.mark.parametrize(("action", "number"), [("first", 4), ("sync", 1), ("rebuild", 6), ("sync", 8), ("sync", 9)])
def test_a_fault_leaves_the_index_as_before_or_as_after_and_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, action: str, number: int
) -> None:
    prepare_process(monkeypatch)
    with Doors(tmp_path) as doors:
        world = World.prepared(tmp_path, action)
        trouble = TROUBLES[number]
        operations = world.points(doors, trouble)
        assert operations > 1
        for share in SHARES:
            assert world.broken(doors, trouble, 1 + int(share * operations)) == []


def test_a_loss_of_power_leaves_the_index_as_before_or_as_after(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    prepare_process(monkeypatch)
    with Doors(tmp_path) as doors:
        world = World.prepared(tmp_path, "sync")
        operations = world.operations(doors)
        for share, survival in zip(SHARES, ("some of it, torn", "names without bytes"), strict=True):
            assert world.lost_power(operations, int(share * len(operations)), survival) == []
        assert world.lost_power(operations, len(operations), "what was flushed") == []


def test_a_commit_of_which_nobody_knows_whether_it_lasts_keeps_its_files(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The flush of a commit fails while a reader has the log open: what is in the log may be found there later."""
    prepare_process(monkeypatch)
    flush = Trouble("no flush of the log", errno.EIO, frozenset({"sync"}), lasting=True)
    with Doors(tmp_path) as doors:
        world = World.prepared(tmp_path, "sync")
        world.operations(doors)
        shutil.rmtree(world.work)
        shutil.copytree(tmp_path / "template", world.work)
        faults = Faults(flush, 0)
        doors.watcher = lambda operation: faults(operation) if operation.sqlite else None
        with Index.open(world.work, trust=True) as reader:
            reader.search("captain")
            with Index.open(world.work, trust=True) as index:
                faults.point = faults.seen + 2  # the log's header is the first, the commit the second
                with pytest.raises(StorageError, match="may or may not have been saved"):
                    index.sync()
        doors.watcher = None
        assert faults.failed
        assert answers(world.work) == world.after  # SQLite recovers the log
        with Index.open(world.work, trust=True) as index:
            index.sync()
        assert answers(world.work) == world.after
