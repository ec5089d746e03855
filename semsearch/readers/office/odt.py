"""OpenDocument texts (.odt), as LibreOffice writes them: paragraphs, headings, tables, notes.

Places are paragraphs of the text, by their number, empty ones counted and those in tables not; a table's rows; notes.
Text that was deleted under tracked changes is left out. Pages are counted where the writer has marked them.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import PurePath
from typing import Any

from semsearch.errors import SourceError
from semsearch.readers.document import PAGE_END, Document, joined_cells, pages_before
from semsearch.readers.office.office_archive import Archive, PagedReading, number, outermost, properties

TEXT = "{urn:oasis:names:tc:opendocument:xmlns:text:1.0}"
TABLE = "{urn:oasis:names:tc:opendocument:xmlns:table:1.0}"
DRAW = "{urn:oasis:names:tc:opendocument:xmlns:drawing:1.0}"
OFFICE = "{urn:oasis:names:tc:opendocument:xmlns:office:1.0}"
_MANIFEST = "{urn:oasis:names:tc:opendocument:xmlns:manifest:1.0}"
PARAGRAPHS = {TEXT + "p", TEXT + "h"}
_SKIPPED = {
    TEXT + "tracked-changes",
    TEXT + "table-of-content",
    TEXT + "note-citation",
    TEXT + "sequence-decls",
    OFFICE + "forms",
}
_PAGE_BREAK = TEXT + "soft-page-break"


def read(data: bytes, name: str) -> Document:
    """Read a text. Its title is its property, else its first heading of level 1, else its name."""
    archive = opened_archive(data, name)
    tree = archive.tree("content.xml")
    reading = _OdtReading(page=1 if next(tree.iter(_PAGE_BREAK), None) is not None else None)
    body = tree.find(OFFICE + "body")
    reading.take(() if body is None else body)
    reading.take_notes()
    metadata = properties(archive.tree("meta.xml")) if "meta.xml" in archive else {}
    blocks = reading.builder.blocks
    titles = [metadata.get("title", ""), *(block.text for block in blocks if block.level == 1)]
    return Document(reading.builder.source, blocks, "odt", next(filter(None, titles), PurePath(name).stem), metadata)


def opened_archive(data: bytes, name: str) -> Archive:
    """Open an OpenDocument file. Raises SourceError for one with a password."""
    archive = Archive(data, name, PurePath(name).suffix.lower() or ".odt")
    manifest = archive.tree("META-INF/manifest.xml") if "META-INF/manifest.xml" in archive else ()
    if any(True for entry in manifest for _ in entry.iter(_MANIFEST + "encryption-data")):
        raise SourceError(f"{name} is protected by a password; save it without one")
    return archive


def shown_text(paragraph: Any) -> str:
    """The text of a paragraph, without notes and what stands in frames."""
    return "".join(_OdtReading()._parts(paragraph, [])).replace(PAGE_END, "").strip()


@dataclass(slots=True)
class _OdtReading(PagedReading):
    """The state of reading one document. Notes are kept for the end."""

    notes: list[tuple[str, Any]] = field(default_factory=list)
    rows: int = 0  # of the last table

    def take(self, element: Any) -> None:
        """Add all paragraphs and tables in an element, in order."""
        for child in element:
            if child.tag in PARAGRAPHS:
                self._paragraph(child)
            elif child.tag == TABLE + "table":
                self._table(child)
            elif child.tag == TABLE + "table-row":
                self._row(child)
            elif child.tag == _PAGE_BREAK:
                self._turn()
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

    def _paragraph(self, paragraph: Any) -> None:
        level = 0
        if paragraph.tag == TEXT + "h":
            level = min(max(number(paragraph.get(TEXT + "outline-level"), 1), 1), 6)
        place = self.next_paragraph()
        boxes: list[Any] = []
        text, spots = self.spotted(self._parts(paragraph, boxes), place)
        self.builder.add(text, level=level, part=self.part, spots=spots)
        for box in boxes:
            self.within(place, box)

    def _row(self, row: Any) -> None:
        if self.place is None:
            self.rows += 1
        place = self.place or f"table {self.tables}, row {self.rows}"
        before = self.page
        cells = [" ".join(self._cell_texts(cell)) for cell in row if cell.tag == TABLE + "table-cell"]
        page = None if before is None else before + pages_before(cells)
        self.builder.add(
            joined_cells(cell.replace(PAGE_END, "") for cell in cells), page=page, place=place, part=self.part
        )

    def _cell_texts(self, cell: Any) -> Iterator[str]:
        """Yield the text of each paragraph of a cell, those of tables and frames within it as well."""
        for paragraph in outermost(cell, *PARAGRAPHS):
            boxes: list[Any] = []
            yield "".join(self._parts(paragraph, boxes))
            for box in boxes:
                yield from self._cell_texts(box)

    def _turn(self) -> None:
        if self.page is not None:
            self.page += 1

    def _parts(self, element: Any, boxes: list[Any]) -> Iterator[str]:
        """Yield the text of a paragraph, and PAGE_END where a page ends. Frames go to `boxes`; notes are kept."""
        yield _spaced(element.text)
        for child in element:
            if child.tag == TEXT + "s":
                yield " " * min(number(child.get(TEXT + "c"), 1), 100)
            elif child.tag == TEXT + "tab":
                yield "\t"
            elif child.tag == TEXT + "line-break":
                yield "\n"
            elif child.tag == _PAGE_BREAK:
                self._turn()
                yield PAGE_END
            elif child.tag == TEXT + "note":
                kind = "endnote" if child.get(TEXT + "note-class") == "endnote" else "footnote"
                self.notes.append((kind, [part for part in child if part.tag == TEXT + "note-body"]))
            elif child.tag == OFFICE + "annotation":
                self.notes.append(("comment", child))
            elif child.tag == DRAW + "frame" or child.tag == DRAW + "text-box":
                boxes.append(child)
            elif child.tag not in _SKIPPED:
                yield from self._parts(child, boxes)
            yield _spaced(child.tail)


def _spaced(text: str | None) -> str:
    """Collapse white space to single spaces, as in HTML."""
    if not text:
        return ""
    words = " ".join(text.split())
    return f"{' ' if text[:1].isspace() else ''}{words}{' ' if words and text[-1:].isspace() else ''}"
