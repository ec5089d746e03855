"""Spreadsheets and presentations of LibreOffice, books in FictionBook, and old workbooks of Excel."""

from __future__ import annotations

import base64
import zlib

import pytest
from cited import places
from sample_files.valid_files import MANIFEST, OLD_WORKBOOK, odp, ods, zipped

from semsearch.errors import SourceError
from semsearch.readers.read import read_bytes

NAMES = " ".join(
    f'xmlns:{short}="urn:oasis:names:tc:opendocument:xmlns:{long}:1.0"'
    for short, long in (
        ("office", "office"),
        ("text", "text"),
        ("table", "table"),
        ("draw", "drawing"),
        ("presentation", "presentation"),
    )
)


def content(body: str, kind: str = "spreadsheet") -> bytes:
    tree = f"<office:document-content {NAMES}><office:body>{body}</office:body></office:document-content>"
    return zipped(
        {
            "mimetype": f"application/vnd.oasis.opendocument.{kind}",
            "META-INF/manifest.xml": MANIFEST,
            "content.xml": tree,
        }
    )


def test_cells_of_a_spreadsheet_have_their_names() -> None:
    document = read_bytes(ods(["Place", "Note"], ["Köln", "The tide is seldom as high as here in spring."]), "a.ods")
    assert places(document) == [
        ("Tides", "Tides"),
        ("Tides!A1:B1", "Place | Note"),
        ("Tides!A2", "Köln"),
        ("Tides!B2", "The tide is seldom as high as here in spring."),
    ]


def test_rows_and_cells_that_are_repeated_are_counted_and_dates_are_iso_dates() -> None:
    cell = '<table:table-cell office:value-type="string" table:number-columns-repeated="{}">{}</table:table-cell>'
    empty = '<table:table-cell table:number-columns-repeated="{}"/>'
    date = '<table:table-cell office:value-type="date" office:date-value="2024-05-01"/>'
    rows = (
        f'<table:table-row table:number-rows-repeated="3">{empty.format(16_384)}</table:table-row>'
        f"<table:table-row>{empty.format(2)}{cell.format(2, '<text:p>sea</text:p>')}{date}</table:table-row>"
        f'<table:table-row table:number-rows-repeated="1048572">{empty.format(16_384)}</table:table-row>'
    )
    document = read_bytes(
        content(f'<office:spreadsheet><table:table table:name="S">{rows}</table:table></office:spreadsheet>'), "a.ods"
    )
    assert places(document)[1:] == [("S!C4:E4", "sea | sea | 2024-05-01")]


def test_slides_of_a_presentation_have_titles_text_and_notes() -> None:
    frame = '<draw:frame presentation:class="{}"><draw:text-box><text:p>{}</text:p></draw:text-box></draw:frame>'
    slide = (
        f"<draw:page>{frame.format('outline', 'The sea moves.')}{frame.format('title', 'Tides')}"
        f"{frame.format('page-number', '7')}<presentation:notes>{frame.format('notes', 'Slowly.')}</presentation:notes>"
        "</draw:page>"
    )
    document = read_bytes(content(f"<office:presentation>{slide}</office:presentation>", "presentation"), "a.odp")
    assert places(document) == [("slide 1", "Tides"), ("slide 1", "The sea moves."), ("slide 1, notes", "Slowly.")]
    assert (document.title, document.format) == ("Tides", "odp")
    assert places(read_bytes(odp("One.", "Two."), "a.odp")) == [("slide 1", "One."), ("slide 2", "Two.")]


def test_an_old_workbook_is_read_like_a_new_one() -> None:
    data = zlib.decompress(base64.b85decode(OLD_WORKBOOK))
    assert places(read_bytes(data, "a.xls")) == [
        ("Tides", "Tides"),
        ("Tides!B2", "The tide is seldom as high as here in spring."),
        ("Tides!B3:C3", "3.5 | 2024-05-01"),
    ]
    with pytest.raises(SourceError, match=r"a\.xls cannot be read as \.xls"):
        read_bytes(data[: len(data) // 3], "a.xls")
