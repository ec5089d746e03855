"""Workbooks of Excel (.xlsx, .xlsm, .xlsb, .xls) and LibreOffice (.ods), by calamine: sheet after sheet, row after row.

A row is a block at the range of its cells; a cell that holds a sentence or more is a block of its own. Of formulas the
last result is read. Numbers are given as they are, dates as ISO dates; errors, charts, drawings and comments are left
out.
"""

from __future__ import annotations

import io
from collections.abc import Iterator
from datetime import date, datetime, time, timedelta
from pathlib import PurePath
from typing import Any

import python_calamine

from semsearch.errors import SourceError
from semsearch.readers.document import Builder, DamagedParts, Document, joined_cells, stands_alone
from semsearch.readers.office.office_archive import Archive, office_document

_PROSE = 8  # words from which on a cell is a block of its own
_LONGEST_NAME = 100  # characters of a sheet's; Excel allows 31


def read(data: bytes, name: str) -> Document:
    """Read a workbook: its rows, with the name of each sheet above them. Its title is its property, else its name.

    Raises SourceError for a damaged one, and for one with a password.
    """
    is_packed = name.lower().endswith((".xlsx", ".xlsm", ".ods")) or data[:2] == b"PK"
    archive = Archive(data, name, PurePath(name).suffix.lower()) if is_packed else None
    builder, damaged = Builder(), DamagedParts(name)
    try:
        workbook = python_calamine.CalamineWorkbook.from_filelike(io.BytesIO(data))
    except BaseException as error:
        raise _unreadable(error, name) from None
    for sheet in workbook.sheets_metadata:
        if sheet.typ == python_calamine.SheetTypeEnum.WorkSheet:
            title = sheet.name[:_LONGEST_NAME]
            builder.add(title, level=1, place=title)
            with damaged.left_out():
                for row in _rows(workbook, sheet.name, name):
                    add_row(title, row, builder)
    if archive is not None:
        return office_document(archive, builder, damaged, "xlsx", has_headings=False)
    return Document(builder.source, builder.blocks, "xlsx", PurePath(name).stem, {}, damaged.omissions(builder.blocks))


def _rows(workbook: Any, sheet: str, name: str) -> Iterator[list[tuple[str, str]]]:
    """The rows of a sheet that have something in them: the name and text of each cell. Raises SourceError."""
    try:
        worksheet = workbook.get_sheet_by_name(sheet)
        first_row, first_column = worksheet.start or (0, 0)
        rows = worksheet.to_python(skip_empty_area=True)
    except BaseException as error:
        raise _unreadable(error, name) from None
    for number, row in enumerate(rows, start=first_row + 1):
        texts = ((column, _shown(value)) for column, value in enumerate(row, start=first_column + 1))
        if cells := [(f"{column_name(column)}{number}", text) for column, text in texts if text]:
            yield cells


def _unreadable(error: BaseException, name: str) -> BaseException:
    """What to raise for an error of calamine; a panic of Rust is no Exception."""
    if isinstance(error, KeyboardInterrupt | SystemExit | MemoryError | GeneratorExit):
        return error
    if isinstance(error, python_calamine.PasswordError):
        return SourceError(f"{name} is protected by a password; save it without one")
    reason = "it is damaged, or protected by a password" if "Cannot detect" in str(error) else error
    return SourceError(f"{name} cannot be read as {PurePath(name).suffix}: {reason}")


def _shown(value: Any) -> str:
    """A cell as text."""
    match value:
        case bool():
            return str(value).upper()
        case float():
            return f"{value:.15g}"
        case datetime():
            return value.strftime("%Y-%m-%dT%H:%M") if value.time() != time() else value.date().isoformat()
        case date() | time():
            return value.isoformat()
        case timedelta():
            minutes, seconds = divmod(round(value.total_seconds()), 60)
            return f"{minutes // 60}:{minutes % 60:02}:{seconds:02}"
    return str(value).replace("\0", "").strip()


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


def column_name(number: int) -> str:
    """The letters of a column, counted from 1."""
    name = ""
    while number:
        number, letter = divmod(number - 1, 26)
        name = chr(65 + letter) + name
    return name
