"""Trust is the user's: an index from someone else is only read, and local, until the user has allowed what it names."""

from __future__ import annotations

import json
import shutil
import sqlite3
import subprocess
import sys
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
import sealing
from console import semsearch
from sealing import change
from serving import running

from semsearch import trust
from semsearch.errors import IndexNotTrusted, UsageError
from semsearch.index import Index
from semsearch.server.open_indexes import OpenIndexes
from semsearch.settings import Settings
from semsearch.storage.schema import get_meta
from semsearch.word_vectors.table import VectorTable


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The user's configuration folder. What this process has allowed so far is forgotten."""
    monkeypatch.setattr(trust, "_recorded", {})
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "user-config"))  # tests share what is trusted
    return tmp_path / "user-config" / "semsearch" / "trusted"


@pytest.fixture
def docs(tmp_path: Path) -> Path:
    folder = tmp_path / "docs"
    folder.mkdir()
    (folder / "ship.md").write_text("# Ship\n\nA ship in the storm.\n")
    return folder


@pytest.fixture
def own(tmp_path: Path, docs: Path, home: Path) -> Path:
    """An index that this user has made with the shipped word vectors."""
    with Index.create(tmp_path / "index") as index:
        index.sync(docs)
    trust._recorded.clear()
    return tmp_path / "index"


def stranger(own: Path, home: Path) -> Path:
    """The same index, on the machine of a user who knows nothing of it."""
    shutil.rmtree(home, ignore_errors=True)
    trust._recorded.clear()
    return own


def set_value(folder: Path, key: str, value: str) -> None:
    change(folder, "INSERT OR REPLACE INTO meta VALUES (?, ?)", key, value)


def set_settings(folder: Path, **values: str) -> None:
    with closing(sqlite3.connect(folder / "index.sqlite")) as db:
        found = json.loads(get_meta(db, "settings") or "")
    set_value(folder, "settings", json.dumps(found | values))


# -- What nobody has allowed -------------------------------------------------------------------------------------------


def test_an_index_of_ones_own_needs_no_word(own: Path, docs: Path) -> None:
    with Index.open(own) as index:
        assert index.status().not_allowed == ()
        assert index.sync().unchanged == 1
        (docs / "ship.md").write_text("# Ship\n\nA ship in the sun, and a captain.\n")
        assert [hit.stale for hit in index.search("ship")] == [True]


WRITES: dict[str, Callable[[Index, Path], Any]] = {
    "sync": lambda index, _: index.sync(),
    "sync another folder": lambda index, docs: index.sync(docs.parent / "mine"),
    "add": lambda index, _: index.add([("a", "A text.")]),
    "remove": lambda index, docs: index.remove(docs),
    "refit": lambda index, _: index.refit(),
    "rebuild": lambda index, _: index.rebuild(),
    "watch": lambda index, _: list(index.watch()),
}


@pytest.mark.parametrize("write", WRITES)
def test_a_foreign_index_is_only_read(own: Path, docs: Path, home: Path, write: str) -> None:
    (docs.parent / "mine").mkdir()
    (docs.parent / "mine" / "secret.md").write_text("A secret of mine.\n")
    folder = stranger(own, home)
    before = (folder / "index.sqlite").read_bytes()
    with Index.open(folder) as index, pytest.raises(IndexNotTrusted, match=r"read .*/docs; .* run: semsearch trust /"):
        WRITES[write](index, docs)
    assert (folder / "index.sqlite").read_bytes() == before
    assert not home.exists()


def test_files_of_a_foreign_index_are_not_looked_at(own: Path, docs: Path, home: Path, caplog: Any) -> None:
    folder = stranger(own, home)
    (docs / "ship.md").unlink()
    with Index.open(folder) as index:
        (hit,) = index.search("ship")
        assert not hit.stale
        assert "changed files are not noticed" in caplog.text
        assert index.status().stale is None
        assert index.problems() == ()
        assert index.status().not_allowed == (f"read {docs}",)


def test_that_files_are_not_looked_at_is_said_once(own: Path, home: Path, caplog: Any) -> None:
    with Index.open(stranger(own, home)) as index:
        for generation in ("1001", "1002", "1003"):
            set_value(own, "generation", generation)
            assert len(index.search("ship")) == 1
            assert index.status().generation == int(generation)
    assert caplog.text.count("changed files are not noticed") == 1


def test_word_vectors_that_a_foreign_index_names_are_not_opened(
    tmp_path: Path, home: Path, small_vectors: VectorTable
) -> None:
    with Index.create(tmp_path / "index", vectors=small_vectors.folder) as index:
        index.add([("a", "A ship in the storm.")])
        assert len(index.search("ship")) == 1
    folder = stranger(tmp_path / "index", home)
    with Index.open(folder) as index:
        with pytest.raises(IndexNotTrusted, match=f"open the word vectors {small_vectors.folder}"):
            index.search("ship")
        with pytest.raises(IndexNotTrusted, match="open the word vectors"):
            index.embed(["ship"])
        assert index.status().known_words == {}
    with Index.open(folder, vectors=small_vectors.folder) as index:
        assert len(index.search("ship")) == 1


def test_a_foreign_engine_is_not_asked(own: Path, home: Path) -> None:
    set_value(own, "vector_store", "postgres://victim@198.51.100.1/x?schema=a")
    folder = stranger(own, home)
    with Index.open(folder) as index:
        with pytest.raises(IndexNotTrusted, match=r"keep vectors in postgres:.*--mode lexical"):
            index.search("ship")
        with pytest.raises(IndexNotTrusted, match="keep vectors in"):
            index.verify()
        assert len(index.search("ship", mode="lexical")) == 1


def test_shipped_word_vectors_are_known_by_what_they_are(own: Path, home: Path) -> None:
    set_settings(own, vectors="/an/older/version/english")
    folder = stranger(own, home)
    with Index.open(folder) as index:
        assert Settings.from_json(index.settings.to_json()).vectors == "/an/older/version/english"
        assert len(index.search("ship")) == 1


def test_names_cannot_steer_the_terminal(own: Path, home: Path) -> None:
    set_settings(own, vectors="/vectors\x1b[2J", vectors_name="vectors")
    with Index.open(stranger(own, home)) as index:
        assert "'/vectors\\x1b[2J'" in " ".join(index.status().not_allowed)


def test_a_server_answers_from_a_foreign_index_and_writes_nothing_to_it(own: Path, docs: Path, home: Path) -> None:
    folder = stranger(own, home)
    with running(OpenIndexes(places={"index": folder})) as asker:
        assert asker.get("/v1/search", query="ship").json["hits"]
        assert asker.get("/v1/status").json["not_allowed"] == [f"read {docs}"]
        for refused in (
            asker.writer.post("/v1/sync", {}),
            asker.writer.put("/v1/documents/a", {"text": "A text."}),
            asker.writer.ask("DELETE", "/v1/documents/ship.md"),
        ):
            assert (refused.status, refused.json["error"]) == (403, "IndexNotTrusted")
        sealing.trust(folder)
        assert asker.writer.post("/v1/sync", {}).status == 200


def test_a_page_of_a_foreign_index_is_not_read(own: Path, docs: Path, home: Path) -> None:
    change(own, "UPDATE documents SET format = 'pdf'")
    with Index.open(stranger(own, home)) as index, pytest.raises(IndexNotTrusted, match="would read"):
        index.page("ship.md", 1)


# -- What is allowed ---------------------------------------------------------------------------------------------------


def test_what_the_user_names_is_allowed(own: Path, docs: Path, home: Path) -> None:
    folder = stranger(own, home)
    with Index.open(folder) as index:
        assert index.sync(docs).unchanged == 1  # the folder that the index names as well
    trust._recorded.clear()
    with Index.open(folder) as index:
        assert index.sync().unchanged == 1


def test_a_program_may_trust_an_index_while_it_is_open(own: Path, home: Path) -> None:
    folder = stranger(own, home)
    with Index.open(folder, trust=True) as index:
        assert index.sync().unchanged == 1
        assert index.status().not_allowed == ()
    assert not home.exists()
    with Index.open(folder) as index, pytest.raises(IndexNotTrusted):
        index.sync()


def test_a_moved_or_copied_index_is_asked_for_again(own: Path, home: Path) -> None:
    copied, moved = own.with_name("copied"), own.with_name("moved")
    shutil.copytree(own, copied)
    own.rename(moved)
    for folder in (copied, moved):
        with Index.open(folder) as index, pytest.raises(IndexNotTrusted, match="semsearch trust"):
            index.sync()


def test_a_file_of_word_counts_that_an_index_names_is_not_read(own: Path, docs: Path, home: Path) -> None:
    (docs.parent / "counts.txt").write_text("ship 3\n")
    set_settings(own, frequencies=str(docs.parent / "counts.txt"))
    with Index.open(own) as index, pytest.raises(UsageError, match="frequencies must be one of"):
        index.refit()


def test_a_user_without_a_home_is_told_and_works_on_in_one_process(
    own: Path, docs: Path, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def no_home() -> Path:
        raise RuntimeError("Could not determine home directory.")

    monkeypatch.delenv("XDG_CONFIG_HOME")
    monkeypatch.setattr("semsearch.system.locations._known_home", no_home)
    monkeypatch.chdir(docs.parent)
    with Index.open(own) as index:
        index.sync(docs)
        assert index.sync().unchanged == 1
    assert not (docs.parent / "~").exists()
    trust._recorded.clear()
    with Index.open(own) as index, pytest.raises(IndexNotTrusted):
        index.sync()


@pytest.mark.parametrize("damage", ["", "{", "[]", '{"index": 1, "file": 1, "allowed": 3}'])
def test_a_damaged_record_allows_nothing(own: Path, home: Path, damage: str) -> None:
    for record in home.iterdir():
        record.write_text(damage)
    with Index.open(own) as index, pytest.raises(IndexNotTrusted):
        index.sync()


# -- The command -------------------------------------------------------------------------------------------------------


def test_the_command_shows_and_allows(own: Path, docs: Path, home: Path) -> None:
    folder = stranger(own, home)
    told = semsearch("trust", str(folder))
    assert (told.status, told.lines) == (2, [f"{folder} would:", f"  read {docs}"])
    assert f"run: semsearch trust {folder} --yes" in told.err
    trust._recorded.clear()
    refused = semsearch("index", "--name", str(folder))
    assert refused.status == 2
    assert f"run: semsearch trust {folder}" in refused.err
    assert semsearch("trust", str(folder), "--yes").status == 0
    trust._recorded.clear()
    assert semsearch("trust", str(folder)).lines == [
        f"{folder} names nothing outside its folder that you have not allowed"
    ]
    assert semsearch("index", "--name", str(folder)).status == 0
    assert semsearch("trust", str(folder), "--off").status == 0
    assert semsearch("index", "--name", str(folder)).status == 2


def test_another_process_knows_what_was_allowed(own: Path) -> None:
    code = "import sys; from semsearch import Index; print(Index.open(sys.argv[1]).sync().unchanged)"
    done = subprocess.run([sys.executable, "-c", code, str(own)], capture_output=True, text=True, check=True)
    assert done.stdout == "1\n"


def test_yes_and_off_exclude_each_other(own: Path) -> None:
    assert semsearch("trust", str(own), "--yes", "--off").status == 2
