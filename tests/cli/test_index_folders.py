"""An index is found from anywhere: in this folder, in one above, or among the user's own."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from console import index_docs, semsearch, work_in, write_docs

from semsearch.word_vectors.table import VectorTable


@pytest.fixture
def project(tmp_path: Path, small_vectors: VectorTable, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with an index of its documents, which is the current one."""
    folder = tmp_path / "project"
    write_docs(folder)
    index_docs(folder, small_vectors)
    work_in(folder, monkeypatch)
    return folder


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """The user's own folder of indexes."""
    return tmp_path / "user-data" / "indexes"


@pytest.fixture
def outside(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder in no project, which is the current one."""
    folder = tmp_path / "elsewhere"
    folder.mkdir()
    work_in(folder, monkeypatch)
    return folder


def made(*arguments: object, vectors: VectorTable) -> str:
    """Index, and return the folder of the index."""
    result = semsearch("index", *arguments, "--vectors", vectors.folder, "--json")
    assert result.status == 0, result.err
    return str(result.json["index"])


def test_an_index_is_found_from_below(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    here = semsearch("query", "captain", "--json").json["hits"]
    monkeypatch.chdir(project / "docs" / "more")
    for named in ([], ["-i", "docs"]):
        hits = semsearch("query", "captain", *named, "--json").json["hits"]
        assert [hit["passage_id"] for hit in hits] == [hit["passage_id"] for hit in here]
    assert semsearch("index", "-q").status == 0
    assert not (project / "docs" / "more" / "indexes").exists()


def test_the_folder_at_hand_comes_before_those_above(
    project: Path, small_vectors: VectorTable, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(project / "docs")
    assert made("more", "--name", "indexes/docs", vectors=small_vectors) == str(Path("indexes") / "docs")
    assert semsearch("query", "captain", "-i", "docs", "-m", "lexical").status == 1  # only the notes are in it
    monkeypatch.chdir(project / "docs" / "more")
    assert semsearch("status", "--json").json["documents"] == 1


def test_an_index_of_the_same_folder_is_brought_up_to_date_whatever_its_name(
    project: Path, home: Path, small_vectors: VectorTable, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert made("docs/more", "--indexes", home, "--name", "mine", vectors=small_vectors) == str(home / "mine")
    monkeypatch.chdir(project / "docs")
    assert made("more", vectors=small_vectors) == str(home / "mine")
    assert made(".", vectors=small_vectors) == str(project / "indexes" / "docs")
    for name in ("a", "b"):
        assert made("more/notes.txt", "--name", name, vectors=small_vectors) == str(Path("indexes") / name)
    several = semsearch("index", "more/notes.txt")
    assert several.status == 2
    assert f"2 indexes are of more/notes.txt: .{os.sep}indexes/a, .{os.sep}indexes/b; choose one: --name" in several.err


def test_what_is_not_below_this_folder_is_indexed_among_ones_own(
    project: Path, home: Path, outside: Path, small_vectors: VectorTable
) -> None:
    more = project / "docs" / "more"
    result = semsearch("index", more, "--vectors", small_vectors.folder)
    first, where = result.lines
    assert first.startswith(f"{home / 'more'}: 1 added; ")
    assert where == f'new index in {home / "more"}; ask it from anywhere: semsearch query --index more "..."'
    assert result.err == ""
    assert list(outside.iterdir()) == []
    assert semsearch("query", "violin").status == 0
    assert str(home / "more") in semsearch("index", more).out


def test_an_index_of_the_name_of_other_folders_is_joined_only_by_its_name(
    project: Path, small_vectors: VectorTable, monkeypatch: pytest.MonkeyPatch
) -> None:
    other = project / "sub" / "docs"
    other.mkdir(parents=True)
    (other / "a.txt").write_text("A violin.", encoding="utf-8")
    result = semsearch("index", "sub/docs", "--vectors", small_vectors.folder)
    assert (result.status, result.out) == (2, "")
    refused = f"{Path('indexes/docs')} is an index of other folders, docs; pass --name docs to add sub/docs to it"
    assert f"{refused}, or another name for an index of its own" in result.err
    monkeypatch.chdir(project / "sub")
    assert semsearch("status", "--json").json["documents"] == 2
    assert made("docs", "--name", "docs", vectors=small_vectors) == str(project / "indexes" / "docs")
    assert semsearch("status", "--json").json["documents"] == 3


def test_a_project_that_moves_with_its_index_is_indexed_at_its_new_place(
    project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(project.parent)
    project.rename("moved")
    monkeypatch.chdir(project.parent / "moved")
    refused = semsearch("index", "docs")
    assert (refused.status, refused.out) == (2, "")
    assert "if it was moved here, run: semsearch index docs --name" in refused.err
    assert semsearch("trust", "./indexes/docs", "--yes").status == 0
    assert semsearch("index", "docs", "--name", Path("indexes/docs"), "--prune").status == 0
    status = semsearch("status", "--json").json
    assert (status["roots"], status["documents"]) == ([(project.parent / "moved" / "docs").as_posix()], 2)


def test_all_indexes_are_listed_with_where_they_are(
    project: Path, home: Path, small_vectors: VectorTable, monkeypatch: pytest.MonkeyPatch
) -> None:
    made(project / "docs" / "more", "--indexes", home, vectors=small_vectors)
    monkeypatch.chdir(project / "docs")
    found = semsearch("indexes", "--json").json
    assert [(each["name"], Path(each["path"]).parent) for each in found] == [
        ("docs", project / "indexes"),
        ("more", home),
    ]
    assert all(each["updated"].startswith("20") and each["documents"] for each in found)
    header, docs, more = semsearch("indexes").lines
    assert header.split() == ["index", "documents", "size", "updated", "in", "of"]
    assert str(project / "indexes") in docs
    assert str(home) in more
    assert semsearch("query", "violin", "-i", "more").status == 0


def test_the_nearest_folder_that_has_indexes_decides_which_is_the_only_one(
    project: Path, home: Path, small_vectors: VectorTable
) -> None:
    made("docs/more", "--indexes", home, vectors=small_vectors)
    assert semsearch("status", "--json").json["documents"] == 2
    result = semsearch("query", "ship", "-i", "none")
    assert "there is no index 'none'; there are docs, more (semsearch list shows all)" in result.err


# -- Which indexes are asked -------------------------------------------------------------------------------------------


@pytest.fixture
def several(project: Path, small_vectors: VectorTable, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A project with two indexes, of docs and of letters, which is the current folder."""
    (project / "letters" / "old").mkdir(parents=True)
    (project / "letters" / "a.txt").write_text("The captain writes a letter.", encoding="utf-8")
    assert made("letters", vectors=small_vectors) == str(Path("indexes") / "letters")
    return project


def test_the_index_whose_folder_one_is_in_is_asked(several: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for folder, paths in (("docs/more", {"../guide.md", "notes.txt"}), ("letters/old", {"../a.txt"})):
        monkeypatch.chdir(several / folder)
        hits = semsearch("query", "captain", "--all", "--json").json["hits"]
        assert {os.path.relpath(hit["path"]) for hit in hits} == paths


def test_all_indexes_of_the_closest_folder_are_meant(
    several: Path, home: Path, small_vectors: VectorTable, monkeypatch: pytest.MonkeyPatch
) -> None:
    made(".", "--indexes", home, "--name", "all", vectors=small_vectors)
    monkeypatch.chdir(several / "letters")
    hits = semsearch("query", "captain of the ship", "--all", "--json").json["hits"]
    assert {Path(hit["path"]).name for hit in hits} == {"a.txt"}
    assert semsearch("status", "--json").json["path"] == str(several / "indexes" / "letters")
    assert made(".", "--indexes", "twice", "--name", "a", vectors=small_vectors) == str(Path("twice") / "a")
    monkeypatch.chdir(several / "letters" / "old")
    assert [line.split()[1] for line in semsearch("status").lines if line.startswith("index")] == [
        str(several / "indexes" / "letters"),
        str(several / "letters" / "twice" / "a"),
    ]
    assert len(semsearch("verify").lines) == 2
    which = semsearch("refit")
    assert which.status == 2
    assert "2 indexes may be meant: letters, a (semsearch list); choose one: --index" in which.err


def test_all_in_the_folder_of_indexes_are_asked_and_elsewhere_one_is_to_be_named(
    several: Path, outside: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(several)
    hits = semsearch("query", "the captain and the violin", "--all", "--json").json["hits"]
    assert {hit["index"] for hit in hits} == {"docs", "letters"}
    assert [status["documents"] for status in semsearch("status", "--json").json] == [2, 1]
    assert "2 indexes may be meant: docs, letters" in semsearch("refit").err
    monkeypatch.chdir(outside)
    _, told, one = semsearch("query", "the captain").err.rpartition("(semsearch list): ")
    assert told
    assert semsearch("query", "the captain", *one.split()).status == 0


def test_an_index_is_named_from_anywhere(several: Path, outside: Path, small_vectors: VectorTable) -> None:
    assert semsearch("query", "captain", "-i", "letters").status == 0
    assert {each["name"] for each in semsearch("list", "--json").json} == {"docs", "letters"}
    write_docs(outside)
    (outside / "letters").mkdir()
    (outside / "letters" / "b.txt").write_text("A violin.", encoding="utf-8")
    out = semsearch("index", "letters", "--vectors", small_vectors.folder).out
    assert f"semsearch query --index {outside / 'indexes' / 'letters'}" in out  # the name alone means another elsewhere
