"""Notes as Obsidian and Logseq keep them: what is shown is read, and the rest is metadata or nothing."""

from __future__ import annotations

from pathlib import Path

import pytest
from cited import check_whole, sentences

from semsearch import Index
from semsearch.readers.read import read_bytes
from semsearch.word_vectors.table import VectorTable


@pytest.mark.parametrize(
    ("note", "shown"),
    [
        ("See [[Rhine#Depth|the depth]] and [[Ships]].", "See the depth and Ships."),
        ("See [[Rhine#Depth]], [[Rhine#^a1]], [[#Here]].", "See Rhine > Depth, Rhine, Here."),
        ("Before ![[map.png]] and ![[Tides]] and ![[map.png|300]].", "Before  and Tides and ."),
        ("The #harbour is #deep/water here.", "The harbour is deep/water here."),
        ("#todo It is late. #ships #sea", "It is late."),
        ("It ends. #tag And goes on.", "It ends. And goes on."),
        ("Issue #12, C#, a#b and &#35; stay.", "Issue #12, C#, a#b and # stay."),
        ("A ==bright== word%% not this %%. ^ref-1", "A bright word."),
        ("> [!warning]- Careful\n> It is deep.", "Careful\nIt is deep."),
        ("- [ ] Mend the ship #later", "[ ] Mend the ship"),
        ("- Words\n  id:: 64-ab\n  collapsed:: true", "Words"),
        ("a == b and c[[1]] and x^2", "a == b and c1 and x^2"),
    ],
)
def test_what_is_shown_is_read(note: str, shown: str) -> None:
    document = read_bytes(note.encode(), "note.md")
    assert [block.text for block in document.blocks] == [shown]


def test_a_line_of_tags_is_metadata_with_those_of_the_front_matter() -> None:
    document = read_bytes(b"---\ntags: sea, ships\n---\n#harbour #sea\n\nThe #tide rises.\n", "note.md")
    assert [block.text for block in document.blocks] == ["The tide rises."]
    assert document.metadata["tags"] == ["sea", "ships", "harbour", "tide"]
    assert read_bytes(b"tags:: sea, [[ships]]\nalias:: RH\n\n- Words\n", "n.md").metadata == {
        "tags": ["sea", "ships"],
        "alias": ["RH"],
    }


@pytest.mark.parametrize(
    ("name", "date"), [("2024-05-01.md", "2024-05-01"), ("2024_05_01.md", "2024-05-01"), ("2024.md", None)]
)
def test_a_daily_note_has_its_date(name: str, date: str | None) -> None:
    assert read_bytes(b"Words.", f"Daily/{name}").metadata.get("date") == date
    assert read_bytes(b"---\ndate: 2020-01-01\n---\nWords.", name).metadata["date"] == "2020-01-01"


def test_sentences_stand_where_they_are_cited() -> None:
    note = "#a See [[Rhine|the Rhine]] now. The #deep sea. ^x\n\nOne ==two== three.\n"
    document = read_bytes(note.encode(), "note.md")
    check_whole(document, ["See the Rhine now.", "The deep sea.", "One two three."])
    assert sentences(document) == ["See the Rhine now.", "The deep sea.", "One two three."]


def test_a_note_is_found_and_filtered_by_its_other_names(tmp_path: Path, small_vectors: VectorTable) -> None:
    (tmp_path / "notes").mkdir()
    note = "---\naliases: [Rhinehaven, Old Dock]\n---\n# Harbour\n\nThe ship waits for the storm.\n"
    (tmp_path / "notes" / "harbour.md").write_text(note, encoding="utf-8")
    (tmp_path / "notes" / "other.md").write_text("The ship waits for the sea.", encoding="utf-8")
    with Index.create(tmp_path / "index", vectors=small_vectors) as index:
        index.sync(tmp_path / "notes")
        [hit] = index.search("rhinehaven", mode="lexical")
        assert (hit.title, hit.line) == ("Harbour", 2)
        assert {each.title for each in index.search("ship", filters=["aliases=old dock"])} == {"Harbour"}
