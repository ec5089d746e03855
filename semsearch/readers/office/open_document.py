"""OpenDocument, as LibreOffice writes it: texts (.odt) and presentations (.odp).

Of a text, places are paragraphs, by their number, empty ones counted and those in tables not; a table's rows; notes.
Text that was deleted under tracked changes is left out. Pages are counted where the writer has marked them.

Of a presentation, slides are read in order: the title, the text in frames and tables, the notes. Charts, drawings and
comments are left out. Spreadsheets (.ods) are read as Excel's are (semsearch.readers.office.workbook).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import PurePath
from typing import Any

from semsearch.errors import SourceError
from semsearch.readers.document import Builder, DamagedParts, Document, joined_cells
from semsearch.readers.office.office_archive import Archive, PagedReading, add_slide, number, office_document, outermost

_TEXT = "{urn:oasis:names:tc:opendocument:xmlns:text:1.0}"
_TABLE = "{urn:oasis:names:tc:opendocument:xmlns:table:1.0}"
_DRAW = "{urn:oasis:names:tc:opendocument:xmlns:drawing:1.0}"
_OFFICE = "{urn:oasis:names:tc:opendocument:xmlns:office:1.0}"
_MANIFEST = "{urn:oasis:names:tc:opendocument:xmlns:manifest:1.0}"
_PARAGRAPHS = (_TEXT + "p", _TEXT + "h")
_SKIPPED = {
    _TEXT + "tracked-changes",
    _TEXT + "table-of-content",
    _TEXT + "note-citation",
    _TEXT + "sequence-decls",
    _OFFICE + "forms",
}
_PAGE_BREAK = _TEXT + "soft-page-break"


def read(data: bytes, name: str) -> Document:
    """Read a text or presentation.

    Its title is its property, else its first heading of level 1 or its first slide's, else its name.
    """
    archive = _opened_archive(data, name)
    tree = archive.tree("content.xml")
    if tree.find(f"{_OFFICE}body/{_OFFICE}presentation") is not None:
        return office_document(archive, _slides(tree), DamagedParts(name), "odp")
    reading = _OdtReading(_PARAGRAPHS, page=1 if next(tree.iter(_PAGE_BREAK), None) is not None else None)
    body = tree.find(_OFFICE + "body")
    reading.take(() if body is None else body)
    reading.take_notes()
    return office_document(archive, reading.builder, DamagedParts(name), "odt")


def _opened_archive(data: bytes, name: str) -> Archive:
    """Open an OpenDocument file. Raises SourceError for one with a password."""
    archive = Archive(data, name, PurePath(name).suffix.lower() or ".odt")
    manifest = archive.tree("META-INF/manifest.xml") if "META-INF/manifest.xml" in archive else ()
    if any(True for entry in manifest for _ in entry.iter(_MANIFEST + "encryption-data")):
        raise SourceError(f"{name} is protected by a password; save it without one")
    return archive


def _shown_text(paragraph: Any) -> str:
    """The text of a paragraph, without notes and what stands in frames."""
    return "".join(_OdtReading(_PARAGRAPHS).parts(paragraph, [])).strip()


@dataclass(slots=True)
class _OdtReading(PagedReading):
    """The state of reading one document. Notes are kept for the end."""

    notes: list[tuple[str, Any]] = field(default_factory=list)
    rows: int = 0  # of the last table

    def take(self, element: Any) -> None:
        """Add all paragraphs and tables in an element, in order."""
        for child in element:
            if child.tag in _PARAGRAPHS:
                level = number(child.get(_TEXT + "outline-level"), 1) if child.tag == _TEXT + "h" else 0
                self.paragraph(child, max(level, 1) if child.tag == _TEXT + "h" else 0)
            elif child.tag == _TABLE + "table":
                self._table(child)
            elif child.tag == _TABLE + "table-row":
                self.rows += self.place is None
                cells = [cell for cell in child if cell.tag == _TABLE + "table-cell"]
                self.row(cells, f"table {self.tables}, row {self.rows}")
            elif child.tag == _PAGE_BREAK:
                self.turn()
            elif child.tag not in _SKIPPED:
                self.take(child)

    def take_notes(self) -> None:
        """Add the footnotes, endnotes and comments that were kept."""
        self.page = None
        self.builder.end_sections()
        numbers: dict[str, int] = {}
        while self.notes:
            kind, note = self.notes.pop(0)
            numbers[kind] = numbers.get(kind, 0) + 1
            self.part = kind
            self.within(f"{kind} {numbers[kind]}", note)

    def _table(self, table: Any) -> None:
        """The rows of a table; those of one within it have its last row's place."""
        if self.place is None:
            self.tables, self.rows = self.tables + 1, 0
        self.take(table)

    def parts(self, element: Any, boxes: list[Any]) -> Iterator[str]:
        yield _spaced(element.text)
        for child in element:
            if child.tag == _TEXT + "s":
                yield " " * min(number(child.get(_TEXT + "c"), 1), 100)
            elif child.tag == _TEXT + "tab":
                yield "\t"
            elif child.tag == _TEXT + "line-break":
                yield "\n"
            elif child.tag == _PAGE_BREAK:
                self.turn()
            elif child.tag == _TEXT + "note":
                kind = "endnote" if child.get(_TEXT + "note-class") == "endnote" else "footnote"
                self.notes.append((kind, [part for part in child if part.tag == _TEXT + "note-body"]))
            elif child.tag == _OFFICE + "annotation":
                self.notes.append(("comment", child))
            elif child.tag == _DRAW + "frame" or child.tag == _DRAW + "text-box":
                boxes.append(child)
            elif child.tag not in _SKIPPED:
                yield from self.parts(child, boxes)
            yield _spaced(child.tail)


def _spaced(text: str | None) -> str:
    """Collapse white space to single spaces, as in HTML."""
    if not text:
        return ""
    words = " ".join(text.split())
    return f"{' ' if text[:1].isspace() else ''}{words}{' ' if words and text[-1:].isspace() else ''}"


# -- Presentations ----------------------------------------------------------------------------------------------------

_PRESENTATION = "{urn:oasis:names:tc:opendocument:xmlns:presentation:1.0}"


def _slides(tree: Any) -> Builder:
    builder = Builder()
    for count, slide in enumerate(tree.iter(_DRAW + "page"), start=1):
        shapes = [shape for shape in slide.iter(_DRAW + "frame", _DRAW + "custom-shape") if not _is_in_notes(shape)]
        notes = (frame for part in slide.iterfind(_PRESENTATION + "notes") for frame in part.iter(_DRAW + "frame"))
        add_slide(builder, f"slide {count}", map(_shape, shapes), map(_shape, notes))
    return builder


def _shape(frame: Any) -> tuple[str, Iterator[str]]:
    return frame.get(_PRESENTATION + "class", ""), _paragraphs(frame)


def _is_in_notes(element: Any) -> bool:
    return next(element.iterancestors(_PRESENTATION + "notes"), None) is not None


def _paragraphs(frame: Any) -> Iterator[str]:
    for row in outermost(frame, _TABLE + "table-row"):
        yield joined_cells(" ".join(map(_shown_text, outermost(cell, *_PARAGRAPHS))) for cell in row)
    for paragraph in outermost(frame, *_PARAGRAPHS):
        if next(paragraph.iterancestors(_TABLE + "table-row"), None) is None:
            yield _shown_text(paragraph)
