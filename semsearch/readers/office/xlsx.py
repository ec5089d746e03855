"""Excel workbooks (.xlsx): sheet after sheet, row after row, with the values that cells show.

A row is a block at the range of its cells; a cell that holds a sentence or more is a block of its own. Of formulas the
last result is read. Numbers are given as they are, dates as ISO dates; charts, drawings and comments are left out.

Of .xlsx calamine, which is faster, loses errors and the rows of cells without names, refuses a workbook that lies
elsewhere in its archive, and fills all cells up to the farthest one.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from semsearch.readers.document import Builder, DamagedParts, Document, joined_cells, stands_alone
from semsearch.readers.office.office_archive import Archive, number, office_document, outermost

_S = "{http://schemas.openxmlformats.org/spreadsheetml/2006/main}"
_ID = "{http://schemas.openxmlformats.org/officeDocument/2006/relationships}id"
_PROSE = 8  # words from which on a cell is a block of its own
_DATES = {14, 15, 16, 17, 22, 27, 30, 36, 50, 57}  # number formats that every Excel knows
_TIMES = {18, 19, 20, 21, 45, 46, 47}
_NOT_A_CODE = re.compile(r'"[^"]*"|\[[^\]]*\]|\\.|_.|\*.')
_REFERENCE = re.compile(r"([A-Z]{1,3})[0-9]{1,7}")
_ROW = re.compile(r"[0-9]{1,7}")
_LONGEST_NAME = 100  # characters of a sheet's; Excel allows 31


def read(data: bytes, name: str) -> Document:
    """Read a workbook: its rows, with the name of each sheet above them. Its title is its property, else its name."""
    archive = Archive(data, name, ".xlsx")
    main = archive.main_part()
    related = archive.related(main)
    workbook = archive.tree(main)
    parts = dict(related.values())
    values = _Values(
        _shared(archive, parts.get("sharedStrings", "")),
        _date_styles(archive, parts.get("styles", "")),
        _epoch(workbook),
    )
    builder, damaged = Builder(), DamagedParts(name)
    sheets = {sheet.get(_ID, ""): sheet for sheet in workbook.iter(_S + "sheet")}
    for id_, sheet in sheets.items():
        kind, path = related.get(id_, ("", ""))
        if kind == "worksheet":
            title = sheet.get("name", "")[:_LONGEST_NAME]
            builder.add(title, level=1, place=title)
            with damaged.left_out():
                for row in archive.elements(path, _S + "row"):
                    add_row(title, list(_cells(row, values)), builder)
    return office_document(archive, builder, damaged, "xlsx", has_headings=False)


def add_row(sheet: str, cells: list[tuple[str, str]], builder: Builder) -> None:
    """Add a row's blocks, in the order of its cells: each cell of prose by itself, the cells between them joined."""
    short: list[tuple[str, str]] = []
    part = f"{sheet}!{cells[0][0]}" if stands_alone(" ".join(text for _, text in cells)) else None

    def add() -> None:
        if short:
            first, last = short[0][0], short[-1][0]
            place = f"{sheet}!{first}" if first == last else f"{sheet}!{first}:{last}"
            builder.add(joined_cells(text for _, text in short), place=place, part=part)
            short.clear()

    for reference, text in cells:
        if len(text.split(maxsplit=_PROSE)) < _PROSE:
            short.append((reference, text))
        else:
            add()
            builder.add(text, place=f"{sheet}!{reference}", part=part)
    add()


def _cells(row: Any, values: _Values) -> Iterator[tuple[str, str]]:
    """Yield the cells of a row that are not empty, each with its name; writers may leave out names that follow."""
    number, column = row.get("r", ""), 0
    number = number if _ROW.fullmatch(number) else ""
    for cell in outermost(row, _S + "c"):
        reference = _REFERENCE.fullmatch(cell.get("r", ""))
        column = _column_number(reference[1]) if reference else column + 1
        text = values.text(cell).strip()
        if text:
            yield reference[0] if reference else f"{column_name(column)}{number}", text


@dataclass(slots=True)
class _Values:
    """Converts cells to text, by the shared strings of the workbook, the styles that show dates, and day 0."""

    shared: list[str]
    dates: dict[int, str]
    epoch: datetime

    def text(self, cell: Any) -> str:
        kind = cell.get("t", "n")
        if kind == "inlineStr":
            return _string(cell)
        value_element = cell.find(_S + "v")
        value = "" if value_element is None else value_element.text or ""
        if not value:
            return ""
        if kind == "s":
            index = number(value, len(self.shared))
            return self.shared[index] if 0 <= index < len(self.shared) else ""
        if kind == "b":
            return "TRUE" if value == "1" else "FALSE"
        return self._number(value, self.dates.get(number(cell.get("s"), 0), "")) if kind == "n" else value

    def _number(self, value: str, shown_as: str) -> str:
        try:
            number = float(value)
            if shown_as:
                moment = self.epoch + timedelta(seconds=round(number * 86_400))
                return moment.strftime(shown_as) if number % 1 or "T" not in shown_as else moment.strftime("%Y-%m-%d")
            return f"{number:.15g}"
        except (ValueError, OverflowError):
            return value


def _shared(archive: Archive, path: str) -> list[str]:
    return [_string(item) for item in archive.elements(path, _S + "si")] if path in archive else []


def _string(element: Any) -> str:
    """The text of a string in parts, without the reading aids of Japanese."""
    return "".join(part.text or "" for part in element.iter(_S + "t") if part.getparent().tag != _S + "rPh")


def _date_styles(archive: Archive, path: str) -> dict[int, str]:
    """The formats of dates and times, by the number of the style."""
    if path not in archive:
        return {}
    tree = archive.tree(path)
    codes = {number(code.get("numFmtId"), 0): code.get("formatCode", "") for code in tree.iter(_S + "numFmt")}
    styles = tree.find(_S + "cellXfs")
    formats = {}
    for place, style in enumerate(() if styles is None else styles):
        id_ = number(style.get("numFmtId"), 0)
        code = _NOT_A_CODE.sub("", codes.get(id_, "")).lower()
        if id_ in _DATES or "y" in code or "d" in code:
            formats[place] = "%Y-%m-%dT%H:%M"
        elif id_ in _TIMES or ("h" in code and "m" in code):
            formats[place] = "%H:%M:%S"
    return formats


def _epoch(workbook: Any) -> datetime:
    settings = workbook.find(_S + "workbookPr")
    is_1904 = settings is not None and settings.get("date1904", "0") in ("1", "true")
    return datetime(1904, 1, 1) if is_1904 else datetime(1899, 12, 30)


def _column_number(name: str) -> int:
    number = 0
    for letter in name:
        number = number * 26 + ord(letter) - 64
    return number


def column_name(number: int) -> str:
    """The letters of a column, counted from 1."""
    name = ""
    while number:
        number, letter = divmod(number - 1, 26)
        name = chr(65 + letter) + name
    return name
