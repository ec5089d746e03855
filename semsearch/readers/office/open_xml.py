"""Word documents (.docx) and PowerPoint presentations (.pptx).

Of Word: paragraphs, headings, tables, notes and comments, with the page where Word has counted. Places are paragraphs
of the text, by their number, empty ones counted and those in tables not; a table's rows; notes. Deleted and moved text,
field codes, running heads and feet and the numbers of lists are left out. Pages are those of Word's last layout; a
document that Word has never laid out has none. Headings are known by their style's outline level.

Of PowerPoint: slide after slide, its title, its text and tables, its notes. Shapes come in the order in which they are
kept, the title first. Numbers and dates of slides, running heads and feet are left out, as is the text of charts and
drawings (SmartArt).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from semsearch.readers.document import Builder, DamagedParts, Document, joined_cells
from semsearch.readers.office.office_archive import Archive, PagedReading, add_slide, number, office_document, outermost

_W = "{http://schemas.openxmlformats.org/wordprocessingml/2006/main}"
_FALLBACK = "{http://schemas.openxmlformats.org/markup-compatibility/2006}Fallback"
_PARAGRAPH, _TABLE, _ROW, _CELL = _W + "p", _W + "tbl", _W + "tr", _W + "tc"
_SKIPPED = {_W + "del", _W + "moveFrom", _W + "rPr", _W + "pPr", _W + "sdtPr", _W + "tblPr", _W + "tcPr", _FALLBACK}
_SIGNS = {_W + "tab": "\t", _W + "br": "\n", _W + "cr": "\n", _W + "noBreakHyphen": "-"}
_PAGE_BREAK = _W + "lastRenderedPageBreak"
_NO_LEVEL = 9  # an outline level: of body text
_LONGEST_CHAIN = 20
_NOTES = {"footnotes": "footnote", "endnotes": "endnote", "comments": "comment"}


def read_docx(data: bytes, name: str) -> Document:
    """Read a Word document. Its title is its property, else its title or first heading, else its name."""
    archive = Archive(data, name, ".docx")
    main = archive.main_part()
    related = dict(archive.related(main).values())
    damaged = DamagedParts(name)
    levels: dict[str, int] = {}
    with damaged.left_out():
        levels = _levels(archive, related.get("styles", ""))
    reading = _DocxReading((_PARAGRAPH,), levels=levels)
    tree = archive.tree(main)
    reading.page = 1 if next(tree.iter(_PAGE_BREAK), None) is not None else None
    reading.take(tree)
    reading.page = None
    reading.builder.end_sections()
    for kind, noun in _NOTES.items():
        with damaged.left_out():
            reading.take_notes(archive, related.get(kind, ""), noun)
    return office_document(archive, reading.builder, damaged, "docx", reading.title)


def _levels(archive: Archive, path: str) -> dict[str, int]:
    """The heading level of each style that has one; 0 is the title of the whole."""
    if path not in archive:
        return {}
    levels: dict[str, int] = {}
    based: dict[str, str] = {}
    for style in archive.tree(path).iter(_W + "style"):
        identity = style.get(_W + "styleId", "")
        names = style.find(_W + "name")
        label = (names.get(_W + "val", "") if names is not None else "").lower()
        outline = style.find(f"{_W}pPr/{_W}outlineLvl")
        if label == "title":
            levels[identity] = 0
        elif outline is not None:
            levels[identity] = _outline_level(outline)
        elif label.startswith("heading ") and label[8:].isdecimal():
            levels[identity] = number(label[8:], _NO_LEVEL + 1)
        elif (base := style.find(_W + "basedOn")) is not None:
            based[identity] = base.get(_W + "val", "")
    for identity in based:
        base = identity
        for _ in range(_LONGEST_CHAIN):  # of styles that are based on each other, perhaps in a circle
            base = based.get(base, base)
        if base in levels:
            levels[identity] = levels[base]
    return levels


def _outline_level(outline: Any) -> int:
    """The heading level that an outline level says, which counts from 0."""
    return max(number(outline.get(_W + "val"), _NO_LEVEL), 0) + 1


@dataclass(slots=True)
class _DocxReading(PagedReading):
    """The state of reading one document, part by part."""

    levels: dict[str, int] = field(default_factory=dict)
    title: str = ""

    def take(self, element: Any) -> None:
        """Add all paragraphs and tables in an element, in order."""
        for child in element:
            if child.tag == _PARAGRAPH:
                self._paragraph(child)
            elif child.tag == _TABLE:
                self._table(child)
            elif child.tag not in _SKIPPED:
                self.take(child)

    def _table(self, table: Any) -> None:
        if self.place is None:
            self.tables += 1
        for count, row in enumerate(outermost(table, _ROW), start=1):
            self.row(outermost(row, _CELL), f"table {self.tables}, row {count}")

    def take_notes(self, archive: Archive, path: str, noun: str) -> None:
        """Read the notes that a part of the archive holds, if it is there."""
        if path in archive:
            notes = [note for note in archive.tree(path) if note.get(_W + "type", "normal") == "normal"]
            self.part = noun
            for number, note in enumerate(notes, start=1):
                self.within(f"{noun} {number}", note)

    def _paragraph(self, paragraph: Any) -> None:
        level = self._level(paragraph)
        text = self.paragraph(paragraph, 1 if level == 0 else level or 0)
        if level == 0 and not self.title:
            self.title = text

    def _level(self, paragraph: Any) -> int | None:
        """The level of a heading; 0 for the title, None for body text."""
        properties = paragraph.find(_W + "pPr")
        if properties is None:
            return None
        outline, style = properties.find(_W + "outlineLvl"), properties.find(_W + "pStyle")
        if outline is not None:
            level = _outline_level(outline)
        elif style is not None and style.get(_W + "val", "") in self.levels:
            level = self.levels[style.get(_W + "val", "")]
        else:
            return None
        return level if level <= 9 else None

    def parts(self, element: Any, boxes: list[Any]) -> Iterator[str]:
        for child in element:
            tag = child.tag
            if tag == _W + "t":
                yield child.text or ""
            elif tag == _PAGE_BREAK:
                self.turn()
            elif tag in _SIGNS:
                yield _SIGNS[tag]
            elif tag == _W + "txbxContent":
                boxes.append(child)
            elif tag not in _SKIPPED:
                yield from self.parts(child, boxes)


# -- Presentations -----------------------------------------------------------------------------------------------------

_A = "{http://schemas.openxmlformats.org/drawingml/2006/main}"
_P = "{http://schemas.openxmlformats.org/presentationml/2006/main}"
_ID = "{http://schemas.openxmlformats.org/officeDocument/2006/relationships}id"


def read_pptx(data: bytes, name: str) -> Document:
    """Read a presentation. Its title is its property, else that of its first slide that has one."""
    archive = Archive(data, name, ".pptx")
    main = archive.main_part()
    related = archive.related(main)
    builder, damaged = Builder(), DamagedParts(name)
    slides = (related.get(slide.get(_ID, ""), ("", ""))[1] for slide in archive.tree(main).iter(_P + "sldId"))
    for count, path in enumerate(dict.fromkeys(slides), start=1):
        with damaged.left_out():
            _take_slide(archive, path, f"slide {count}", builder)
    return office_document(archive, builder, damaged, "pptx")


def _take_slide(archive: Archive, path: str, place: str, builder: Builder) -> None:
    parts = [notes for kind, notes in archive.related(path).values() if kind == "notesSlide" and notes in archive]
    notes = (shape for part in parts for shape in _shapes(archive.tree(part)))
    add_slide(builder, place, _shapes(archive.tree(path)), notes)


def _shapes(tree: Any) -> Iterator[tuple[str, Iterator[str]]]:
    """Yield the role and the paragraphs of shapes and tables, those in groups too."""
    for shape in outermost(tree, _P + "sp", _P + "graphicFrame"):
        if next(shape.iterancestors(_FALLBACK), None) is None:
            role = _placeholder(shape)
            yield "title" if role == "ctrTitle" else role, _paragraphs(shape)


def _placeholder(shape: Any) -> str:
    """The role of a shape in the layout, such as "title"; "" if it has none."""
    placeholder = shape.find(f"*/{_P}nvPr/{_P}ph")
    return "" if placeholder is None else str(placeholder.get("type", "body"))


def _paragraphs(shape: Any) -> Iterator[str]:
    for row in outermost(shape, _A + "tr"):
        yield joined_cells(" ".join(map(_text, outermost(cell, _A + "p"))) for cell in outermost(row, _A + "tc"))
    if shape.tag == _P + "sp":
        yield from map(_text, outermost(shape, _A + "p"))


def _text(paragraph: Any) -> str:
    parts = []
    for element in paragraph.iter(_A + "t", _A + "br", _A + "tab"):
        parts.append((element.text or "") if element.tag == _A + "t" else "\n" if element.tag == _A + "br" else "\t")
    return "".join(parts).replace("\v", "\n").strip()
