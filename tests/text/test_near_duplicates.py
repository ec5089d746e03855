"""Texts that say the same: the fast comparison against the definition, and what an answer makes of them."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from pathlib import Path

import numpy as np
import pytest
from small import GLUE, TOPICS, small_vectors, write_articles

from semsearch.index import Index
from semsearch.text.near_duplicates import LEAST, SEQUENCE, first_alike
from semsearch.text.tokens import words


@cache
def sequences_of(text: str) -> tuple[list[str], set[tuple[str, ...]]]:
    """The words of a text, and the sequences that they make."""
    own = words(text)
    return own, {tuple(own[index : index + SEQUENCE]) for index in range(len(own) - SEQUENCE + 1)}


def alike(one: str, two: str) -> bool:
    """The definition, literally."""
    (left, of_left), (right, of_right) = sequences_of(one), sequences_of(two)
    if not left:
        return one == two
    if left == right:
        return True
    union = of_left | of_right
    shared = len(of_left & of_right) >= LEAST * len(union) if union else False
    numbers = [[word for word in text if any(char.isdigit() for char in word)] for text in (left, right)]
    return shared and numbers[0] == numbers[1]


def passage(count: int, *, seed: int) -> list[str]:
    vocabulary = GLUE + [word for topic in TOPICS.values() for word in topic.split()]
    return list(map(str, np.random.default_rng(seed).choice(vocabulary, size=count)))


def test_case_spaces_and_signs_do_not_count() -> None:
    texts = ["Bees are kept,\nin hives!", "other words", "bees  are Kept in hives", "“Bees” are kept in hives…"]
    assert first_alike(texts) == [0, 1, 0, 0]
    assert first_alike(["Élan vital", "ÉLAN VITAL!", "E\u0301lan vital", "Elan vital"]) == [0, 0, 0, 3]


def test_a_short_text_that_differs_in_one_word_is_another_one() -> None:
    assert first_alike(["The sea is deep.", "The sea is cold.", "None.", "No.", "The sea is deep"]) == [0, 1, 2, 3, 0]


def test_a_long_text_with_a_small_change_is_the_same() -> None:
    long = passage(150, seed=1)
    assert first_alike([" ".join(long), " ".join([*long, "end"]), " ".join(["begin", *long[:-1]])]) == [0, 0, 0]
    changed = [*long[:75], "changed", *long[76:]]
    assert first_alike([" ".join(long), " ".join(changed)]) == [0, 0]
    assert first_alike([" ".join(long), " ".join(passage(150, seed=2))]) == [0, 1]


def test_other_numbers_make_another_text() -> None:
    bill = passage(150, seed=3)
    one, two = ([*bill[:75], number, *bill[75:]] for number in ("1250", "1350"))
    assert first_alike([" ".join(one), " ".join(two), " ".join(one).upper()]) == [0, 1, 0]


def test_the_fast_way_finds_what_the_definition_finds() -> None:
    generator = np.random.default_rng(6)
    texts: list[str] = []
    for number in range(60):
        original = passage(int(generator.integers(1, 160)), seed=100 + number)
        texts.append(" ".join(original))
        for _ in range(3):
            index = int(generator.integers(len(original)))
            texts.append(
                " ".join([*original[:index], *passage(1, seed=int(generator.integers(99))), *original[index:]])
            )
    slow: list[int] = []
    for index, text in enumerate(texts):
        earlier = (first for first in dict.fromkeys(slow) if alike(texts[first], text))
        slow.append(next(earlier, index))
    fast = first_alike(texts)
    both = [one == two for one, two in zip(slow, fast, strict=True)]
    assert len(set(slow)) < len(texts) - 20
    assert sum(both) >= len(both) - 2  # one alike pair in a hundred is not looked at
    assert all(alike(texts[index], texts[first]) for index, first in enumerate(fast))


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
