"""OpenDocument spreadsheets (.ods) and presentations (.odp), as LibreOffice writes them; texts are in odt.py.

Of a spreadsheet, rows are read as those of Excel's, with what its cells show; dates are ISO dates. Of a presentation,
slides are read in order: the title, the text in frames and tables, the notes. Charts, drawings and comments are left
out.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import PurePath
from typing import Any

from semsearch.readers.document import Builder, Document, joined_cells
from semsearch.readers.office.odt import DRAW, OFFICE, PARAGRAPHS, TABLE, opened_archive, shown_text
from semsearch.readers.office.office_archive import number, outermost, properties
from semsearch.readers.office.xlsx import add_row, column_name

_PRESENTATION = "{urn:oasis:names:tc:opendocument:xmlns:presentation:1.0}"
_CELLS = (TABLE + "table-cell", TABLE + "covered-table-cell")
_MOST_COLUMNS = 16_384
_FURNITURE = {"page-number", "date-time", "header", "footer", "page"}


def read(data: bytes, name: str) -> Document:
    """Read a spreadsheet or a presentation. Its title is its property, else its first slide's, else its name."""
    archive = opened_archive(data, name)
    builder = Builder()
    tree = archive.tree("content.xml")
    is_talk = tree.find(f"{OFFICE}body/{OFFICE}presentation") is not None
    if is_talk:
        for count, slide in enumerate(tree.iter(DRAW + "page"), start=1):
            builder.end_sections()
            _take_slide(slide, f"slide {count}", builder)
    else:
        for table in tree.iterfind(f"{OFFICE}body/{OFFICE}spreadsheet/{TABLE}table"):
            _take_sheet(table, builder)
    metadata = properties(archive.tree("meta.xml")) if "meta.xml" in archive else {}
    titles = [metadata.get("title", ""), *(block.text for block in builder.blocks if is_talk and block.level == 1)]
    title = " ".join(next(filter(None, titles), PurePath(name).stem).split())
    return Document(builder.source, builder.blocks, "odp" if is_talk else "ods", title, metadata)


def _take_sheet(table: Any, builder: Builder) -> None:
    sheet = table.get(TABLE + "name", "")[:100]
    builder.add(sheet, level=1, place=sheet)
    row = 1
    for element in table.iter(TABLE + "table-row"):
        cells = [(f"{column_name(column)}{row}", text) for column, text in _cells(element) if text]
        if cells:
            add_row(sheet, cells, builder)
        row += max(1, number(element.get(TABLE + "number-rows-repeated"), 1))


def _cells(row: Any) -> Iterator[tuple[int, str]]:
    """The columns and texts of a row's cells; what is repeated is read once."""
    column = 1
    for cell in row:
        if cell.tag in _CELLS and column <= _MOST_COLUMNS:
            date = cell.get(OFFICE + "date-value")
            yield column, date or " ".join(shown_text(each) for each in cell if each.tag in PARAGRAPHS).strip()
            column += max(1, number(cell.get(TABLE + "number-columns-repeated"), 1))


def _take_slide(slide: Any, place: str, builder: Builder) -> None:
    frames = [each for each in slide.iter(DRAW + "frame", DRAW + "custom-shape") if not _is_in_notes(each)]
    frames.sort(key=lambda frame: frame.get(_PRESENTATION + "class") != "title")
    for frame in frames:
        kind = frame.get(_PRESENTATION + "class", "")
        if kind == "title":
            builder.add(" ".join(_paragraphs(frame)), level=1, place=place, part=place)
        elif kind not in _FURNITURE:
            for text in _paragraphs(frame):
                builder.add(text, place=place, part=place)
    for notes in slide.iterfind(_PRESENTATION + "notes"):
        for frame in notes.iter(DRAW + "frame"):
            if frame.get(_PRESENTATION + "class") not in _FURNITURE:
                for text in _paragraphs(frame):
                    builder.add(text, place=f"{place}, notes", part=place)


def _is_in_notes(element: Any) -> bool:
    return next(element.iterancestors(_PRESENTATION + "notes"), None) is not None


def _paragraphs(frame: Any) -> Iterator[str]:
    for row in outermost(frame, TABLE + "table-row"):
        yield joined_cells(" ".join(map(shown_text, outermost(cell, *PARAGRAPHS))) for cell in row)
    for paragraph in outermost(frame, *PARAGRAPHS):
        if next(paragraph.iterancestors(TABLE + "table-row"), None) is None:
            yield shown_text(paragraph)
