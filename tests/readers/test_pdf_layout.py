"""Lines to paragraphs, heads and hyphens, without any PDF."""

from __future__ import annotations

import pytest

from semsearch.readers.pages.pdf import Hyphens, without_running_lines
from semsearch.readers.pages.pdf_layout import PageLine, Usual, paragraphs


def line(
    text: str, bottom: float, *, left: float = 50, right: float = 300, size: float = 10, page: int = 1
) -> PageLine:
    return PageLine(text, page, left, right, bottom, size)


def grouped(*lines: PageLine) -> list[list[str]]:
    return [[each.text for each in paragraph.lines] for paragraph in paragraphs(lines, Usual.of(lines).distance)]


def test_a_gap_ends_a_paragraph() -> None:
    lines = [line("One", 100), line("two", 88), line("three", 76), line("Four", 56)]
    assert grouped(*lines) == [["One", "two", "three"], ["Four"]]
    assert (Usual.of(lines).distance, Usual.of(lines).size) == (1.2, 10)


def test_an_indent_or_a_short_last_line_ends_one_where_a_sentence_has_ended() -> None:
    assert grouped(line("One", 100), line("two.", 88), line("Three", 76, left=62)) == [["One", "two."], ["Three"]]
    assert grouped(line("One", 100), line("two", 88), line("three", 76, left=62)) == [["One", "two", "three"]]
    assert grouped(line("One", 100), line("two.", 88, right=120), line("Three", 76)) == [["One", "two."], ["Three"]]


def test_another_column_or_page_goes_on_in_lower_case_only() -> None:
    assert grouped(line("One", 100), line("two", 300, left=310)) == [["One", "two"]]
    assert grouped(line("One.", 100), line("Two", 300, left=310)) == [["One."], ["Two"]]
    assert grouped(line("One", 100), line("two", 300, page=2)) == [["One", "two"]]


def test_items_are_paragraphs() -> None:
    assert grouped(line("• One", 100), line("goes on", 88), line("• two", 76), line("3. three", 64)) == [
        ["• One", "goes on"],
        ["• two"],
        ["3. three"],
    ]


@pytest.mark.parametrize(
    ("before", "after", "joined"),
    [
        ("the cap", "tain", "the captain"),
        ("a self", "made man", "a self-made man"),
        ("the camera", "ready copy", "the camera-ready copy"),
        ("the NATO", "led talks", "the NATO-led talks"),
        ("in 1990", "1999", "in 1990-1999"),
        ("a half", "way house", "a halfway house"),
        ("the Anglo", "Saxon", "the Anglo-Saxon"),
        ("(end", ") of", "(end-) of"),
    ],
)
def test_a_parted_word_is_joined_as_the_document_has_it_elsewhere(before: str, after: str, joined: str) -> None:
    hyphens = Hyphens(["a camera-ready text", "halfway there", before, after])
    assert hyphens.join(before, after) == joined


def test_what_stands_on_two_pages_only_is_no_running_head() -> None:
    pages = [line(text, bottom, page=page) for page in (1, 2) for text, bottom in (("Head", 700), ("Text.", 400))]
    assert without_running_lines(pages) == pages


def test_heads_that_change_with_the_chapter_are_known_by_their_numbers() -> None:
    pages = []
    for page in range(1, 8):
        pages += [line(f"{page + 4} Chapter {'ABCDEFG'[page]}" if page < 7 else "11 End", 700 + page, page=page)]
        pages += [line(f"Text of {text}", 600 - 20 * n, page=page) for n, text in enumerate("abcdefgh")]
    assert {each.text[:4] for each in without_running_lines(pages)} == {"Text"}
