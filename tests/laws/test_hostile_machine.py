"""What the machine may do: no permission, another user, no home folder, a limit, an odd clock, files in motion.

Each is tried with the command or the library as a user has it. What cannot be done is one line and status 2, and the
index answers as before.
"""

from __future__ import annotations

import errno
import os
import shutil
import stat
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from disk_faults.file_doors import Doors, Fault, Operation
from small import write_articles

from semsearch.errors import StorageError
from semsearch.index import Index
from semsearch.readers import read
from semsearch.sources.walk import find_files
from semsearch.system import durable, locations
from semsearch.system.source_files import SourceBytes
from semsearch.word_vectors.table import VectorTable

_FAILED = 2
_OTHER = 5001  # a user's number, which need not exist
_NO_MAP = 5386  # SQLite's
_YEAR_2400 = 13_569_465_600  # seconds
_AS_ROOT = ["setpriv", "--bounding-set=-all", "--inh-caps=-all"]  # without root's rights over the files of others
_is_root = hasattr(os, "geteuid") and os.geteuid() == 0
_permissions = pytest.mark.skipif(
    os.name == "nt" or (_is_root and shutil.which("setpriv") is None), reason="permissions would not count"
)
_others = pytest.mark.skipif(not _is_root or shutil.which("setpriv") is None, reason="needs root, to be another user")


def semsearch(
    *arguments: str | Path, cwd: Path, limit: str = "", **environment: str
) -> subprocess.CompletedProcess[str]:
    """Run a command as a user who may do only what the files' permissions say, after a command of the shell."""
    start = _AS_ROOT if _is_root else []
    command = [*start, "sh", "-c", f'{limit or ":"}; exec "$@"', "sh", sys.executable, "-m", "semsearch", *arguments]
    return subprocess.run(
        command, cwd=cwd, capture_output=True, text=True, env={**os.environ, **environment}, check=False
    )


@pytest.fixture
def world(tmp_path: Path, small_vectors: VectorTable) -> Iterator[Path]:
    """A folder with documents and an index of them."""
    write_articles(tmp_path / "docs", 3)
    (tmp_path / "docs" / "ship.md").write_text("The captain left the ship.\n")
    (tmp_path / "docs" / "below").mkdir()
    (tmp_path / "docs" / "below" / "judge.md").write_text("The judge left the trial.\n")
    with Index.create(tmp_path / "indexes" / "docs", vectors=small_vectors) as index:
        index.sync(tmp_path / "docs")
    yield tmp_path
    for path in (tmp_path / "docs", *tmp_path.rglob("*")):
        if path.is_dir():
            path.chmod(0o755)


def answers(world: Path) -> list[str]:
    """The documents of the index of the world."""
    with Index.open(world / "indexes" / "docs") as index:
        assert not index.verify()
        return sorted(document.path for document in index.documents())


# -- Permissions and users ---------------------------------------------------------------------------------------------


@_permissions
def test_what_may_not_be_read_any_more_is_reported_and_kept(world: Path) -> None:
    before = answers(world)
    (world / "docs" / "below").chmod(0)
    (world / "docs" / "ship.md").write_text("The captain left the harbour.\n")
    (world / "docs" / "ship.md").chmod(0)
    done = semsearch("index", "docs", cwd=world)
    assert "skipped docs/below: cannot be listed: Permission denied" in done.stderr
    assert "docs/ship.md: cannot be read: Permission denied" in done.stderr
    assert "Traceback" not in done.stderr
    assert answers(world) == before


@_permissions
def test_a_root_that_may_not_be_read_keeps_its_documents(world: Path) -> None:
    before = answers(world)
    (world / "docs").chmod(0)
    done = semsearch("index", cwd=world)
    assert "cannot be read: Permission denied; its 5 documents were kept" in done.stderr
    assert done.returncode == _FAILED
    assert answers(world) == before


@_permissions
def test_an_index_that_may_not_be_read_is_not_said_to_be_missing(world: Path) -> None:
    (world / "indexes" / "docs").chmod(0)
    if _is_root:
        os.chown(world / "indexes" / "docs", _OTHER, _OTHER)
    done = semsearch("query", "ship", cwd=world)
    assert done.returncode == _FAILED
    assert "./indexes/docs cannot be read: Permission denied" in done.stderr
    if _is_root:
        os.chown(world / "indexes" / "docs", 0, 0)


@_others
def test_another_users_index_is_searched_and_not_written(world: Path) -> None:
    before = answers(world)
    index = world / "indexes" / "docs"
    for path in (index, *index.rglob("*")):
        os.chown(path, _OTHER, _OTHER)
    assert "ship.md" in semsearch("query", "ship", cwd=world).stdout
    for command in (["index", "docs"], ["remove", "docs/ship.md"]):
        done = semsearch(*command, cwd=world)
        assert done.returncode == _FAILED, command
        assert done.stderr.count("\n") == 1, done.stderr
        assert "cannot be written (Permission denied); the index is unchanged" in done.stderr
    assert answers(world) == before


@_others
def test_two_users_of_a_group_write_to_one_index(world: Path) -> None:
    """The files are of another user, whose group may write them; what is written anew is for the group again."""
    index = world / "indexes" / "docs"
    for path in (index.parent, index, *index.rglob("*")):
        os.chown(path, _OTHER, 0)
        path.chmod(0o775 if path.is_dir() else 0o664)
    (world / "docs" / "ship.md").write_text("The sailor left the ship.\n")
    for command in (["index", "docs"], ["query", "sailor"], ["refit"], ["verify"]):
        done = semsearch(*command, cwd=world, limit="umask 002")
        assert done.returncode == 0, (command, done.stderr)
    assert len(answers(world)) == 5
    for path in index.rglob("*"):
        assert path.stat().st_mode & stat.S_IWGRP, path


@_permissions
@pytest.mark.parametrize("umask", [0o002, 0o022, 0o077])
def test_an_index_is_for_those_whom_the_umask_lets_in(tmp_path: Path, small_vectors: VectorTable, umask: int) -> None:
    """SQLite alone keeps a group from writing; its log, made by the first who reads, would then shut out the owner."""
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / "a.md").write_text("The captain left the ship.\n")
    before = os.umask(umask)
    try:
        with Index.create(tmp_path / "index", vectors=small_vectors) as index:
            index.sync(tmp_path / "docs")
    finally:
        os.umask(before)
    for path in (tmp_path / "index" / "index.sqlite", *(tmp_path / "index" / "segments").iterdir()):
        assert stat.S_IMODE(path.stat().st_mode) == 0o666 & ~umask, path


@_permissions
def test_a_home_folder_that_is_not_there_costs_only_the_record_of_trust(world: Path) -> None:
    shutil.rmtree(world / "indexes")
    (world / "closed").mkdir(mode=0o555)
    if _is_root:
        os.chown(world / "closed", _OTHER, _OTHER)
    home = str(world / "closed" / "nobody")
    nowhere = dict.fromkeys(("HOME", "XDG_CONFIG_HOME", "XDG_CACHE_HOME", "XDG_DATA_HOME", "XDG_STATE_HOME"), home)
    first = semsearch("index", "docs", "--indexes", "indexes", cwd=world, **nowhere)
    assert first.returncode == 0, first.stderr
    assert "could not be recorded" in first.stderr
    assert "XDG_CONFIG_HOME" in first.stderr
    for command in (["query", "ship"], ["indexes"], ["config"]):
        done = semsearch(*command, cwd=world, **nowhere)
        assert done.returncode == 0, done.stderr
        assert "Traceback" not in done.stderr


# -- Disks -------------------------------------------------------------------------------------------------------------


@pytest.fixture
def folded(monkeypatch: pytest.MonkeyPatch) -> None:
    """A disk that finds names whatever their case and Unicode form."""
    look = locations._file_id

    def found(path: str) -> tuple[int, int] | None:
        if (exactly := look(path)) is not None:
            return exactly
        folder, _, name = path.rpartition("/")
        there = [each.name for each in Path(folder or "/").iterdir()] if Path(folder or "/").is_dir() else []
        same = (each for each in there if locations._folded(each) == locations._folded(name))
        return next((look(f"{folder}/{each}") for each in same), None)

    monkeypatch.setattr(locations, "_file_id", found)


@pytest.mark.usefixtures("folded")
def test_a_root_named_by_another_case_is_the_same_root(world: Path) -> None:
    before = answers(world)
    with Index.open(world / "indexes" / "docs") as index:
        assert index.sync(world / "DOCS").unchanged == 5
        (world / "docs" / "ship.md").write_text("The sailor left the ship.\n")
        assert index.sync(world / "Docs" / "SHIP.md").changed == 1
        assert index.sync(world / "docs" / "Below").unchanged == 1
        assert [Path(root).name for root in index.status().roots] == ["docs"]
        assert answers(world) == before
        assert index.remove(world / "Docs" / "Ship.MD") == 1


@pytest.mark.usefixtures("folded")
def test_a_name_of_another_case_is_not_that_of_the_file(world: Path) -> None:
    """As a watch reports the name that a file had before it was renamed: the disk still finds the file by it."""
    (world / "docs" / "ship.md").rename(world / "docs" / "Ship.md")
    assert [file.path for file in find_files(world / "docs", ["Ship.md"], skipped=print)] == ["Ship.md"]
    assert [file.path for file in find_files(world / "docs", ["ship.md"], skipped=print)] == []


def test_two_names_that_differ_by_case_are_two_documents(world: Path) -> None:
    (world / "docs" / "SHIP.md").write_text("The sailor saw an island.\n")
    if len([*(world / "docs").glob("[sS][hH]*.md")]) == 1:
        pytest.skip("the disk does not know case")
    with Index.open(world / "indexes" / "docs") as index:
        assert index.sync().added == 1
        assert index.sync(world / "docs" / "ship.md").unchanged == 1
        assert locations.as_spelled(world / "docs" / "ship.md") == world / "docs" / "ship.md"
        assert index.search("sailor island")[0].path.endswith("SHIP.md")


@pytest.mark.parametrize("number", [errno.ENOLCK, errno.ENOSYS, errno.EOPNOTSUPP])
def test_a_disk_without_locks_is_searched_and_not_written(
    world: Path, monkeypatch: pytest.MonkeyPatch, number: int
) -> None:
    def refused(path: Path) -> None:
        raise OSError(number, os.strerror(number), str(path))

    before = answers(world)
    monkeypatch.setattr(durable, "_share", refused)
    with Index.open(world / "indexes" / "docs") as index:
        assert index.search("captain ship")[0].path.endswith("ship.md")
        for write in (index.sync, index.refit):
            with pytest.raises(StorageError, match="has no locks, which keep two programs from writing at once"):
                write()
    with pytest.raises(StorageError, match="has no locks"), Index.create(world / "indexes" / "new") as index:
        index.sync(world / "docs")
    monkeypatch.undo()
    assert answers(world) == before


@pytest.mark.skipif(sys.platform != "linux", reason="SQLite is watched as a library of its own")
def test_a_disk_that_renames_nothing_over_what_is_there_is_written(world: Path) -> None:
    def refused(operation: Operation) -> Fault | None:
        is_there = operation.kind == "rename" and Path(operation.to).exists()
        return Fault(errno.EEXIST, 1, 0) if is_there else None

    (world / "docs" / "ship.md").write_text("The sailor left the ship.\n")
    with Doors(world) as doors:
        doors.watcher = refused
        with Index.open(world / "indexes" / "docs") as index:
            assert index.sync().changed == 1
        doors.watcher = None
    assert answers(world)


@pytest.mark.skipif(sys.platform != "linux", reason="SQLite is watched as a library of its own")
def test_a_disk_without_memory_maps_is_searched(world: Path) -> None:
    def refused(operation: Operation) -> Fault | None:
        return Fault(errno.ENODEV, _NO_MAP, 0) if operation.kind == "map" and not operation.sqlite else None

    with Doors(world) as doors:
        doors.watcher = refused
        with Index.open(world / "indexes" / "docs") as index:
            assert index.search("captain ship")[0].path.endswith("ship.md")
            assert index.search("captain ship", mode="lexical")
            assert not index.verify()
        doors.watcher = None


# -- Limits ------------------------------------------------------------------------------------------------------------


@pytest.mark.skipif(os.name == "nt", reason="needs ulimit")
@pytest.mark.parametrize("blocks", [40])
def test_a_limit_of_file_sizes_is_named_and_changes_nothing(world: Path, blocks: int) -> None:
    before = answers(world)
    (world / "docs" / "new.md").write_text("A storm came over the harbour.\n" * 2000)
    done = semsearch("index", "docs", cwd=world, limit=f"ulimit -f {blocks}")
    assert done.returncode == _FAILED
    assert done.stderr.count("\n") == 1, done.stderr
    assert "ulimit -f" in done.stderr or "File too large" in done.stderr
    assert answers(world) == before
    assert semsearch("index", "docs", cwd=world).returncode == 0


# -- The clock ---------------------------------------------------------------------------------------------------------


def test_a_file_of_the_far_future_is_a_file_as_any_other(world: Path) -> None:
    file = world / "docs" / "ship.md"
    os.utime(file, (_YEAR_2400, _YEAR_2400))
    if file.stat().st_mtime != _YEAR_2400:
        pytest.skip("the file system has no such times")
    with Index.open(world / "indexes" / "docs") as index:
        assert index.sync(world / "docs").unchanged == 5
        assert not index.verify()
        file.write_text("The sailor left the ship.\n".ljust(file.stat().st_size))
        os.utime(file, (_YEAR_2400, _YEAR_2400))
        assert index.sync().changed == 1
        assert "sailor" in index.search("sailor")[0].sentence
        assert index.search("sailor", filters=["modified>2100"])


@pytest.mark.parametrize("seconds", [4_000_000_000, -4_000_000_000, -1])
def test_a_clock_that_was_wrong_hides_no_change(world: Path, seconds: int) -> None:
    file = world / "docs" / "ship.md"
    with Index.open(world / "indexes" / "docs") as index:
        for word in ("sailor", "anchor"):
            file.write_text(f"The {word} left the ship.\n")
            os.utime(file, (seconds, seconds + (word == "anchor" and seconds < 0)))
            assert index.sync().changed == 1
            assert word in index.search(word)[0].sentence
        assert index.sync().changed == 0
        assert not index.verify()


# -- Files in motion ---------------------------------------------------------------------------------------------------


def test_a_file_that_grows_while_it_is_read_is_read_again(world: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = world / "docs" / "ship.md"
    file.write_text("A storm came.\n")
    read_source = read.read_source

    def growing(path: Path, most: int, *, root: str) -> SourceBytes:
        state = read_source(path, most, root=root)
        if Path(path).name == "ship.md":
            with file.open("a") as writer:
                writer.write("The sailor saw an island.\n")
        return state

    with Index.open(world / "indexes" / "docs") as index:
        with monkeypatch.context() as patch:
            patch.setattr(read, "read_source", growing)
            index.sync()
        assert not any("island" in hit.sentence for hit in index.search("sailor island"))
        assert index.sync().changed == 1
        assert "island" in index.search("sailor island")[0].sentence
        assert not index.verify()


def test_each_name_of_a_hard_link_is_a_document(world: Path) -> None:
    first = world / "docs" / "ship.md"
    os.link(first, world / "docs" / "below" / "again.md")
    with Index.open(world / "indexes" / "docs") as index:
        assert index.sync().added == 1
        hit = index.search("captain ship")[0]
        assert {Path(each.path).name for each in (hit, *hit.duplicates)} == {"ship.md", "again.md"}
        first.unlink()
        report = index.sync()
        assert (report.removed, report.added, report.moved) == (1, 0, 0)
        assert index.search("captain ship")[0].path.endswith("below/again.md")
