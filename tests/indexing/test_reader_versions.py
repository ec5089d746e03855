"""A reader that has changed makes its documents changed files, once, and only where they are in files."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import pytest
from plugged_in import UPPER, install, installed
from sample_files.valid_files import zipped
from small import write_articles

from semsearch import Index, Text
from semsearch.readers import registry
from semsearch.text import passage_words
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


def test_documents_cut_by_another_splitter_are_read_again_once(
    index: Index, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    index.add([Text("a", "The ship sails.")])  # in no file, so that it stays
    index.sync(tmp_path / "docs")
    for version in ("later", "1"):
        monkeypatch.setattr(passage_words, "SPLITTER_VERSION", version)
        assert index.sync().changed == 7
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


def test_a_reader_that_is_gone_leaves_its_documents(index: Index, tmp_path: Path) -> None:
    (tmp_path / "docs" / "a.loud").write_text("The ship sails.", encoding="utf-8")
    install(tmp_path / "site", "upper_reader", UPPER.format(version="1"), loud="upper_reader:FORMAT")
    with installed(tmp_path / "site"):
        index.sync(tmp_path / "docs" / "a.loud")
    assert index.sync().unchanged == 1


@pytest.mark.usefixtures("read_here")
def test_what_lacked_a_package_within_another_file_is_read_once_it_is_installed(
    index: Index, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    names = [f"{number}.doc" for number in range(5)]
    locks = {f"{number}.lock": b"name = 1" for number in range(5)}  # there is room for three in a report
    (tmp_path / "docs" / "tables.zip").write_bytes(
        zipped(locks | dict.fromkeys(names, b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1\0"))
    )
    monkeypatch.setitem(sys.modules, "kreuzberg", None)
    monkeypatch.setitem(registry.installed, "kreuzberg", False)
    index.sync(tmp_path / "docs", processes=1)
    told = [each.reason for each in index.problems()]
    assert any(each.startswith("5 files in it not read (0.doc, 1.doc, 2.doc, ...: the extra rare") for each in told)
    assert index.sync().changed == 0
    result = SimpleNamespace(content="The tide is high in spring.", metadata={})
    fake = SimpleNamespace(ExtractionConfig=dict, extract_bytes_sync=lambda *_: result)
    monkeypatch.setitem(sys.modules, "kreuzberg", fake)
    monkeypatch.setitem(registry.installed, "kreuzberg", True)
    assert index.status().stale == 1
    assert index.sync(processes=1).changed == 1
    assert index.search("tide in spring", k=1)[0].place in [f"{name}, paragraph 1" for name in names]
    assert index.sync(processes=1).changed == 0
