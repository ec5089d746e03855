"""Coverage says how much of each file was taken in, and why the rest was not."""

from __future__ import annotations

from pathlib import Path

import pytest
from small import small_vectors

from semsearch import Index, Text
from semsearch.results.omissions import FileCoverage, Omission


@pytest.fixture
def index(tmp_path: Path) -> Index:
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / "a.md").write_text("# Ships\n\nThe **captain** of the ship sails. Xyzzy.\n")
    (tmp_path / "docs" / "b.txt").write_bytes("Grüße, été, naïve".encode() + b" \xff")
    (tmp_path / "docs" / "c.txt").write_text("")
    with Index.create(tmp_path / "index", vectors=small_vectors(tmp_path)) as made:
        made.sync(tmp_path / "docs")
        made.add([Text("t", "The moon.")])
    return Index.open(tmp_path / "index")


def test_each_document_says_how_much_of_it_is_there(index: Index) -> None:
    with index:
        text, markdown, broken, empty = index.coverage()
    assert (text.path, text.characters, text.characters_taken) == ("t", 9, 9)
    assert Path(markdown.path).name == "a.md"
    assert (markdown.format, markdown.sentences, markdown.pages, markdown.omissions) == ("markdown", 2, None, ())
    assert (markdown.characters, markdown.characters_taken) == (51, 37)
    assert 0 < markdown.words_known < markdown.words == 7
    assert broken.omissions == (Omission("broken bytes"),)
    assert (empty.characters, empty.characters_taken, empty.sentences, empty.words) == (0, 0, 0, 0)
    assert FileCoverage.from_dict(broken.to_dict()) == broken


def test_what_is_forgotten_is_not_covered(index: Index) -> None:
    with index:
        index.remove("t")
        assert [Path(file.path).name for file in index.coverage()] == ["a.md", "b.txt", "c.txt"]
        with index._database.reading() as db:
            assert db.execute("SELECT count(*) FROM readings").fetchone() == (3,)
