"""An index keeps its settings, refuses others, and finds its word vectors again."""

from __future__ import annotations

import json
import sqlite3
from contextlib import closing
from dataclasses import fields
from pathlib import Path
from typing import Any

import pytest
from small import small_vectors

from semsearch.errors import UsageError, VectorsError
from semsearch.index import Index
from semsearch.readers.document import Text
from semsearch.settings import PRIOR, Settings, SettingsKeywords
from semsearch.storage.checksums import update_digests
from semsearch.word_vectors import table
from semsearch.word_vectors.table import VectorTable

BREAD = [Text("a", "The bread is in the oven. The baker sold a cake.")]


def keep(path: Path, **changed: object) -> None:
    """Change what the settings of an index say, as another version of semsearch could have written them."""
    with closing(sqlite3.connect(path / "index.sqlite")) as db, db:
        settings = json.loads(db.execute("SELECT value FROM meta WHERE key = 'settings'").fetchone()[0])
        db.execute("UPDATE meta SET value = ? WHERE key = 'settings'", (json.dumps({**settings, **changed}),))
        update_digests(db)


@pytest.fixture
def ships(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> VectorTable:
    """Word vectors that ship with semsearch under the name `small`."""
    monkeypatch.setattr(table, "_HERE", tmp_path / "shipped")
    return small_vectors(tmp_path / "shipped")


# -- options -------------------------------------------------------------------------------------------------------


def test_every_setting_but_what_is_known_of_word_vectors_and_version_is_an_option() -> None:
    names = [field.name for field in fields(Settings)]
    assert list(SettingsKeywords.__annotations__) == [
        name for name in names if name not in ("vectors_name", "vectors_digest")
    ]
    assert SettingsKeywords.__required_keys__ == frozenset()


def test_what_is_not_given_or_none_has_its_default(tmp_path: Path, small_vectors: VectorTable) -> None:
    expected = Settings(str(small_vectors.folder), small_vectors.name, small_vectors.digest)
    assert (expected.method, expected.prior, expected.frequencies) == ("sif", PRIOR, "mixed")
    with Index.create(tmp_path / "a", vectors=small_vectors) as index:
        assert index.settings == expected
    nothing: dict[str, Any] = dict.fromkeys(SettingsKeywords.__annotations__)
    with Index.create(tmp_path / "b", **{**nothing, "vectors": small_vectors}) as index:
        assert index.settings == expected
        index.rebuild(**nothing)
        assert index.settings == expected


def test_a_rebuild_changes_what_is_given_and_nothing_else(tmp_path: Path, small_vectors: VectorTable) -> None:
    with Index.create(tmp_path / "i", vectors=small_vectors, a=0.01, components=2, unknown="skip") as index:
        index.rebuild(prior=5.0, adapt=False)
        settings = index.settings
        assert (settings.a, settings.components, settings.unknown) == (0.01, 2, "skip")
        assert (settings.prior, settings.adapt) == (5.0, False)
        index.rebuild(method="usif")
        assert (index.settings.a, index.settings.components, index.settings.prior) == (None, None, 5.0)


def test_an_unknown_option_is_refused_by_its_name(tmp_path: Path, small_vectors: VectorTable) -> None:
    with pytest.raises(UsageError, match=r"no option 'metod'; the options are vectors, method, a, .*store"):
        Index.create(tmp_path / "i", vectors=small_vectors, metod=None)  # type: ignore[call-arg]
    assert not (tmp_path / "i").exists()
    with Index.create(tmp_path / "i", vectors=small_vectors) as index:
        before = index.settings
        with pytest.raises(UsageError, match="no option 'vector'"):
            index.rebuild(vector="english")  # type: ignore[call-arg]
        assert index.settings == before


@pytest.mark.parametrize(
    ("name", "value", "said"),
    [
        ("a", -1.0, "at least 1e-12"), ("a", "small", r"Settings.a: Expected `float"), ("prior", True, "got `bool`"),
        ("adapt", "no", "`bool`"), ("exact", 1, "`bool`"), ("method", 3, "`str`"),
        ("components", 1.5, "`int"),
    ],
)  # fmt: skip
def test_a_value_that_makes_no_sense_changes_nothing(
    tmp_path: Path, small_vectors: VectorTable, name: str, value: object, said: str
) -> None:
    wrong: dict[str, Any] = {name: value}
    with pytest.raises(UsageError, match=said):
        Index.create(tmp_path / "i", vectors=small_vectors, **wrong)
    assert not (tmp_path / "i").exists()
    with Index.create(tmp_path / "i", vectors=small_vectors) as index:
        before = index.settings
        with pytest.raises(UsageError, match=said):
            index.rebuild(**wrong)
        assert index.settings == before


# -- word vectors --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("given", ["the name", "the folder", "the opened table"])
def test_word_vectors_that_ship_are_kept_by_their_name(tmp_path: Path, ships: VectorTable, given: str) -> None:
    vectors = {"the name": "small", "the folder": str(ships.folder), "the opened table": ships}[given]
    with Index.create(tmp_path / "i", vectors=vectors) as index:
        assert index.settings.vectors == "small"


def test_other_word_vectors_are_kept_by_their_whole_path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    small_vectors(tmp_path)
    monkeypatch.chdir(tmp_path)
    for number, vectors in enumerate(["small", Path("small"), VectorTable(Path("small"))]):
        with Index.create(tmp_path / str(number), vectors=vectors) as index:
            assert index.settings.vectors == str((tmp_path / "small").resolve())


def test_an_index_finds_shipped_word_vectors_whose_folder_has_moved(tmp_path: Path, ships: VectorTable) -> None:
    path = tmp_path / "i"
    with Index.create(path, vectors=ships) as index:
        index.add(BREAD)
    keep(path, vectors=str(tmp_path / "an" / "earlier" / "version" / "small"))
    with Index.open(path) as index:
        assert index.search("cake", mode="dense")[0].document == "a"
        assert index.add([Text("b", "The sailor left the ship.")]).added == 1
        assert index.verify() == []
        index.rebuild()
        assert index.settings.vectors == "small"


def test_shipped_word_vectors_do_not_stand_in_for_others_of_their_name(tmp_path: Path, ships: VectorTable) -> None:
    path, others = tmp_path / "i", small_vectors(tmp_path, seed=1)
    assert (others.name, others.digest == ships.digest) == (ships.name, False)
    with Index.create(path, vectors=others) as index:
        index.add(BREAD)
    (tmp_path / "small").rename(tmp_path / "gone")
    with Index.open(path) as index:
        with pytest.raises(VectorsError, match="there are no word vectors"):
            index.search("cake")
        assert index.search("cake", mode="lexical")[0].document == "a"
    with Index.open(path, vectors=tmp_path / "gone") as index:
        assert index.search("cake")[0].document == "a"
