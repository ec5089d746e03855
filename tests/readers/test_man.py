"""Manual pages, in the macros of man(7) and of mdoc(7)."""

from __future__ import annotations

import pytest
from cited import check_whole

from semsearch.readers.document import Document
from semsearch.readers.read import read_bytes

MAN = r""".\" Made by hand.
.de Vb
.ft CW
..
.ie n \{\
.ds -- \(*W-
'br\}
.el \{\
nothing \}
.TH TIDE "1p" "May 2024"
.SH NAME
tide \- pull the \fBsea\fR
.SH "SEE \s-1ALSO\s0"
Read \fIthis\fR first\&. It isn\(aqt long,
.B really
and
.BR moon (1)
helps.
.PP
.if n nothing
Another\c
one here.
.TP
\fB\-a\fR, \fB\-\-all=\fR\fIWHEN\fR
Take \[u00E9]verything.
.IP \(bu 2
A point.
.nf
  tide \e
    --low
.fi
.SS Deeper
.TS
l l.
one	two
.TE
""".lstrip("\n")

MDOC = r""".Dd May 1, 2024
.Dt TIDE 8
.Os
.Sh NAME
.Nm tide
.Nd pull the sea
.Sh SYNOPSIS
.Nm
.Op Fl a
.Op Fl o Ar file
.Sh DESCRIPTION
The
.Nm
utility pulls, see
.Xr moon 4 .
.Bl -tag
.It Fl a , Fl -all
Take
.Dq everything .
.El
"""


def read(source: str, name: str = "tide.1") -> Document:
    return read_bytes(source.encode(), name)


def shown(document: Document) -> list[tuple[int, str]]:
    return [(block.level, block.text) for block in document.blocks]


def test_a_page_of_man_is_its_headings_and_paragraphs() -> None:
    document = read(MAN)
    assert shown(document) == [
        (1, "NAME"),
        (0, "tide - pull the sea"),
        (1, "SEE ALSO"),
        (0, "Read this first. It isn't long, really\nand moon(1)\nhelps."),
        (0, "Anotherone here."),
        (0, "-a, --all=WHEN\nTake éverything."),
        (0, "A point."),
        (0, "tide \\\n    --low"),
        (2, "Deeper"),
        (0, "one | two"),
    ]
    assert (document.title, document.format) == ("tide(1p): pull the sea", "man")
    assert document.metadata == {"section": "1p"}


def test_a_page_of_mdoc_is_likewise() -> None:
    document = read(MDOC)
    assert shown(document) == [
        (1, "NAME"),
        (0, "tide - pull the sea"),
        (1, "SYNOPSIS"),
        (0, "tide [-a] [-o file]"),
        (1, "DESCRIPTION"),
        (0, "The tide\nutility pulls, see moon(4)."),
        (0, "-a, --all\nTake “everything.”"),
    ]
    assert document.title == "tide(8): pull the sea"


def test_sentences_stand_where_they_are_cited() -> None:
    check_whole(read(".TH A 1\n.SH NAME\nThe first one.\n.PP\nThe \\fBsecond\\fR one is.\n"), ["The first one."])
    document = read(".TH A 1\n.SH B\n.PP\nSome words.\n.TP\n\\fB\\-x\\fR\nThe flag.\n")
    starts = [document.source[block.source_offset(0) :][:5] for block in document.blocks]
    assert starts == ["B\n.PP", "Some ", "\\-x\\f"]


def test_a_page_needs_no_ending_and_one_that_names_another_is_empty() -> None:
    assert read(MAN, "/usr/share/man/man1/tide.1p").format == "man"
    assert read(".so man1/tide.1\n").blocks == []
    assert read(".profile is read first.\n", "notes.txt").format == "text"


@pytest.mark.parametrize(
    "part", ["\\", "\\(", "\\[", "\\f", ".TH", ".It", ".Op Fl", ".TS", "\\*", "\\h'", ".if \\{", ".de x", "'", '."']
)
def test_what_is_cut_anywhere_is_read_as_far_as_it_goes(part: str) -> None:
    assert read(f".TH A 1\n.SH B\nSome words.\n{part}").blocks[1].text.startswith("Some words.")
