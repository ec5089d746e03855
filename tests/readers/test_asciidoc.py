"""AsciiDoc: what a reader sees of it, and where it stands."""

from __future__ import annotations

import pytest
from cited import check_whole

from semsearch.readers.document import Document
from semsearch.readers.read import read_text

SOURCE = """= Of tides
Ann <ann@x.org>
:description: Water
:toc:

[[sea]]
== High *water* ==

// a comment
The _moon_ pulls the
sea, says https://x.org[the guide] in <<sea,chapter 1>>. It `moves` on.

[source,python]
.A listing
----
* x = *y*
----

* One item
goes on.
** Another *one*.

NOTE: Mind this.

Tide:: The sea moves.

====
Framed here.
====

////
hidden
////

|===
|a |b
|c |_d_
|===
image::a.png[A picture,300]
"""


def read(source: str) -> Document:
    return read_text(source, "tides.adoc", format="asciidoc")


def test_a_text_is_its_headings_paragraphs_items_and_rows() -> None:
    document = read(SOURCE)
    assert [(block.text, block.level) for block in document.blocks] == [
        ("Of tides", 1),
        ("Ann <ann@x.org>", 0),
        ("High water", 2),
        ("The moon pulls the\nsea, says the guide in chapter 1. It moves on.", 0),
        ("A listing", 0),
        ("* x = *y*", 0),
        ("One item\ngoes on.", 0),
        ("Another one.", 0),
        ("NOTE: Mind this.", 0),
        ("Tide", 0),
        ("The sea moves.", 0),
        ("Framed here.", 0),
        ("a | b", 0),
        ("c | d", 0),
        ("A picture", 0),
    ]
    assert (document.title, document.metadata) == ("Of tides", {"description": "Water"})


@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_sentences_are_cited_where_they_stand(end: str) -> None:
    document = read(SOURCE.replace("\n", end))
    check_whole(document, ["Another one.", "The sea moves.", "Framed here."])
    block = document.blocks[3]
    assert document.source[block.source_offset(block.text.index("It moves")) :].startswith("It `moves` on.")


@pytest.mark.parametrize(
    ("source", "clean"),
    [
        ("2*3*4 and a_b_c", "2*3*4 and a_b_c"),
        ("*_both_* and **un**bound", "both and unbound"),
        ("A kbd:[Ctrl+C] and footnote:[aside]", "A Ctrl+C and aside"),
        ("----\nnever ended", "never ended"),
        ("include::other.adoc[]\nifdef::x[]\nyes\nendif::[]", "yes"),
        ("```rust\nlet a;\n```", "let a;"),
        ("A line +\nbroken", "A line\nbroken"),
    ],
)
def test_marks_are_taken_away_only_where_they_are_marks(source: str, clean: str) -> None:
    assert "|".join(block.text for block in read(source).blocks) == clean
