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
    (project / "docs" / "indexes").mkdir()
    assert made("more", "--name", "docs", vectors=small_vectors) == str(Path("indexes") / "docs")
    assert semsearch("query", "captain", "-i", "docs", "-m", "lexical").status == 1  # only the notes are in it
    monkeypatch.chdir(project / "docs" / "more")
    assert semsearch("status", "--json").json["documents"] == 1


def test_a_new_index_goes_to_the_projects_own(
    project: Path, small_vectors: VectorTable, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(project / "docs")
    assert made("more", vectors=small_vectors) == str(project / "indexes" / "more")
    assert not (project / "docs" / "indexes").exists()


def test_what_is_not_below_this_folder_is_indexed_among_ones_own(
    project: Path, home: Path, outside: Path, small_vectors: VectorTable
) -> None:
    result = semsearch("index", project / "docs", "--vectors", small_vectors.folder)
    assert str(home / "docs") in result.out
    assert "saved to your personal indexes" in result.err
    assert list(outside.iterdir()) == []
    assert semsearch("query", "captain").status == 0
    assert str(home / "docs") in semsearch("index", project / "docs").out


def test_what_is_below_this_folder_is_indexed_here(home: Path, outside: Path, small_vectors: VectorTable) -> None:
    write_docs(outside)
    assert made("docs", vectors=small_vectors) == str(Path("indexes") / "docs")
    assert not home.exists()


def test_an_index_of_ones_own_is_brought_up_to_date_where_it_is(
    home: Path, outside: Path, small_vectors: VectorTable, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_docs(outside / "deep")
    monkeypatch.chdir(outside / "deep" / "docs" / "more")
    assert made("../../docs", vectors=small_vectors) == str(home / "docs")
    monkeypatch.chdir(outside / "deep")
    assert made("docs", vectors=small_vectors) == str(home / "docs")
    assert not (outside / "deep" / "indexes").exists()


def test_an_index_of_the_name_of_other_folders_is_not_joined_from_afar(
    project: Path, small_vectors: VectorTable, monkeypatch: pytest.MonkeyPatch
) -> None:
    other = project / "sub" / "docs"
    other.mkdir(parents=True)
    (other / "a.txt").write_text("A violin.", encoding="utf-8")
    monkeypatch.chdir(project / "sub")
    result = semsearch("index", "docs", "--vectors", small_vectors.folder)
    assert result.status == 2
    assert f"{project / 'indexes' / 'docs'} is an index of other folders; pass --name docs to add to it" in result.err
    assert semsearch("status", "--json").json["documents"] == 2
    assert made("docs", "--name", "docs", vectors=small_vectors) == str(project / "indexes" / "docs")
    assert semsearch("status", "--json").json["documents"] == 3


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
    assert header.split() == ["index", "documents", "sentences", "size", "updated", "in", "of"]
    assert str(project / "indexes") in docs
    assert str(home) in more
    assert semsearch("query", "violin", "-i", "more").status == 0


def test_the_nearest_folder_that_has_indexes_decides_which_is_the_only_one(
    project: Path, home: Path, small_vectors: VectorTable
) -> None:
    made("docs/more", "--indexes", home, vectors=small_vectors)
    assert semsearch("status", "--json").json["documents"] == 2
    result = semsearch("query", "ship", "-i", "none")
    assert f".{os.sep}indexes holds only docs; {home} holds only more" in result.err


def test_a_folder_that_is_given_is_the_only_one_that_is_looked_in(project: Path) -> None:
    result = semsearch("query", "captain", "--indexes", "docs")
    assert (result.status, result.out) == (2, "")
    assert "no index in" in result.err


def test_a_file_called_indexes_and_a_link_round_are_passed_over(
    project: Path, small_vectors: VectorTable, monkeypatch: pytest.MonkeyPatch
) -> None:
    inner = project / "docs" / "more"
    (project / "docs" / "indexes").write_text("a file", encoding="utf-8")
    (inner / "indexes").symlink_to(inner / "indexes")
    monkeypatch.chdir(inner)
    assert semsearch("query", "captain").status == 0
    assert semsearch("indexes", "--json").json[0]["path"] == str(project / "indexes" / "docs")


def test_asking_writes_nothing(project: Path, home: Path, outside: Path) -> None:
    assert semsearch("query", "ship").status == 2
    assert semsearch("indexes").status == 0
    assert semsearch("list").status == 0
    assert list(outside.iterdir()) == []
    assert not home.parent.exists()
