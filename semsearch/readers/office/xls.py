"""Old and binary Excel workbooks (.xls, .xlsb), by calamine: their rows as those of .xlsx."""

from __future__ import annotations

import io
from datetime import date, datetime, time
from pathlib import PurePath
from typing import Any

from semsearch.errors import MissingExtra, SourceError
from semsearch.readers.document import Builder, Document
from semsearch.readers.office.xlsx import add_row, column_name


def read(data: bytes, name: str) -> Document:
    """Read an old or binary workbook, by calamine. Its title is its name.

    Raises SourceError for a damaged one, MissingExtra.
    """
    try:
        import python_calamine
    except ImportError:
        raise MissingExtra("python-calamine", "xls") from None
    builder = Builder()
    try:
        workbook = python_calamine.CalamineWorkbook.from_filelike(io.BytesIO(data))
        for sheet in workbook.sheet_names:
            builder.add(sheet[:100], level=1, place=sheet[:100])
            rows = workbook.get_sheet_by_name(sheet).to_python(skip_empty_area=False)
            for number, row in enumerate(rows, start=1):
                if cells := [
                    (f"{column_name(column)}{number}", text)
                    for column, value in enumerate(row, start=1)
                    if (text := _shown(value))
                ]:
                    add_row(sheet[:100], cells, builder)
    except python_calamine.PasswordError:
        raise SourceError(f"{name} is protected by a password; save it without one") from None
    except BaseException as error:  # a panic of Rust is no Exception
        if isinstance(error, KeyboardInterrupt | SystemExit | MemoryError | GeneratorExit):
            raise
        reason = "it is damaged, or protected by a password" if "Cannot detect" in str(error) else error
        raise SourceError(f"{name} cannot be read as {PurePath(name).suffix}: {reason}") from None
    return Document(builder.source, builder.blocks, "xls", PurePath(name).stem)


def _shown(value: Any) -> str:
    """A cell as text."""
    if isinstance(value, bool):
        return str(value).upper()
    if isinstance(value, float):
        return f"{value:.15g}"
    if isinstance(value, datetime):
        return value.strftime("%Y-%m-%dT%H:%M") if value.time() != time() else value.date().isoformat()
    if isinstance(value, date | time):
        return value.isoformat()
    return str(value).replace("\0", "").strip()
