"""`semsearch describe`, `delete`, and the words that people try for commands."""

from __future__ import annotations

import errno
from pathlib import Path

import pytest
from console import index_docs, semsearch, work_in, write_docs

from semsearch.system import locking
from semsearch.system.locking import writer_lock
from semsearch.word_vectors.table import VectorTable


@pytest.fixture
def made(tmp_path: Path, small_vectors: VectorTable, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder to work in, with an index of its documents."""
    write_docs(tmp_path)
    work_in(index_docs(tmp_path, small_vectors), monkeypatch)
    return tmp_path


# -- describe ----------------------------------------------------------------------------------------------------------


def test_a_description_is_shown_wherever_the_index_is(made: Path) -> None:
    nothing = semsearch("describe", "docs")
    assert (nothing.status, nothing.out) == (0, "")
    assert "has no description" in nothing.err
    assert semsearch("describe", "docs", " Ships\nand  bread. ").out == "Ships and bread.\n"
    assert semsearch("describe", "docs").out == "Ships and bread.\n"
    assert semsearch("list").lines[1].endswith("docs: Ships and bread.")
    assert semsearch("list", "--json").json[0]["description"] == "Ships and bread."
    assert "about      Ships and bread." in semsearch("status").lines
    assert semsearch("verify").status == 0
    assert "at most 300 characters, not 301" in semsearch("describe", "docs", "x" * 301).err
    assert semsearch("describe", "docs", "").err == nothing.err
    assert semsearch("status", "--json").json["description"] == ""


# -- delete ------------------------------------------------------------------------------------------------------------


def test_an_index_is_deleted_and_its_documents_never(made: Path) -> None:
    files = sorted(Path("docs").rglob("*"))
    asked = semsearch("delete", "docs")
    assert (asked.status, asked.out) == (2, "")
    first, *rest = asked.err.splitlines()
    assert first.startswith(f"semsearch: {made / 'indexes' / 'docs'} has 2 documents of docs, ")
    assert rest == [
        "semsearch: the files themselves are not touched",
        "semsearch: nothing was deleted; to delete it, run: semsearch delete docs --yes",
    ]
    assert semsearch("query", "captain").status == 0
    assert semsearch("delete", "docs", "--yes").out == "deleted ./indexes/docs\n"
    assert sorted(Path("docs").rglob("*")) == files
    assert not Path("indexes/docs").exists()
    assert semsearch("list", "--json").json == []
    assert "there is no index 'docs'" in semsearch("delete", "docs", "--yes").err


def test_what_is_not_of_an_index_stays(made: Path) -> None:
    Path("indexes/docs/thesis.txt").write_text("Mine.", encoding="utf-8")
    Path("indexes/docs/mine").mkdir()
    deleted = semsearch("delete", "./indexes/docs", "--yes")
    assert deleted.status == 0
    assert "./indexes/docs stays, with what is not of the index: mine, thesis.txt" in deleted.err
    assert sorted(path.name for path in Path("indexes/docs").iterdir()) == ["mine", "thesis.txt"]


def test_an_index_is_deleted_to_make_room_on_a_full_disk(made: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(locking, "replace_file", refuse)
    assert semsearch("delete", "docs", "--yes").out == "deleted ./indexes/docs\n"
    assert not Path("indexes/docs").exists()


def test_what_is_no_index_is_not_deleted(made: Path) -> None:
    Path("other/docs").mkdir(parents=True)
    Path("other/docs/index.sqlite").write_bytes(b"no database at all" * 100)
    for named, why in (
        ("./docs", "there is no index './docs'"),
        ("./other/docs", "is damaged or not an index"),
        ("s3://bucket/docs", "is a published copy"),
    ):
        refused = semsearch("delete", named, "--yes")
        assert (refused.status, refused.out) == (2, "")
        assert why in refused.err
    Path("other/link").symlink_to(made / "indexes" / "docs")
    assert "is a link to" in semsearch("delete", "other/link", "--yes").err
    with writer_lock(made / "indexes" / "docs"):
        assert "another process is writing" in semsearch("delete", "docs", "--yes").err
    assert semsearch("query", "captain").status == 0


# -- Words that people try ---------------------------------------------------------------------------------------------


def test_words_that_people_try_are_the_commands_that_they_mean(made: Path) -> None:
    assert semsearch("search", "captain").out == semsearch("query", "captain").out
    assert semsearch("ls").out == semsearch("indexes").out == semsearch("list").out
    assert semsearch("list", "docs").out == semsearch("list", "-i", "docs").out
    assert semsearch("help").out == semsearch("--help").out
    assert semsearch("version").out == semsearch("--version").out
    assert semsearch("help", "query").out == semsearch("query", "--help").out
    assert semsearch("rm", "docs/more/notes.txt").out.endswith("1 removed\n")
    assert semsearch("sync").status == 0
    shown = semsearch("--help").out
    assert "No such command 'qurey'. Did you mean 'query'" in semsearch("qurey", "captain", "-k", "3").err
    assert "No such command 'serach'" in semsearch("serach", "captain").err
    assert "To search for it: semsearch query deposit; see: " in semsearch("deposit").err
    assert semsearch("what does the captain do?").out == semsearch("query", "what does the captain do?").out
    assert semsearch("captain", "ship").out == semsearch("query", "captain ship").out
    assert "describe" in shown
    assert "  search " not in shown


def test_an_index_that_is_to_be_removed_is_told_from_a_document(made: Path) -> None:
    Path("docs").rename("gone")
    assert semsearch("index", "--prune").status == 0
    removed = semsearch("rm", "docs")
    assert removed.status == 2
    assert "nothing was removed (semsearch delete INDEX deletes a whole index)" in removed.err


@pytest.mark.parametrize("group", ["vectors", "evaluate"])
def test_a_group_without_its_command_prints_its_help_and_nothing_else(group: str) -> None:
    answer = semsearch(group)
    assert answer.status == 2
    assert f" {group} [OPTIONS] COMMAND" in answer.out
    assert answer.err == ""
