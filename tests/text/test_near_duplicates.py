"""Texts that say the same, and what an answer makes of them."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from small import TOPICS, small_vectors, write_articles

from semsearch.index import Index
from semsearch.text.tokens import letters_of


def test_case_spaces_and_signs_do_not_count() -> None:
    assert (
        len({*map(letters_of, ("Bees are kept,\nin hives!", "bees  are Kept in hives", "“Bees” are kept in hives…"))})
        == 1
    )
    assert len({*map(letters_of, ("Élan vital", "ÉLAN VITAL!", "E\u0301lan vital"))}) == 1
    different = "Elan vital", "Élan vital", "The bill is 1250.", "The bill is 1350.", "?!", "!?", ""
    assert len({*map(letters_of, different)}) == len(different)


@pytest.fixture(scope="module")
def index(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Index]:
    """Thirty documents, and two hundred that say one thing of the sea, each under a heading of its own."""
    folder = tmp_path_factory.mktemp("duplicates")
    write_articles(folder / "docs", 30)
    topics = [word for topic in TOPICS.values() for word in topic.split()]
    for number in range(200):
        text = f"# {topics[number % len(topics)]} {number}\n\nThe ship and its captain sail to the harbour.\n"
        (folder / "docs" / f"copy-{number:03}.md").write_text(text)
    with Index.create(folder / "index", vectors=small_vectors(folder), components=1) as made:
        made.sync(folder / "docs")
        yield made


@pytest.mark.parametrize("mode", ["hybrid", "dense", "lexical"])
def test_a_page_is_full_of_different_answers(index: Index, mode: str) -> None:
    hits = index.search("ship captain sail harbour", mode=mode)  # type: ignore[arg-type]
    assert [hit.rank for hit in hits] == list(range(1, 11))
    assert [hit.score for hit in hits] == sorted((hit.score for hit in hits), reverse=True)
    assert len({hit.passage for hit in hits}) == 10
    (copy,) = (hit for hit in hits if "its captain" in hit.passage)
    assert len(copy.duplicates) == 199
    assert {copy.document, *(duplicate.document for duplicate in copy.duplicates)} == {
        f"copy-{n:03}.md" for n in range(200)
    }


def test_a_duplicate_leads_to_its_place(index: Index) -> None:
    (copy,) = (hit for hit in index.search("ship captain sail harbour") if hit.duplicates)
    for duplicate in copy.duplicates[:3]:
        assert Path(duplicate.path).read_text(encoding="utf-8").splitlines()[duplicate.line - 1] == copy.passage
        assert duplicate.headings[0] == duplicate.title != copy.title
    together = copy.to_dict()["duplicates"]
    assert together[0]["path"] == copy.duplicates[0].path


def test_duplicates_are_shown_one_by_one_when_asked_for(index: Index) -> None:
    folded = index.search("ship captain sail harbour")
    hits = index.search("ship captain sail harbour", 10, duplicates=True)
    assert len({hit.passage for hit in hits}) < 10
    assert all(hit.duplicates == () for hit in hits)
    assert hits[0].passage_id == folded[0].passage_id
    every = index.search("ship captain sail harbour", 1000, duplicates=True)
    assert len({hit.passage_id for hit in every}) == len(every)
    assert sum("its captain" in hit.passage for hit in every) == 200


def test_a_filter_that_matches_one_document_of_many_still_finds_its_best_passages(index: Index) -> None:
    for mode in ("hybrid", "dense", "lexical"):
        hits = index.search("the ship", 3, mode=mode, filters=["copy-117.md"])  # type: ignore[arg-type]
        assert [hit.document for hit in hits] == ["copy-117.md"]
    assert len(index.search("the captain of the telescope", 10, filters=["night-2.md"])) == 3
    best, *_ = index.search("star and moon", 1000, mode="dense", filters=["night-2.md"])
    among_all = [hit for hit in index.search("star and moon", 1000, mode="dense") if hit.document == "night-2.md"]
    assert best.passage_id == among_all[0].passage_id
    assert best.score == pytest.approx(among_all[0].score, abs=1e-5)
