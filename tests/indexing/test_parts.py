"""A sync of a path in a root changes what that path says, by the root's rules, and looks at nothing else."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from semsearch.errors import SourceError
from semsearch.index import Index
from semsearch.results.reports import SyncReport

SHIP, BREAD = "The captain has a ship.", "The bread is in the oven."


@pytest.fixture
def docs(tmp_path: Path) -> Path:
    folder = tmp_path / "docs"
    (folder / "sea").mkdir(parents=True)
    (folder / "sea" / "ships.txt").write_text(SHIP)
    (folder / "bread.txt").write_text(BREAD)
    return folder


def paths(index: Index) -> set[str]:
    with index._database.reading() as db:
        return {path for (path,) in db.execute("SELECT path FROM documents")}


def counts(done: SyncReport) -> tuple[int, int, int, int, int]:
    return done.added, done.changed, done.moved, done.removed, done.unchanged


def test_a_new_file_and_a_new_folder_are_taken_in(index: Index, docs: Path) -> None:
    (docs / "new.txt").write_text("The moon.")
    (docs / "more" / "deep").mkdir(parents=True)
    (docs / "more" / "deep" / "a.md").write_text("A rose.")
    assert counts(index.sync(docs / "new.txt", docs / "more")) == (2, 0, 0, 0, 0)
    assert index.roots == (docs.as_posix(),)


def test_a_deleted_file_and_a_deleted_folder_leave_the_index(index: Index, docs: Path) -> None:
    (docs / "a.txt").write_text("The moon.")
    index.sync()
    (docs / "a.txt").unlink()
    assert counts(index.sync(docs / "a.txt")) == (0, 0, 0, 1, 0)
    (docs / "sea" / "ships.txt").unlink()
    (docs / "sea").rmdir()
    assert counts(index.sync(docs / "sea")) == (0, 0, 0, 1, 0)
    assert paths(index) == {"bread.txt"}


def test_a_path_that_is_neither_there_nor_of_the_index_is_an_error(index: Index, docs: Path) -> None:
    with pytest.raises(SourceError, match="there is no file or folder"):
        index.sync(docs / "nothing.txt")


def test_what_the_rules_leave_out_is_not_taken_in_and_said_to_be(index: Index, docs: Path) -> None:
    (docs / ".gitignore").write_text("draft*\n")
    for name in ("draft.txt", ".hidden.txt"):
        (docs / name).write_text("The moon.")
        done = index.sync(docs / name)
        assert counts(done) == (0, 0, 0, 0, 0)
        assert done.warnings == (f"{docs / name} is not indexed: it is hidden, ignored or excluded",)
    assert paths(index) == {"bread.txt", "sea/ships.txt"}


def test_a_file_that_is_ignored_by_now_leaves_the_index(index: Index, docs: Path) -> None:
    (docs / ".gitignore").write_text("ships*\n")
    assert counts(index.sync(docs / "sea" / "ships.txt")) == (0, 0, 0, 1, 0)


def test_a_file_of_rules_stands_for_its_folder(index: Index, docs: Path) -> None:
    (docs / "sea" / ".semsearchignore").write_text("*\n")
    assert counts(index.sync(docs / "sea" / ".semsearchignore")) == (0, 0, 0, 1, 0)
    (docs / ".gitignore").write_text("nothing\n")
    assert counts(index.sync(docs / ".gitignore")) == (0, 0, 0, 0, 1)


def test_the_last_documents_of_a_root_are_kept_and_asked_about(index: Index, docs: Path) -> None:
    for name in ("bread.txt", "sea/ships.txt"):
        (docs / name).unlink()
    done = index.sync(docs / "bread.txt", docs / "sea" / "ships.txt")
    assert done.removed == 0
    assert "has no files any more; its 2 documents were kept" in done.warnings[0]
    (docs / "sea").rmdir()
    docs.rmdir()
    assert "no longer exists; its 2 documents were kept" in index.sync(docs / "bread.txt").warnings[0]
    assert paths(index) == {"bread.txt", "sea/ships.txt"}


def test_skipped_files_elsewhere_stay_remembered(index: Index, docs: Path) -> None:
    (docs / "binary.txt").write_bytes(b"\x00\x01\x02\x03" * 300)
    os.utime(docs / "binary.txt", (1, 1))
    told = index.sync().skipped
    assert len(told) == 1
    index.sync(docs / "bread.txt")
    (docs / "bread.txt").write_text("Butter.")
    assert index.sync(docs / "bread.txt").skipped == ()
    (docs / "binary.txt").chmod(0o600)
    reads: list[str] = []
    index.sync(progress=lambda step: reads.append(step.path))
    assert not any(path.endswith("binary.txt") for path in reads)


@pytest.mark.skipif(os.name == "nt", reason="links need rights there")
def test_a_link_to_a_file_in_a_root_is_that_entry_of_the_root(index: Index, docs: Path, tmp_path: Path) -> None:
    (docs / "inside").mkdir()
    (docs / "inside" / "moon.txt").write_text("The moon.")
    (docs / "link.txt").symlink_to("inside/moon.txt")
    assert counts(index.sync(docs / "link.txt")) == (1, 0, 0, 0, 0)
    assert index.roots == (docs.as_posix(),)
    assert "link.txt" in paths(index)


def test_old_files_with_odd_names_are_unchanged_and_one_that_has_the_size_of_before_is_compared(
    index: Index, docs: Path
) -> None:
    odd = [docs / "a,b.txt", docs / "Café\u0301.txt", docs / "rose, moon.txt"]
    for number, path in enumerate(odd):
        path.write_text(f"The rose has {number} thorns.")
    for path in docs.rglob("*.txt"):
        os.utime(path, (1_000_000_000, 1_000_000_000))
    assert counts(index.sync())[0] == 3
    assert counts(index.sync()) == (0, 0, 0, 0, 5)
    odd[0].write_text("The rose has 9 thorns.")  # as long as before, at another time
    odd[1].unlink()
    odd[2].rename(docs / "moved, moon.txt")
    assert counts(index.sync()) == (0, 1, 1, 1, 2)
    assert paths(index) == {"a,b.txt", "bread.txt", "sea/ships.txt", "moved, moon.txt"}


def test_of_old_files_each_difference_of_size_or_time_is_seen(index: Index, docs: Path) -> None:
    files = [docs / f"{name}.txt" for name in ("same", "longer", "later", "earlier", "gone")]
    for path in files:
        path.write_text("A rose.")
        os.utime(path, ns=(10**18, 10**18))
    index.sync()
    _, longer, later, earlier, gone = files
    longer.write_text("A rose and a moon.")
    os.utime(longer, ns=(10**18, 10**18))
    for path, moment in ((later, 10**18 + 1), (earlier, 10**18 - 1)):
        path.write_text("A moon.")
        os.utime(path, ns=(moment, moment))
    gone.unlink()
    assert counts(index.sync()) == (0, 3, 0, 1, 3)
    assert counts(index.sync()) == (0, 0, 0, 0, 6)
