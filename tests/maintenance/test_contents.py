"""The documents of an index are listed one by one, with the text of each."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from semsearch.errors import SourceError, UsageError
from semsearch.index import Index
from semsearch.readers.document import Text
from semsearch.results.documents import DocumentInfo, DocumentText
from semsearch.word_vectors.table import VectorTable

GUIDE = """---
title: The harbour
author: Ada
year: 2021
---
Ships come *first*.

# Ships

The captain sails.

## Storms

A storm and a wave.

The anchor holds.

# Bread

# Ovens

Flour and butter.
"""
CLEAN = (
    "Ships come first.", "Ships", "The captain sails.", "Storms", "A storm and a wave.", "The anchor holds.", "Bread",
    "Ovens", "Flour and butter.",
)  # fmt: skip


@pytest.fixture
def index(tmp_path: Path, small_vectors: VectorTable, monkeypatch: pytest.MonkeyPatch) -> Iterator[Index]:
    (tmp_path / "docs" / "more").mkdir(parents=True)
    (tmp_path / "docs" / "guide.md").write_text(GUIDE, encoding="utf-8")
    (tmp_path / "docs" / "more" / "notes.txt").write_text("A violin and a piano.", encoding="utf-8")
    (tmp_path / "docs" / "empty.txt").touch()
    monkeypatch.chdir(tmp_path)
    with Index.create("index", vectors=small_vectors) as made:
        made.sync("docs")
        made.add([Text("T-1", "The judge in the court.", metadata={"year": 1999})])
        yield made


def test_documents_come_by_root_and_path_added_texts_first(index: Index) -> None:
    assert [document.path for document in index.documents()] == [
        "T-1",
        "docs/empty.txt",
        "docs/guide.md",
        "docs/more/notes.txt",
    ]


def test_a_document_says_what_is_known_of_it(index: Index, tmp_path: Path) -> None:
    (guide,) = index.documents(["guide.md"])
    assert (guide.root, guide.document) == ((tmp_path / "docs").as_posix(), "guide.md")
    assert (guide.title, guide.format, guide.metadata["author"]) == ("The harbour", "markdown", "Ada")
    assert (guide.passages, guide.sentences) == (5, 6)
    assert guide.size == len(GUIDE)
    assert guide.modified is not None
    assert guide.indexed[:10] >= guide.modified[:10]
    assert DocumentInfo.from_dict(guide.to_dict()) == guide


def test_an_added_text_has_no_root_and_no_date_of_a_file(index: Index) -> None:
    text = next(index.documents())
    assert (text.path, text.document, text.root, text.modified) == ("T-1", "T-1", "", None)
    assert text.indexed


@pytest.mark.parametrize(
    ("filters", "found"),
    [
        (["docs/more/"], ["docs/more/notes.txt"]),
        (["*.txt"], ["docs/empty.txt", "docs/more/notes.txt"]),
        (["year>=2000"], ["docs/guide.md"]),
        (["year>=1900", "author=Ada"], ["docs/guide.md"]),
        (["format=pdf"], []),
    ],
)
def test_filters_choose_documents_as_in_a_search(index: Index, filters: list[str], found: list[str]) -> None:
    assert [document.path for document in index.documents(filters)] == found


def test_a_filter_that_means_nothing_is_refused_before_anything_is_read(index: Index) -> None:
    with pytest.raises(UsageError, match="the filter is empty"):
        index.documents([""])
    with pytest.raises(UsageError, match="filters must be a sequence of strings"):
        index.documents("*.md")


def test_a_document_has_its_headings_and_paragraphs_once_and_in_order(index: Index) -> None:
    guide = index.document("docs/guide.md")
    assert guide.text == "\n\n".join(CLEAN)
    assert (guide.title, guide.format, guide.metadata["year"]) == ("The harbour", "markdown", 2021)
    assert DocumentText.from_dict(guide.to_dict()) == guide


def test_a_document_that_is_not_there_is_told_with_what_is_like_it(index: Index) -> None:
    with pytest.raises(SourceError, match=r"elsewhere/guide\.md is not in the index; did you mean docs/guide\.md\?"):
        index.document("elsewhere/guide.md")
    with pytest.raises(UsageError, match="document takes a path or an id, not 7"):
        index.document(7)  # type: ignore[arg-type]  # what no one should do


def test_a_long_paragraph_keeps_all_its_words_in_order(tmp_path: Path, small_vectors: VectorTable) -> None:
    long = " ".join(f"The ship number {number} is new." for number in range(200))
    with Index.create(tmp_path / "long", vectors=small_vectors) as index:
        index.add([Text("long", long)])
        found = index.document("long").text
    assert "\n\n" in found
    assert found.split() == long.split()


def test_added_texts_are_found_by_their_ids_which_are_no_paths(tmp_path: Path, small_vectors: VectorTable) -> None:
    docs = tmp_path / "docs"
    docs.mkdir()
    (docs / "ship.txt").write_text("A file about ships.")
    file = (docs / "ship.txt").as_posix()
    with Index.create(tmp_path / "index", vectors=small_vectors) as index:
        index.sync(docs)
        index.add([Text("b", "Bread."), Text(file, "A text about ships."), Text("a", "A wave.", metadata={"year": 1})])
        assert [found.document for found in index.texts()] == [file, "a", "b"]
        assert [found.document for found in index.texts(["b", "nowhere", "ship.txt", "a"])] == ["b", "a"]
        (found,) = index.texts([file])
        assert (found.text, found.root) == ("A text about ships.", "")
        assert index.remove_texts([file, "nowhere", "ship.txt"]) == 1
        assert [found.document for found in index.documents()] == ["a", "b", "ship.txt"]
        assert index.remove_texts(["nowhere"]) == 0
        assert index.verify() == []
        with pytest.raises(UsageError, match="sequence of strings"):
            index.texts("a")
        with pytest.raises(UsageError, match="sequence of strings"):
            index.remove_texts("a")
