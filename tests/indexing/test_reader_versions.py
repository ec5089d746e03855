"""A reader that has changed makes its documents changed files, once, and only where they are in files."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from plugged_in import UPPER, install, installed
from small import write_articles

from semsearch import Index, Text
from semsearch.readers import registry
from semsearch.storage.meta import get_meta
from semsearch.text import passages
from semsearch.word_vectors.table import VectorTable


@pytest.fixture
def index(tmp_path: Path, small_vectors: VectorTable) -> Iterator[Index]:
    write_articles(tmp_path / "docs", 6)
    (tmp_path / "docs" / "note.txt").write_text("The star is a sun.", encoding="utf-8")
    with Index.create(tmp_path / "index", vectors=small_vectors) as made:
        yield made
        assert made.verify() == []


def change(monkeypatch: pytest.MonkeyPatch, name: str, version: str) -> None:
    kind = replace(registry.FORMATS[name], version=version)
    monkeypatch.setitem(registry.FORMATS, name, kind)
    for suffix in kind.suffixes:
        monkeypatch.setitem(registry.SUFFIXES, suffix, kind)


def test_documents_of_a_changed_reader_are_read_again_once(
    index: Index, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    index.sync(tmp_path / "docs")
    change(monkeypatch, "markdown", "later")
    done = index.sync()
    assert (done.changed, done.unchanged) == (6, 1)
    assert index.sync().unchanged == 7
    change(monkeypatch, "markdown", "earlier")
    assert index.sync().changed == 6


def test_an_index_that_says_nothing_was_read_with_the_first_versions(
    index: Index, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    change(monkeypatch, "markdown", "1")
    monkeypatch.setattr(passages, "SPLITTER_VERSION", "1")
    index.sync(tmp_path / "docs")
    with index._database.writing() as db:
        db.execute("DELETE FROM meta WHERE key IN ('reader_versions', 'outdated_documents')")
    assert index.sync().unchanged == 7


def test_documents_cut_by_another_splitter_are_read_again_once(
    index: Index, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    index.add([Text("a", "The ship sails.")])  # in no file, so that it stays
    index.sync(tmp_path / "docs")
    for version in ("later", "1"):
        monkeypatch.setattr(passages, "SPLITTER_VERSION", version)
        assert index.sync().changed == 7
        assert index.sync().unchanged == 7


def test_a_new_index_of_a_later_version_is_not_read_twice(
    index: Index, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    change(monkeypatch, "markdown", "5")
    index.sync(tmp_path / "docs")
    assert index.sync().unchanged == 7


def test_a_root_that_was_not_looked_at_is_read_again_when_it_is(
    index: Index, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_articles(tmp_path / "more", 3)
    index.sync(tmp_path / "docs", tmp_path / "more")
    change(monkeypatch, "markdown", "later")
    assert index.sync(tmp_path / "docs").changed == 6
    assert index.sync(tmp_path / "docs").unchanged == 7
    assert index.sync(tmp_path / "more").changed == 3
    assert index.sync().unchanged == 10


def test_texts_of_a_program_stay_as_they_are(index: Index, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    index.add([Text("a", "# The ship sails.", format="markdown")])
    change(monkeypatch, "markdown", "later")
    assert index.sync(tmp_path / "docs").added == 7
    assert index.status().documents == 8
    assert index.sync().changed == 0


def test_a_reader_of_another_package_counts_too(index: Index, tmp_path: Path) -> None:
    (tmp_path / "docs" / "a.loud").write_text("The ship sails.", encoding="utf-8")
    for version, changed in (("1", 0), ("1", 0), ("2", 1), ("2", 0)):
        install(tmp_path / version, "upper_reader", UPPER.format(version=version), loud="upper_reader:FORMAT")
        with installed(tmp_path / version):
            assert index.sync(tmp_path / "docs").changed == changed
    with index._database.reading() as db:
        assert '"shouted": "2"' in (get_meta(db, "reader_versions") or "")


def test_a_reader_that_is_gone_leaves_its_documents(index: Index, tmp_path: Path) -> None:
    (tmp_path / "docs" / "a.loud").write_text("The ship sails.", encoding="utf-8")
    install(tmp_path / "site", "upper_reader", UPPER.format(version="1"), loud="upper_reader:FORMAT")
    with installed(tmp_path / "site"):
        index.sync(tmp_path / "docs" / "a.loud")
    assert index.sync().unchanged == 1
