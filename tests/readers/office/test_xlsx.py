"""Workbooks, as openpyxl writes them."""

from __future__ import annotations

import datetime
import io
import re
import zipfile
from typing import Any

import pytest
from cited import check_whole, places
from packages import needed

from semsearch.errors import SourceError
from semsearch.readers.document import Document
from semsearch.readers.read import read_bytes

openpyxl = needed("openpyxl")
PROSE = "The moon pulls the sea, and so it moves. Twice a day it rises."


def saved(book: Any) -> bytes:
    file = io.BytesIO()
    book.save(file)
    return file.getvalue()


def read(book: Any) -> Document:
    return read_bytes(saved(book), "book.xlsx")


def test_rows_come_with_their_ranges_and_prose_with_its_cell() -> None:
    book = openpyxl.Workbook()
    sheet = book.active
    sheet.title = "Tides"
    sheet.append(["Place", "Note", "Height"])
    sheet.append(["Köln", PROSE, 3.5])
    sheet["B5"] = "alone"
    book.create_sheet("Ebb & flow").append([None, "last"])
    document = read(book)
    assert places(document) == [
        ("Tides", "Tides"),
        ("Tides!A1:C1", "Place | Note | Height"),
        ("Tides!A2", "Köln"),
        ("Tides!B2", PROSE),
        ("Tides!C2", "3.5"),
        ("Tides!B5", "alone"),
        ("Ebb & flow", "Ebb & flow"),
        ("Ebb & flow!B1", "last"),
    ]
    assert [block.level for block in document.blocks] == [1, 0, 0, 0, 0, 0, 1, 0]
    check_whole(document, ["The moon pulls the sea, and so it moves.", "Twice a day it rises."])


def test_values_are_shown_as_a_person_would_write_them() -> None:
    book = openpyxl.Workbook()
    values = [0.1 + 0.2, 7, 12345678901, True, datetime.date(2024, 5, 1), datetime.datetime(2024, 5, 1, 10, 30), 1e300]
    book.active.append([*values, datetime.time(10, 30), 1.5])
    book.active["I1"].number_format = '0.0 "days"'
    assert read(book).blocks[1].text.split(" | ") == [
        "0.3", "7", "12345678901", "TRUE", "2024-05-01", "2024-05-01T10:30", "1e+300", "10:30:00", "1.5",
    ]  # fmt: skip


def test_of_a_formula_the_result_is_read_and_of_a_string_its_runs() -> None:
    cells = '<c r="AA1" t="str"><f>A1&amp;"x"</f><v>made</v></c><c r="AB1" t="inlineStr"><is>'
    cells += "<r><t>bo</t></r><r><t>ld</t></r><rPh><t>no</t></rPh></is></c>"
    data = saved_with_sheet(f'<row r="1">{cells}</row>')
    assert places(read_bytes(data, "book.xlsx"))[1] == ("Sheet!AA1:AB1", "made | bold")


def saved_with_sheet(rows: str) -> bytes:
    """A workbook with these rows in its only sheet."""
    data = f"<sheetData>{rows}</sheetData>".encode()
    given, made = io.BytesIO(saved(openpyxl.Workbook())), io.BytesIO()
    with zipfile.ZipFile(given) as old, zipfile.ZipFile(made, "w") as new:
        for name in old.namelist():
            content = old.read(name)
            if name.endswith("sheet1.xml"):
                content = re.sub(rb"<sheetData\s*/>|<sheetData>.*</sheetData>", lambda _: data, content)
            new.writestr(name, content)
    return made.getvalue()


def test_an_empty_workbook_is_its_sheets_name_and_a_damaged_one_an_error() -> None:
    assert [block.text for block in read(openpyxl.Workbook()).blocks] == ["Sheet"]
    with pytest.raises(SourceError, match=r"book\.xlsx"):
        read_bytes(saved(openpyxl.Workbook())[:-100], "book.xlsx")
