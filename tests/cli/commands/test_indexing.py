"""`semsearch index`, `remove`, `refit`, `status`, `list` and `verify`: what is said, and with which exit status."""

from __future__ import annotations

import os
import shutil
import signal
import sqlite3
from contextlib import ExitStack, closing
from pathlib import Path
from typing import Any
from unittest.mock import Mock

import pytest
from console import INDEX, semsearch, write_docs

from semsearch import Index
from semsearch.indexing import sync
from semsearch.system.locking import writer_lock
from semsearch.word_vectors.table import VectorTable


@pytest.fixture
def empty(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder to work in, with documents and no index."""
    write_docs(tmp_path)
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("SEMSEARCH_INDEXES", raising=False)
    return tmp_path


@pytest.fixture
def made(empty: Path, small_vectors: VectorTable) -> Path:
    """A world of documents, with an index of them."""
    result = semsearch("index", "docs", "--vectors", small_vectors.folder)
    assert result.status == 0
    return empty


def test_index_says_in_one_line_what_it_did_and_of_a_new_index_how_to_ask_it(
    empty: Path, small_vectors: VectorTable
) -> None:
    result = semsearch("index", "docs", "--vectors", small_vectors.folder)
    assert result.status == 0
    assert result.err == ""
    line, where = result.lines
    assert line.startswith(f"{Path(INDEX)}: 2 added; 7 sentences")
    assert where == f'new index in {empty / INDEX}; ask it from anywhere: semsearch query --index docs "..."'
    assert len(semsearch("index", "docs").lines) == 1
    _, where = semsearch("index", "docs/more", "docs/guide.md", "--vectors", small_vectors.folder).lines
    assert where.startswith(f"new index of docs/more, docs/guide.md in {empty / 'indexes' / 'more'}; ask it")


def test_a_changed_and_a_removed_file_are_reported_as_json(made: Path) -> None:
    (made / "docs" / "guide.md").write_text("The moon and a comet.\n")
    (made / "docs" / "more" / "notes.txt").unlink()
    report = semsearch("index", "docs", "--json").json
    assert (report["changed"], report["removed"], report["unchanged"]) == (1, 1, 0)
    assert Path(report["index"]) == Path(INDEX)


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["typo"], "there is no file or folder typo; "),
        (["red\x1b[31m"], "there is no file or folder red?[31m; "),
        (["x" * 5000], f"'{'x' * 80}'… cannot be a path: File name too long; "),
        (["docs", "--set", "a=-1"], "a must be at least 1e-12, not -1.0; "),
        (["docs", "--max-file-size", "inf"], "--max-file-size must be a number of megabytes, not inf; "),
    ],
)
def test_what_cannot_be_meant_is_one_line_and_leaves_no_trace(
    empty: Path, small_vectors: VectorTable, arguments: list[str], said: str
) -> None:
    result = semsearch("index", *arguments, "--vectors", small_vectors.folder)
    assert (result.status, result.out) == (2, "")
    assert result.err.startswith(f"semsearch: {said}")
    assert len(result.err.splitlines()) == 1
    assert not (empty / "indexes").exists()


def test_an_option_that_is_none_is_one_line_before_a_command_too(empty: Path) -> None:
    for command in ([], ["list"]):
        (line,) = semsearch(*command, "--nosuch").err.splitlines()
        assert line.startswith("semsearch: No such option: --nosuch; see: ")


def test_a_vanished_root_is_kept_until_pruned(made: Path) -> None:
    (made / "docs").rename(made / "elsewhere")
    result = semsearch("index")
    assert result.status == 2  # there was nothing that could be indexed
    assert "(--prune removes them); if it was moved, index its new place" in result.err
    assert semsearch("query", "bread").status == 0
    assert "2 removed" in semsearch("index", "--prune").out
    assert semsearch("query", "bread").status == 1


def test_another_method_needs_a_rebuild(made: Path) -> None:
    result = semsearch("index", "docs", "--set", "method=usif")
    assert result.status == 2
    assert "semsearch index --rebuild --name indexes/docs --set method=usif" in result.err
    assert semsearch("index", "--rebuild", "--set", "method=usif").status == 0
    assert semsearch("status", "--json").json["method"] == "usif"
    assert semsearch("verify").status == 0


def test_without_an_index_commands_say_how_to_make_one(empty: Path) -> None:
    for command in (["index"], ["status"], ["verify"], ["refit"], ["remove", "docs"]):
        result = semsearch(*command)
        assert result.status == 2
        assert result.err == "semsearch: no index of this folder; create one: semsearch index .\n"
    result = semsearch("list")
    assert (result.status, result.out) == (0, "")
    assert "create one: semsearch index ." in result.err
    assert semsearch("list", "--json").json == []


def test_indexes_live_where_one_says(empty: Path, small_vectors: VectorTable, monkeypatch: pytest.MonkeyPatch) -> None:
    assert semsearch("index", "docs", "--indexes", "here", "--vectors", small_vectors.folder).status == 0
    assert (empty / "here" / "docs" / "index.sqlite").is_file()
    assert semsearch("query", "ship", "--indexes", "elsewhere").status == 2
    monkeypatch.setenv("SEMSEARCH_INDEXES", "here")
    assert semsearch("query", "ship").status == 0
    result = semsearch("query", "ship", "--indexes", "here/docs")
    assert result.status == 2
    assert "is itself an index" in result.err


def test_a_damaged_index_is_one_line(made: Path) -> None:
    shutil.rmtree(made / INDEX)
    (made / INDEX).mkdir()
    (made / INDEX / "index.sqlite").write_bytes(b"no database at all" * 100)
    for command in (["query", "ship"], ["status"], ["index", "docs"], ["verify"]):
        result = semsearch(*command)
        assert result.status == 2
        assert result.err.startswith("semsearch: ")
        assert len(result.err.splitlines()) == 1
    assert "docs" in semsearch("list").out
    assert semsearch("list", "--json").json[0]["problem"]


def test_list_says_of_an_index_of_an_earlier_version_first_that_it_is_one(made: Path) -> None:
    with closing(sqlite3.connect(made / INDEX / "index.sqlite")) as db:
        db.execute("PRAGMA user_version = 1")
    (line,) = [line for line in semsearch("list").lines if line.startswith("docs")]
    assert "  was made by an earlier semsearch; delete it (semsearch delete " in line
    assert line.split()[1:3] == ["?", "?"]


def test_verify_lists_problems_with_status_one(made: Path) -> None:
    assert semsearch("verify").status == 0
    next((made / INDEX / "segments").glob("sentence-*")).unlink()
    result = semsearch("verify")
    assert result.status == 1
    assert any("missing" in line for line in result.lines)
    assert "Traceback" not in result.err


def test_status_is_for_people_and_as_json_for_programs(made: Path) -> None:
    facts = dict(line.split(maxsplit=1) for line in semsearch("status", "docs").lines)
    assert (facts["files"], facts["fresh"], facts["problems"]) == ("2", "yes", "none")
    assert facts.keys().isdisjoint({"passages", "method", "generation"})
    details = dict(line.split(maxsplit=1) for line in semsearch("status", "--verbose").lines)
    assert details.keys() > facts.keys() | {"passages", "method", "fitted_sentences"}
    facts = semsearch("status", "--json").json
    assert (facts["documents"], facts["sentences"], facts["stale"]) == (2, 7, 0)
    (made / "docs" / "new.md").write_text("The moon.\n")
    assert "1 file changed" in semsearch("status").out


def test_an_interrupted_first_index_keeps_its_folder_and_says_how_to_continue(
    empty: Path, small_vectors: VectorTable, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as patched:
        patched.setattr(sync, "apply_changes", Mock(side_effect=KeyboardInterrupt))
        result = semsearch("index", "docs", "--exclude", "more/", "--vectors", small_vectors.folder)
    assert result.status == 130
    command = "semsearch index --name indexes/docs"
    status = semsearch("status")
    assert f"fresh      no: its first indexing was interrupted; to continue, run: {command}" in status.lines
    assert "its first indexing was interrupted" in semsearch("query", "bread").err
    assert semsearch("verify").status == 0
    assert "1 added" in semsearch(*command.split()[1:]).out  # by the globs of the interrupted command


def test_a_dry_run_lists_what_would_be_read_and_the_rule_that_leaves_out_the_rest(empty: Path) -> None:
    (empty / "docs" / ".gitignore").write_text("# ours\n*.log\n", encoding="utf-8")
    for name in ("a.log", ".secret.md", "old.css"):
        (empty / "docs" / name).write_text("The ship.", encoding="utf-8")
    result = semsearch("index", "docs", "--dry-run", "--exclude", "more/", "--json").json
    assert [file["path"] for file in result["read"]] == ["docs/guide.md"]
    left_out = {item["path"]: item["reason"] for item in result["left_out"]}
    assert left_out["docs/a.log"] == "docs/.gitignore:2: *.log"
    assert (left_out["docs/.secret.md"], left_out["docs/more/"]) == ("hidden", "--exclude")
    assert "style sheet" in left_out["docs/old.css"]
    assert not (empty / "indexes").exists()
    lines = semsearch("index", "docs", "--dry-run", "--hidden").lines
    assert any(line.startswith("read      docs/.secret.md") for line in lines)


def test_hidden_files_are_taken_on_request_and_by_later_syncs(empty: Path, small_vectors: VectorTable) -> None:
    (empty / "docs" / ".hidden").mkdir()
    (empty / "docs" / ".hidden" / "a.md").write_text("The anchor.", encoding="utf-8")
    (empty / "docs" / ".git").mkdir()
    (empty / "docs" / ".git" / "config.txt").write_text("The anchor.", encoding="utf-8")
    assert "3 added" in semsearch("index", "docs", "--hidden", "--vectors", small_vectors.folder).out
    assert "3 unchanged" in semsearch("index").out
    assert len(semsearch("index", "--dry-run", "--json").json["read"]) == 3


# -- The first question ------------------------------------------------------------------------------------------------


def test_a_question_without_an_index_says_which_command_makes_one(empty: Path) -> None:
    for command in (["query", "ship"], ["context", "ship"], ["a question of", "ships"]):
        result = semsearch(*command)
        assert (result.status, result.out) == (2, "")
        told = "semsearch: no index of this folder; create one: semsearch index . (or query with --refresh)\n"
        assert result.err == told


def test_a_question_is_answered_after_the_folder_was_indexed_first(empty: Path, small_vectors: VectorTable) -> None:
    result = semsearch("query", "captain", "--refresh", "--vectors", small_vectors.folder, "--format", "paths")
    assert (result.status, result.lines[0]) == (0, "docs/guide.md")
    assert "2 added" in result.err
    assert semsearch("status", "--json").json["roots"] == [empty.as_posix()]
    again = semsearch("query", "captain", "--refresh", "--format", "paths")
    assert (again.out, again.err) == (result.out, "")


@pytest.mark.parametrize("answer", [True, False])
def test_on_a_terminal_a_question_offers_once_to_index_the_folder(
    empty: Path, small_vectors: VectorTable, monkeypatch: pytest.MonkeyPatch, answer: bool
) -> None:
    asked = Mock(return_value=answer)
    monkeypatch.setattr("semsearch.cli.index_files.ask_on_terminal", asked)
    result = semsearch("query", "captain", "--vectors", small_vectors.folder)
    assert asked.call_args.args == ("No index of this folder. Index it now?",)
    assert (result.status, (empty / "indexes").exists()) == ((0, True) if answer else (2, False))


def test_the_home_folder_is_never_indexed_without_a_question(empty: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(empty))
    monkeypatch.setenv("USERPROFILE", str(empty))
    result = semsearch("query", "ship", "--refresh")
    assert (result.status, (empty / "indexes").exists()) == (2, False)
    assert "create one: semsearch index FOLDER" in result.err


def test_an_index_in_the_folder_that_it_is_of_never_reads_itself(made: Path) -> None:
    assert semsearch("index", ".", "--name", "all").status == 0
    assert "unchanged" in (again := semsearch("index", ".", "--name", "all").out)
    assert not {"added", "changed"} & set(again.replace(",", " ").split())
    with Index.open(made / "indexes" / "all") as index:
        assert {document.path.split("/")[0] for document in index.documents()} == {"docs"}
        assert not index.status().stale


@pytest.mark.skipif(os.name == "nt", reason="there are no such signals")
def test_a_system_that_shuts_down_interrupts_it(
    empty: Path, small_vectors: VectorTable, monkeypatch: pytest.MonkeyPatch
) -> None:
    number = signal.SIGTERM
    before = signal.getsignal(number)
    monkeypatch.setattr(Index, "sync", lambda *_, **__: signal.raise_signal(number))
    result = semsearch("index", "docs", "--vectors", small_vectors.folder)
    assert (result.status, result.err) == (130, "semsearch: interrupted; nothing was changed\n")
    assert not (empty / INDEX).exists()
    assert signal.getsignal(number) is before


def test_a_first_run_leaves_alone_what_another_process_is_writing(
    empty: Path, small_vectors: VectorTable, monkeypatch: pytest.MonkeyPatch
) -> None:
    create = Index.create

    def overtaken(*arguments: Any, **options: Any) -> Index:
        made = create(*arguments, **options)
        with Index.open(made.path) as other:
            other.sync("docs")
        lock.enter_context(writer_lock(made.path))  # and goes on writing
        return made

    monkeypatch.setattr(Index, "create", overtaken)
    with ExitStack() as lock:
        result = semsearch("index", "docs", "--vectors", small_vectors.folder)
        assert result.status == 2
        assert "another process is writing" in result.err
    assert semsearch("query", "bread").status == 0
    assert semsearch("verify").status == 0


BINARY = bytes(range(256)) * 8


def test_status_counts_and_lists_what_was_not_read(made: Path) -> None:
    (made / "docs" / "a.heic").write_bytes(BINARY)
    (made / "docs" / "old.txt").write_bytes("Łódź".encode("cp1250"))
    semsearch("index")
    status = semsearch("status")
    problems = "not read: 1 .heic; partly read: 1 file (semsearch status --problems lists them)"
    assert f"problems   {problems}" in status.lines
    assert (semsearch("status", "--json").json["not_read"], semsearch("status", "--json").json["partly_read"]) == (
        {".heic": 1},
        1,
    )
    first, second = semsearch("status", "--problems").lines
    assert first == f"{Path('docs/a.heic')}: not read: is binary, and has no reader"
    assert second.startswith(f"{Path('docs/old.txt')}: doubtful encoding: read as ")
    (made / "docs" / "b.heic").write_bytes(BINARY)
    semsearch("index")
    assert semsearch("status", "--problems").lines[:3] == [
        "not read: is binary, and has no reader:",
        "  docs/a.heic",
        "  docs/b.heic",
    ]
    listed = semsearch("status", "--problems", "--json").json
    assert [problem["kind"] for problem in listed["problems"]] == ["not read", "not read", "doubtful encoding"]


def test_of_many_files_that_are_skipped_the_first_are_named(made: Path) -> None:
    for number in range(12):
        (made / "docs" / f"{number}.pdf").write_bytes(b"%PDF-1.7\n\0 no such thing")
    errors = semsearch("index").err.splitlines()
    assert len(errors) == 11
    assert "skipped 2 more files: semsearch status --problems" in errors[-1]


@pytest.mark.skipif(os.name == "nt", reason="the current folder cannot be deleted there")
def test_a_current_folder_that_was_deleted_is_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "here").mkdir()
    monkeypatch.chdir(tmp_path / "here")
    (tmp_path / "here").rmdir()
    try:
        result = semsearch("index", ".")
    finally:
        monkeypatch.chdir(tmp_path)
    assert (result.status, result.out) == (2, "")
    assert "the current folder no longer exists; change to an existing one" in result.err
