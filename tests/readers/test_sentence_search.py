"""Sentences are found on a page by their letters, whole or in pieces, and rather not at all than in the wrong place."""

from __future__ import annotations

import pytest

from semsearch.readers.pages.pdf_pictures import Piece, SentenceSearch, letters_of, longest_beginning

TIDE = "The tide lifts every boat in the harbour."
NOTE = "A footnote that has nothing to do with it."
STORM = "No captain sails before the storm is over."


def search(*pages: str) -> SentenceSearch:
    return SentenceSearch([letters_of(page) for page in pages])


def texts(pages: list[str], pieces: list[Piece]) -> list[tuple[int, str]]:
    return [(piece.page, letters_of(pages[piece.page])[piece.start : piece.end]) for piece in pieces]


@pytest.mark.parametrize(
    "page",
    [
        "The tide lifts every\r\nboat in the harbour.",
        "The tide lifts ev\ufffeery boat in the har-\nbour.",
        "THE TIDE LIFTS EVERY BOAT IN THE HARBOUR",
        "The\u00a0tide li\u00adfts  every “boat” in the harbour",
    ],
    ids=["line ends", "hyphens", "capitals", "odd spaces and marks"],
)
def test_spaces_marks_and_case_do_not_matter(page: str) -> None:
    assert search(page).find(letters_of(TIDE)) == [Piece(0, 0, len(letters_of(TIDE)))]


def test_ligatures_are_the_letters_that_they_stand_for() -> None:
    assert letters_of("ﬁrst oﬃce ﬂow Straße ½") == "firstofficeflowstrasse12"
    assert search("The \ufb01rst o\ufb03ce").find(letters_of("first office")) == [Piece(0, 3, 14)]


def test_a_sentence_that_occurs_again_is_found_where_it_comes_in_order() -> None:
    found = search(f"{TIDE} {STORM} {TIDE}")
    assert found.find(letters_of(TIDE))[0].start == 0
    assert found.find(letters_of(STORM))[0].start == len(letters_of(TIDE))
    assert found.find(letters_of(TIDE))[0].start == len(letters_of(TIDE + STORM))


def test_a_sentence_out_of_order_is_found_all_the_same() -> None:
    found = search(f"{TIDE} {STORM}")
    assert found.find(letters_of(STORM))
    assert found.find(letters_of(TIDE)) == [Piece(0, 0, len(letters_of(TIDE)))]


def test_a_sentence_that_a_footnote_interrupts_is_found_in_pieces() -> None:
    pages = [f"The tide lifts every {NOTE} boat in the harbour."]
    pieces = search(*pages).find(letters_of(TIDE))
    assert texts(pages, pieces) == [(0, "thetideliftsevery"), (0, "boatintheharbour")]


def test_a_sentence_goes_on_on_the_next_page() -> None:
    pages = [f"{STORM} The tide lifts every", f"boat in the harbour. {NOTE}"]
    pieces = search(*pages).find(letters_of(TIDE))
    assert texts(pages, pieces) == [(0, "thetideliftsevery"), (1, "boatintheharbour")]


def test_a_sentence_of_which_a_good_part_is_missing_is_not_found() -> None:
    assert search("The tide lifts every anchor of the fleet.").find(letters_of(TIDE)) == []
    assert search(STORM).find(letters_of(TIDE)) == []
    assert search("", "").find(letters_of(TIDE)) == []
    assert search(STORM).find("") == []


def test_a_short_sentence_is_found_only_where_it_cannot_be_another() -> None:
    assert search(f"{TIDE} Yes.").find("yes") == [Piece(0, len(letters_of(TIDE)), len(letters_of(TIDE)) + 3)]
    assert search(f"{TIDE * 10} Yes. {STORM} Yes.").find("yes") == []


def test_a_long_sentence_may_take_long_to_find_but_not_for_ever() -> None:
    page = "ab" * 20_000
    assert SentenceSearch([page, page]).find("ab" * 15_000 + "x") != []


@pytest.mark.parametrize(("text", "length"), [("abcx", 3), ("x", 0), ("bcab", 4), ("", 0)])
def test_the_longest_beginning_is_the_longest_that_occurs(text: str, length: int) -> None:
    assert longest_beginning(text, "abcabc", 0) == length
    assert longest_beginning("abca", "abcabc", 1) == 3
