"""Files that were not read are reported by a sync, by the status, and one by one."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from small import small_vectors

from semsearch import Index
from semsearch.results.reports import Problem, Status, SyncReport

SHIP = "The captain of the ship sails to the harbour. A storm and a wave on the deck.\n"
BINARY = bytes(range(256)) * 8
LONG_AGO = 1_600_000_000


@pytest.fixture
def docs(tmp_path: Path) -> Path:
    """Two texts that are read, one of them doubtfully, and five files that are not, hidden ones besides."""
    folder = tmp_path / "docs"
    (folder / "sub").mkdir(parents=True)
    (folder / "LICENSE").write_text(SHIP)
    (folder / "old.txt").write_bytes("Łódź".encode("cp1250"))
    for name in ("a.heic", "b.heic", "sub/c.bin", ".hidden.bin", "ignored.bin", "notes.txt"):
        (folder / name).write_bytes(BINARY)
    (folder / "yarn.lock").write_text(SHIP)
    (folder / ".gitignore").write_text("ignored.*\n")
    for path in folder.rglob("*"):
        os.utime(path, (LONG_AGO, LONG_AGO))
    return folder


@pytest.fixture
def index(tmp_path: Path) -> Iterator[Index]:
    with Index.create(tmp_path / "index", vectors=small_vectors(tmp_path)) as made:
        yield made
        assert made.verify() == []


NOT_READ = {".heic": 2, ".bin": 1, ".lock": 1, ".txt": 1}


def test_a_sync_counts_what_it_did_not_read_by_ending(index: Index, docs: Path) -> None:
    done = index.sync(docs)
    assert (done.added, dict(done.not_read)) == (2, NOT_READ)
    assert [Path(item.path).name for item in done.skipped] == ["notes.txt"]
    assert SyncReport.from_dict(done.to_dict()) == done


def test_it_says_so_again_where_nothing_has_changed_without_a_look_into_the_files(
    index: Index, docs: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    index.sync(docs)
    generation = index.status().generation
    monkeypatch.setattr("semsearch.indexing.read_files.refusal", None)  # whoever looks into a file fails
    again = index.sync()
    assert (again.unchanged, dict(again.not_read)) == (2, NOT_READ)
    assert index.status().generation == generation


def test_the_status_counts_them_with_and_without_a_look_at_the_disk(index: Index, docs: Path) -> None:
    index.sync(docs)
    for stale in (True, False):
        status = index.status(stale=stale)
        assert (dict(status.not_read), status.partly_read) == (NOT_READ, 1)
        assert Status.from_dict(status.to_dict()) == status


def test_each_problem_is_listed_once_with_its_reason(index: Index, docs: Path) -> None:
    index.sync(docs)
    found = index.problems()
    assert [(Path(each.path).name, each.kind) for each in found] == [
        ("a.heic", "not read"), ("b.heic", "not read"), ("notes.txt", "not read"), ("c.bin", "not read"),
        ("yarn.lock", "not read"), ("old.txt", "doubtful encoding"),
    ]  # fmt: skip
    assert all(each.reason and not each.reason.startswith(each.path) for each in found)
    assert Problem.from_dict(found[0].to_dict()) == found[0]


def test_each_bad_line_of_an_ignore_file_is_a_problem(index: Index, docs: Path) -> None:
    (docs / "sub" / ".gitignore").write_text("!\n!  \n")
    index.sync(docs)
    bad = [each.reason for each in index.problems() if each.path.endswith(".gitignore")]
    assert bad == [
        "'!  ' is not a valid pattern; the line is ignored",
        "'!' is not a valid pattern; the line is ignored",
    ]


def test_a_problem_that_is_mended_or_gone_is_not_listed(index: Index, docs: Path) -> None:
    index.sync(docs)
    (docs / "a.heic").unlink()
    (docs / "b.heic").write_text(SHIP)
    (docs / "old.txt").write_text("Łódź", encoding="utf-8")
    assert [Path(each.path).name for each in index.problems()] == ["notes.txt", "c.bin", "yarn.lock", "old.txt"]
    done = index.sync()
    assert (done.added, done.changed, dict(done.not_read)) == (1, 1, {".bin": 1, ".lock": 1, ".txt": 1})
    assert [Path(each.path).name for each in index.problems()] == ["notes.txt", "c.bin", "yarn.lock"]
    assert index.status().partly_read == 0


def test_what_the_disk_refuses_is_tried_each_time_and_listed(
    index: Index, docs: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (docs / "closed.txt").write_text(SHIP)
    with monkeypatch.context() as patch:
        patch.setattr("semsearch.indexing.read_files.read_file", _refused)
        index.sync(docs)
        [reason] = [each.reason for each in index.problems() if each.path.endswith("closed.txt")]
        assert reason == "cannot be read: Permission denied"
    assert index.sync().added == 3


def _refused(path: Path, **_: object) -> None:
    from semsearch.errors import SourceError

    try:
        raise PermissionError(13, "Permission denied")
    except OSError as error:
        raise SourceError(f"{path} cannot be read: {error.strerror}") from error


def test_a_text_that_becomes_something_else_leaves_the_index_and_is_said_to(index: Index, docs: Path) -> None:
    index.sync(docs)
    (docs / "LICENSE").write_bytes(BINARY)
    done = index.sync()
    assert (done.removed, done.not_read["no ending"]) == (1, 1)
