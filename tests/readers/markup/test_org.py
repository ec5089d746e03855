"""Org: what a reader sees of it, and where it stands."""

from __future__ import annotations

import pytest
from cited import check_whole

from semsearch.readers.document import Document
from semsearch.readers.read import read_text

SOURCE = """#+TITLE: Of tides
#+AUTHOR: Ann
# a comment
* TODO [#A] High *water*                              :sea:moon:
DEADLINE: <2024-05-01 Wed>
:PROPERTIES:
:ID: 7
:END:
The /moon/ pulls the
sea, says [[https://x.org/y][the guide]][fn:1]. It ~moves~ on.

- [ ] One item
  goes on.
- Another *one*.
** Code
#+begin_src python
* no heading
x = *y*
#+end_src
#+BEGIN_QUOTE
Quoted here.
#+END_QUOTE
| a | b |
|---+---|
| c | /d/ |
-----
"""


def read(source: str) -> Document:
    return read_text(source, "tides.org", format="org")


def test_a_text_is_its_headings_paragraphs_items_and_rows() -> None:
    document = read(SOURCE)
    assert [(block.text, block.level) for block in document.blocks] == [
        ("High water", 1),
        ("The moon pulls the\nsea, says the guide. It moves on.", 0),
        ("One item\ngoes on.", 0),
        ("Another one.", 0),
        ("Code", 2),
        ("* no heading\nx = *y*", 0),
        ("Quoted here.", 0),
        ("a | b", 0),
        ("c | d", 0),
    ]
    assert (document.title, document.metadata) == ("Of tides", {"title": "Of tides", "author": "Ann"})


@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_sentences_are_cited_where_they_stand(end: str) -> None:
    document = read(SOURCE.replace("\n", end))
    check_whole(document, ["Another one.", "Quoted here."])
    block = document.blocks[1]
    assert document.source[block.source_offset(block.text.index("It moves")) :].startswith("It ~moves~ on.")


@pytest.mark.parametrize(
    ("source", "clean"),
    [
        ("2*3*4 and a_b_c", "2*3*4 and a_b_c"),
        ("*bold* =code= +gone+ _under_", "bold code gone under"),
        ("[[file:a.png]] and [[b]]", "file:a.png and b"),
        ("#+begin_src\nnever ended", "never ended"),
        ("#+begin_comment\nno\n#+end_comment\nyes", "yes"),
        ("1. First\n2) Second", "First|Second"),
    ],
)
def test_marks_are_taken_away_only_where_they_are_marks(source: str, clean: str) -> None:
    assert "|".join(block.text for block in read(source).blocks) == clean
