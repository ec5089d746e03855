"""Rich text: what is shown, in its encoding, and nothing else."""

from __future__ import annotations

import pytest
from cited import places

from semsearch.errors import SourceError
from semsearch.readers.document import Document
from semsearch.readers.read import read_bytes


def read(content: str) -> Document:
    return read_bytes(b"{\\rtf1\\ansi\\ansicpg1252" + content.encode("ascii") + b"}", "a.rtf")


def test_paragraphs_headings_tables_and_notes_have_places() -> None:
    document = read(
        r"{\stylesheet{\s0 Normal;}{\s1\outlinelevel0 top;}{\s2 heading 2;}}{\info{\title Tides}{\author Ann}}"
        r"\pard\s1 Harbours\par\pard\s2 Deep ones\par\pard\plain The {\b sea} moves.{\footnote A note.}\par\par "
        r"\trowd\cellx1\intbl Ann\cell 12\cell\row\trowd\intbl Bob\par Lee\cell 13\cell\row\pard After.\par"
    )
    assert places(document)[:6] == [
        ("paragraph 1", "Harbours"),
        ("paragraph 2", "Deep ones"),
        ("paragraph 3", "The sea moves."),
        ("table 1, row 1", "Ann | 12"),
        ("table 1, row 2", "Bob Lee | 13"),
        ("paragraph 5", "After."),
    ]
    assert places(document)[-1] == ("footnote 1", "A note.")
    assert [block.level for block in document.blocks[:3]] == [1, 2, 0]
    assert (document.title, document.metadata) == ("Tides", {"title": "Tides", "author": "Ann"})


@pytest.mark.parametrize(
    ("content", "shown"),
    [
        (r"Gr\'f6\'dfe", "Größe"),
        (r"{\fonttbl{\f0 A;}{\f1\fcharset204 B;}}{\f1 \'cf\'f0\'e8}vet", "Приvet"),
        (r"{ \fonttbl {\f0 Times New Roman;} }Words", "Words"),
        (r"{\fonttbl{\f0\fcharset128 A;}}\f0 \'93\'fa\'96\'7b", "日本"),
        (r"\u8364? and \uc0\u8364 x", "€ and €x"),
        (r"\u-10179?\u-8704?", "😀"),
        (r"\ldblquote so\rdblquote\emdash co\-operate\~it", "“so”—cooperate\xa0it"),
        (r"{\field{\*\fldinst HYPERLINK x}{\fldrslt the link}}", "the link"),
        (r"{\*\shpinst{\sp{\sn x}{\sv 1}}{\shptxt in a box}}", "in a box"),
        (r"{\v hidden}{\deleted gone}{\*\unknown x}{\pict 00ff}{\header H\par}{\listtext 1.\tab}Shown", "Shown"),
        (r"{\pict\bin5 }}{{\}Shown", "Shown"),
        (r"a\line b\tab c", "a\nb\tc"),
    ],
)
def test_what_is_shown_is_read(content: str, shown: str) -> None:
    assert "\n".join(block.text for block in read(content + r"\par").blocks if block.text) == shown


def test_braces_that_do_not_match_end_nothing_and_too_many_are_an_error() -> None:
    assert read("One}}} two").blocks[0].text == "One two"
    assert read("{{{One {two").blocks[0].text == "One two"
    with pytest.raises(SourceError, match="nested too deeply"):
        read("{" * 20_000)
    with pytest.raises(SourceError, match=r"a\.rtf cannot be read as \.rtf"):
        read_bytes(b"words", "a.rtf")
