"""PowerPoint presentations (.pptx): slide after slide, its title, its text and tables, its notes.

Shapes come in the order in which they are kept, the title first. Numbers and dates of slides, running heads and feet
are left out, as is the text of charts and drawings (SmartArt).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from semsearch.readers.document import Builder, DamagedParts, Document, joined_cells
from semsearch.readers.office.office_archive import Archive, office_document, outermost

_A = "{http://schemas.openxmlformats.org/drawingml/2006/main}"
_P = "{http://schemas.openxmlformats.org/presentationml/2006/main}"
_ID = "{http://schemas.openxmlformats.org/officeDocument/2006/relationships}id"
_FALLBACK = "{http://schemas.openxmlformats.org/markup-compatibility/2006}Fallback"
_TITLES = {"title", "ctrTitle"}
_REPEATED = {"sldNum", "dt", "ftr", "hdr", "sldImg"}


def read(data: bytes, name: str) -> Document:
    """Read a presentation. Its title is its property, else that of its first slide that has one."""
    archive = Archive(data, name, ".pptx")
    main = archive.main_part()
    related = archive.related(main)
    builder, damaged = Builder(), DamagedParts(name)
    slides = (related.get(slide.get(_ID, ""), ("", ""))[1] for slide in archive.tree(main).iter(_P + "sldId"))
    for number, path in enumerate(dict.fromkeys(slides), start=1):
        builder.end_sections()
        with damaged.left_out():
            _take_slide(archive, path, f"slide {number}", builder)
    return office_document(archive, builder, damaged, "pptx")


def _take_slide(archive: Archive, path: str, place: str, builder: Builder) -> None:
    shapes = list(_shapes(archive.tree(path)))
    shapes.sort(key=lambda shape: _placeholder(shape) not in _TITLES)
    for shape in shapes:
        kind = _placeholder(shape)
        if kind in _TITLES:
            builder.add(" ".join(filter(None, _paragraphs(shape))), level=1, place=place, part=place)
        elif kind not in _REPEATED:
            for text in _paragraphs(shape):
                builder.add(text, place=place, part=place)
    for kind, notes in archive.related(path).values():
        if kind == "notesSlide" and notes in archive:
            for shape in _shapes(archive.tree(notes)):
                if _placeholder(shape) not in _REPEATED:
                    for text in _paragraphs(shape):
                        builder.add(text, place=f"{place}, notes", part=place)


def _shapes(tree: Any) -> Iterator[Any]:
    """Yield shapes and tables, those in groups too."""
    for shape in outermost(tree, _P + "sp", _P + "graphicFrame"):
        if next(shape.iterancestors(_FALLBACK), None) is None:
            yield shape


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
