"""The pure pieces of the terminal's and the pipe's output."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest
from some_hit import some_hit

from semsearch.cli.answer_formats import (
    Answer,
    breadcrumb,
    null,
    paths,
    plain,
)
from semsearch.cli.printing import to_json
from semsearch.cli.terminal import heading, query_pattern, quotation
from semsearch.results.hits import Hits


def test_escape_sequences_of_a_document_never_reach_the_terminal() -> None:
    nasty = some_hit("ring\x07 \x1b[31mred\x9b1m \u202egnorw", path="a\x1b]0;x\x07.md", headings=("\x1b[2J",))
    shown = "\n".join(plain(Answer("q", "hybrid", Hits([nasty]))))
    shown += heading(nasty, ("0.500", ""), width=80).plain + quotation(nasty, None, room=100).plain
    shown += to_json(nasty.to_dict())
    assert not set(shown) & set("\x1b\x07\x9b")


def test_characters_that_hide_or_turn_text_are_shown_by_no_format() -> None:
    hiding = "\u061c\u200b\u200e\u200f\u2060\u202e\u2066\ufeff"
    odd = some_hit(f"one{hiding}two", path=f"a{hiding}.md", title=f"b{hiding}", headings=(f"c{hiding}",))
    answer = Answer("q", "hybrid", Hits([odd]))
    shown = "\n".join([*plain(answer), *paths(answer), to_json(odd.to_dict())])
    assert not set(shown) & set(hiding)
    assert json.loads(to_json(odd.to_dict()))["sentence"] == f"one{hiding}two"


def test_paths_for_xargs_are_as_they_are_and_end_with_a_null() -> None:
    odd = some_hit(path="a  b\n\x1b é.md")
    assert list(null(Answer("q", "hybrid", Hits([odd, odd, some_hit()])))) == ["a  b\n\x1b é.md\0", "docs/a.md\0"]


def test_a_path_is_never_cut_and_a_trail_fits() -> None:
    long = some_hit(path="a/" * 60 + "b.md", headings=("One", "Two"))
    first, second = heading(long, ("0.500", ""), width=80).plain.split("\n")
    assert first == " 1  0.500  " + "a/" * 60 + "b.md:3"
    assert second.strip() == "One › Two"
    short = some_hit(headings=("A chapter with a long name", "A section with a long name", "The end"))
    line = heading(short, ("0.500", ""), width=60)
    assert line.cell_len <= 60
    assert line.plain.endswith("… › The end")


@pytest.mark.parametrize(
    ("format", "page", "place", "shown"),
    [
        ("markdown", None, None, "a:3 › A ship › One"),
        ("notebook", None, "cell 4", "a cell 4 › A ship › One"),
        ("plugged in", 7, None, "a:3 › p. 7 › A ship › One"),
        ("python", None, "Ship.One", "a:3 › A ship › One"),  # the heading says it
        ("pdf", 7, "top left", "a p. 7, top left › A ship › One"),
        ("pptx", None, "slide 7", "a slide 7 › A ship › One"),
        ("mail", None, None, "a › A ship › One"),
    ],
)
def test_a_hit_is_shown_where_one_finds_it(format: str, page: int | None, place: str | None, shown: str) -> None:
    found = some_hit(path="a", format=format, page=page, place=place, headings=("A ship", "One"))
    assert heading(found, ("0.500", ""), width=80).plain.endswith(f"  {shown}")
    where, _, trail = shown.partition(" › ")
    assert next(plain(Answer("q", "hybrid", Hits([found])))) == f"{where}  0.500  {trail}"


@pytest.mark.parametrize(
    ("title", "headings", "shown"),
    [
        ("Handbook", ("Keys", "Rotation"), ["Handbook", "Keys", "Rotation"]),
        ("Keys", ("Keys", "Rotation"), ["Keys", "Rotation"]),
        ("a", ("Keys",), ["Keys"]),  # the file's name
        ("a.md", (), []),
        ("Handbook", (), ["Handbook"]),
        ("", (), []),
    ],
)
def test_the_documents_title_is_shown_where_it_says_more_than_name_and_headings(
    title: str, headings: tuple[str, ...], shown: list[str]
) -> None:
    assert breadcrumb(some_hit(title=title, headings=headings)) == shown


@pytest.mark.parametrize(
    ("query", "text", "found"),
    [
        ("rotate the keys", "Rotating a key, rotated keys; keyboards.", ["Rotating", "key", "rotated", "keys"]),
        ("the", "The other", ["The"]),
        ("utf-8", "In UTF-8 or utf8", ["UTF", "8"]),
        ("c++ [a-z]*", "C and z", ["C", "z"]),
        ("größe", "Die Größe", ["Größe"]),
    ],
)
def test_words_of_the_query_are_set_off_with_their_relations(query: str, text: str, found: list[str]) -> None:
    pattern = query_pattern(query)
    assert pattern is not None
    assert pattern.findall(text) == found


def test_code_keeps_its_lines_in_the_terminal_those_around_what_was_asked() -> None:
    code = "store = open_store(path)\nfor key in store:\n    print(key)\n\x1b[2J()\nx = {}\nstore.close(now=True)"
    assert quotation(some_hit(code), query_pattern("how to close"), room=400).plain.splitlines() == [
        "…", "    print(key)", " [2J()", "x = {}", "store.close(now=True)"
    ]  # fmt: skip
    assert quotation(some_hit(code), None, room=400).plain.endswith("print(key)\n [2J()\n…")
    assert max(map(len, quotation(some_hit("f(x);\n" + "g(y); " * 900), None, room=400).plain.splitlines())) <= 200
    aligned = "list   # lists all that there is\nend    # ends the program here"
    assert quotation(some_hit(aligned), None, room=400).plain == aligned
    prose = "A sentence of a paragraph\nthat is wrapped (at eighty)."
    assert quotation(some_hit(prose), None, room=400).plain == "A sentence of a paragraph that is wrapped (at eighty)."


@pytest.mark.parametrize(
    "text",
    [
        "$ restic check\nload indexes\ncheck all packs",
        "# Mount the file system.\nmkdir /tmp/all",
        "example.com {\n    templates\n}",
        "registrationSucceeded = true;\nConsole.WriteLine(description of that);",
        "- salt\n- sugar",
    ],
)
def test_code_with_few_signs_and_lists_keep_their_lines_in_the_terminal(text: str) -> None:
    assert quotation(some_hit(text), None, room=400).plain == text


def test_the_fields_of_a_record_are_divided_on_a_line() -> None:
    record = replace(some_hit("name: Ada\nwords: of the\npoet\nborn: 1815"), format="table")
    shown = "name: Ada · words: of the poet · born: 1815"
    assert quotation(record, None, room=400).plain == shown
    assert [*plain(Answer("born", "hybrid", Hits([record])))][1].strip() == shown


def test_sentences_around_a_hit_go_on_and_items_of_a_list_stand_below_each_other() -> None:
    hit = replace(some_hit("It sails."), before=("The ship is old.",), after=("Oars: two", "Masts: one"))
    assert quotation(hit, None, room=400).plain == "The ship is old. It sails. Oars: two\nMasts: one"


def test_rows_of_a_table_and_code_below_a_sentence_have_lines_of_their_own_in_the_terminal() -> None:
    rows = "to remove | do this\n\na file | semsearch\nindex\n\na folder | semsearch remove"
    assert quotation(some_hit(rows), None, room=400).plain.splitlines() == [
        "to remove | do this", "a file | semsearch index", "a folder | semsearch remove"
    ]  # fmt: skip
    code = "Adding one more folder\nto it removes nothing at all:\n\na = f(1)\nb = f(a)"
    assert quotation(some_hit(code), None, room=400).plain == (
        "Adding one more folder to it removes nothing at all:\na = f(1)\nb = f(a)"
    )
