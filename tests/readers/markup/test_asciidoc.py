"""AsciiDoc: what a reader sees of it, and where it stands."""

from __future__ import annotations

import pytest
from cited import check_whole

from semsearch.readers.document import Document
from semsearch.readers.read import read_text
from semsearch.readers.sniff import recognised_format

SOURCE = """[[tides]]
= Of tides
:author: Ann
:toc:
// a comment

(((moon)))The _moon_ pulls the
sea, says https://x.org/y[the guide]. See <<heights>>.

.Waves
[source,console]
----
$ tide --at *noon*
* no item
----

== Heights
Height:: In metres, `--feet` by default
* One item
** Another *one*.
+
It goes on.

|===
|Port |Height

|Brest
|*8* metres
and more
|===

////
unseen
////
NOTE: Mind the ((current)).

Old title
~~~~~~~~~
End. +
"""


def read(source: str) -> Document:
    return read_text(source, "tides.adoc", format="asciidoc")


def test_a_text_is_its_headings_paragraphs_items_rows_and_code() -> None:
    document = read(SOURCE)
    assert [(block.text, block.level) for block in document.blocks] == [
        ("Of tides", 1),
        ("The moon pulls the\nsea, says the guide. See heights.", 0),
        ("Waves", 0),
        ("$ tide --at *noon*\n* no item", 0),
        ("Heights", 2),
        ("Height: In metres, --feet by default", 0),
        ("One item", 0),
        ("Another one.", 0),
        ("It goes on.", 0),
        ("Port | Height", 0),
        ("Brest | 8 metres and more", 0),
        ("NOTE: Mind the current.", 0),
        ("Old title", 3),
        ("End.", 0),
    ]
    assert (document.title, document.metadata) == ("Of tides", {"author": "Ann"})


@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_sentences_are_cited_where_they_stand(end: str) -> None:
    document = read(SOURCE.replace("\n", end))
    check_whole(document, ["It goes on.", "End."])
    block = document.blocks[1]
    assert document.source[block.source_offset(block.text.index("pulls")) :].startswith("pulls the")


@pytest.mark.parametrize(
    ("source", "clean"),
    [
        ("2*3*4 and a_b_c", "2*3*4 and a_b_c"),
        ('*_both_* ``code`` "`quoted`"', 'both code "quoted"'),
        ("<<ch02#_git_aliases>> and <<b,that one>>", "git aliases and that one"),
        ("See xref:a.adoc[], link:b.html[the page].", "See a.adoc, the page."),
        ("[path]_/etc/hosts_ and a[0]", "/etc/hosts and a[0]"),
        ("image::a.png[A fine picture,300]", "A fine picture"),
        ("One.\n\n----\nA rule, as it *never* ends.", "One.|A rule, as it never ends."),
        ("|===\n|a |b\n|c |d", "a | b|c | d"),
        ("1. First\n. Second", "First|Second"),
        ("-a::\n*--all*::\n  Text of\n  it.\nb::\n* One", "-a:|--all: Text of\nit.|b:|One"),
    ],
)
def test_marks_are_taken_away_only_where_they_are_marks(source: str, clean: str) -> None:
    assert "|".join(block.text for block in read(source).blocks) == clean


@pytest.mark.parametrize(
    ("text", "format"),
    [
        (SOURCE, "asciidoc"),
        ("== Heights\n\nText.\n\n=== Deep\n", "asciidoc"),
        ("[preface]\n== Heights\n\nText.\n", "asciidoc"),
        ("== A sign\n\nof a plain text\n", "text"),
        ("[2024-05-01 10:00] === Begin of a log\n[2024-05-01 10:01] Sailed.\n", "text"),
        ("-----BEGIN PGP SIGNATURE-----\n\n== x\n", "text"),
    ],
)
def test_files_of_other_endings_are_known_by_a_heading_and_another_mark(text: str, format: str) -> None:
    assert recognised_format(text.encode(), "tides.asc").name == format
