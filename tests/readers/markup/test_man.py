"""Manual pages: what a reader sees of them, and where it stands."""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest
from cited import check_whole

from semsearch.readers.document import Document
from semsearch.readers.read import read_file, read_text

MAN = r"""'\" t
.\" a comment
.de Sp
.if n .sp
..
.if !\nF .nr F 0
.ie n \{\
.    tm no text
.\}
.TH TIDE 1 "May 2024"
.SH NAME
tide \- show when the sea is \fIhigh\fR
.SH SYNOPSIS
.B tide
[\fIOPTION\fR]... \&.
.SH "EXIT STATUS"
Zero if all is \(lqwell\(rq,
.BR sea (1)
says.
.PP
\fB\-d\fR, \fB\-\-days\fR
.RS 4
Days to show.
.RE
.TP
.BI \-n " port"
the port
of the gauge
.PP
\fB--json\fP[=false]
	as JSON
.IP \(bu 2
An item.
.nf
tide \-d 3 |
  less
.fi
"""
MDOC = r""".\" a comment
.Dd May 1, 2024
.Dt SEA 8
.Sh NAME
.Nm sea
.Nd calm the waves
.Sh DESCRIPTION
.Nm
has
.Op Fl v | Fl -vast Ar size ,
see
.Xr tide 1 .
.Bl -tag
.It Fl p Ar port
The port
.Pq default: 7 .
.Pp
No other.
.El
.Bd -literal
sea -p 8
.Ed
"""


def read(source: str, name: str = "tide.1") -> Document:
    return read_text(source, name, format="man")


@pytest.mark.parametrize(
    "text", [".BR ls (1),\n.BR find (1posix)", r"\fBls(1)\fP, \fBpower\-off(8)\fP and \fBx(3)\fP."]
)
def test_names_of_other_pages_alone_are_no_text(text: str) -> None:
    document = read(f".TH A 1\n.SH NAME\na \\- b\n.SH SEE ALSO\n{text}\n.PP\nAsk sea(1) for more.\n")
    assert [block.text for block in document.blocks][2:] == ["SEE ALSO", "Ask sea(1) for more."]


def test_a_page_is_its_headings_paragraphs_options_and_examples() -> None:
    document = read(MAN)
    assert [(block.text, block.level) for block in document.blocks] == [
        ("NAME", 1),
        ("tide - show when the sea is high", 0),
        ("SYNOPSIS", 1),
        ("tide [OPTION]... .", 0),
        ("EXIT STATUS", 1),
        ("Zero if all is “well”, sea(1) says.", 0),
        ("-d, --days: Days to show.", 0),
        ("-n port: the port of the gauge", 0),
        ("--json[=false]: as JSON", 0),
        ("An item.", 0),
        ("tide -d 3 |\n  less", 0),
    ]
    assert document.title == "tide - show when the sea is high"


def test_a_page_with_the_macros_of_mdoc_is_read_as_it_is_shown() -> None:
    document = read(MDOC)
    assert [block.text for block in document.blocks] == [
        "NAME",
        "sea - calm the waves",
        "DESCRIPTION",
        "sea has [-v | --vast size], see tide(1).",
        "-p port: The port (default: 7).",
        "No other.",
        "sea -p 8",
    ]


def test_a_row_of_a_table_is_its_cells_however_they_are_written() -> None:
    table = """.SH TIDES
.TS
allbox tab(:);
l l l
l l.
Port:Time:Height
_
Brest::7 m
T{
.sp
Saint\\-Malo
T}:T{
see http://sea.example
for it
T}:12 m
.TE
All in metres.
.TS
box;
\\fBtide\\fR	[\\fIPORT\\fR]
.TE
"""
    document = read(table)
    rows = ["Port | Time | Height", "Brest | 7 m", "Saint-Malo | see http://sea.example for it | 12 m"]
    assert [block.text for block in document.blocks] == ["TIDES", *rows, "All in metres.", "tide | [PORT]"]
    check_whole(document, rows[:2])


@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_sentences_are_cited_where_they_stand(end: str) -> None:
    document = read(MAN.replace("\n", end))
    check_whole(document, ["-d, --days: Days to show.", "An item."])
    block = document.blocks[5]
    assert document.source[block.source_offset(block.text.index("says.")) :].startswith("says.")


@pytest.mark.parametrize(
    "source", [".TH A 1\n.SH B\n.Ar", ".TP\n.It\n.SH", ".Nm\n.Op", ".if \\{", ".de x", "\\", ".TS\nl.\nT{"]
)
def test_a_page_that_ends_early_has_all_its_text_in_the_source(source: str) -> None:
    for block in read(source).blocks:
        assert 0 <= block.source_offset(len(block.text)) <= len(source)


@pytest.mark.parametrize("name", ["tide.1", "tide.1.gz", "tide", "tide.3pm"])
def test_a_page_is_recognised_by_its_content_whatever_its_name(name: str, tmp_path: Path) -> None:
    path = tmp_path / name
    path.write_bytes(gzip.compress(MAN.encode()) if name.endswith(".gz") else MAN.encode())
    assert read_file(path).document.format == "man"


def test_a_log_with_a_number_and_text_that_begins_with_a_dot_are_no_pages(tmp_path: Path) -> None:
    for name, text in (("app.log.1", "2024-05-01 10:00 started\n"), ("notes.1", ".hidden files\n.THE end\n")):
        (tmp_path / name).write_text(text)
        assert read_file(tmp_path / name).document.format == "text"
