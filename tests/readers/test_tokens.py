"""Source code of many languages: comments and what they are about."""

from __future__ import annotations

import pytest
from cited import check_places

from semsearch.errors import SourceError
from semsearch.readers.document import Document
from semsearch.readers.read import read_bytes

C = """/*
 * The moon pulls the sea.
 *
 * It moves.
 */
#include <stdio.h>

/** How high the tide is. */
int tide(int day) {
    return day; // in metres, as
                // everyone knows
}
"""
SNIPPETS = {
    "a.js": "// How high.\nfunction tide(day) {\n  /* a remark */ return 'no prose here';\n}\n",
    "a.ts": "/** How high. */\nfunction tide(day: number) {\n  return day; // a remark\n}\n",
    "a.rs": "/// How high.\nfn tide(day: u8) -> u8 {\n    day // a remark\n}\n",
    "a.go": "// How high.\nfunc tide(day int) int {\n\treturn day // a remark\n}\n",
    "A.java": "class A {\n  /** How high. */\n  int tide(int day) {\n    return day; // a remark\n  }\n}\n",
    "a.rb": "# How high.\ndef tide(day)\n  day # a remark\nend\n",
    "a.sh": "# How high.\ntide() {\n  echo $1 # a remark\n}\n",
    "a.hs": "-- How high.\ntide :: Int -> Int\ntide day = day -- a remark\n",
    "a.sql": "-- How high.\nSELECT tide FROM days; -- a remark\n",
    "a.lua": "-- How high.\nfunction tide(day)\n  return day --[[ a remark ]]\nend\n",
}


def read(source: str, name: str) -> Document:
    return read_bytes(source.encode(), name)


@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_comments_are_words_without_their_signs_by_function(end: str) -> None:
    document = read(C.replace("\n", end), "tide.c")
    assert [(block.place, block.text.replace(end, "\n")) for block in document.blocks] == [
        (None, "The moon pulls the sea."),
        (None, "It moves."),
        ("tide", "How high the tide is."),
        ("tide", "int tide(int day)"),
        ("tide", "in metres, as"),
        ("tide", "everyone knows"),
    ]
    check_places(document)


@pytest.mark.parametrize("name", SNIPPETS)
def test_the_usual_languages_are_read(name: str) -> None:
    document = read(SNIPPETS[name], name)
    texts = [block.text for block in document.blocks]
    assert [text for text in texts if text in ("How high.", "a remark")] == ["How high.", "a remark"]
    assert not any("prose" in text for text in texts)
    check_places(document)


@pytest.mark.parametrize("name", [name for name in SNIPPETS if name not in ("a.sql", "a.sh")])
def test_functions_are_named(name: str) -> None:
    blocks = read(SNIPPETS[name], name).blocks
    assert next(block for block in blocks if block.text == "How high.").place == ("A.tide" if "A" in name else "tide")
    assert any("tide" in block.text for block in blocks)


def test_a_name_says_what_it_is_within() -> None:
    source = (
        "class Sea {\n\tint tide() {\n\t\treturn 1; // It rises.\n\t}\n\tint wave() { return 2; }\n}\nclass Moon {\n}\n"
    )
    places = [(block.place, block.text) for block in read(source, "Sea.java").blocks]
    assert places == [
        ("Sea", "class Sea"),
        ("Sea.tide", "int tide()"),
        ("Sea.tide", "It rises."),
        ("Sea.wave", "int wave() { return 2; }"),
        ("Moon", "class Moon"),
    ]


@pytest.mark.parametrize("source", ["x();" * 10_000, "x();\n" * 500_000])
def test_what_a_program_has_written_is_refused(source: str) -> None:
    with pytest.raises(SourceError, match=r"a\.js looks generated"):
        read(source, "a.js")


def test_marks_for_tools_and_rulers_are_no_text() -> None:
    source = "#!/bin/sh\n# -*- mode: sh -*-\n# ------------\n# Said.\n############\n"
    assert [block.text for block in read(source, "a.sh").blocks] == ["Said."]
