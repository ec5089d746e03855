"""Books in FictionBook (.fb2): sections with their titles, paragraphs, verses and notes; pictures are left out.

Places are the sections, by their titles; the title, authors, language and date are metadata.
"""

from __future__ import annotations

from pathlib import PurePath
from typing import Any

from lxml import etree

from semsearch.errors import SourceError
from semsearch.readers.document import Builder, Document, joined_cells

_PARAGRAPHS = {"p", "v", "subtitle", "text-author", "date"}
_DEEPEST = 200  # sections within sections
_MOST_TAGS = 2_000_000


def read(data: bytes, name: str) -> Document:
    """Read a book. Its title is that of its description, else its name. Raises SourceError if it is no such XML."""
    if data.count(b"<") > _MOST_TAGS:
        raise SourceError(f"{name} has more than {_MOST_TAGS:,} tags; split it")
    parser = etree.XMLParser(
        resolve_entities=False, no_network=True, load_dtd=False, remove_comments=True, remove_pis=True, recover=True,
        huge_tree=True,
    )  # fmt: skip
    try:
        tree: Any = etree.fromstring(data, parser)
    except etree.XMLSyntaxError as error:
        raise SourceError(f"{name} cannot be read as .fb2: {error}") from None
    if tree is None or _tag(tree) != "FictionBook":
        raise SourceError(f"{name} cannot be read as .fb2: it is not a FictionBook")
    builder = Builder()
    for body in tree:
        if _tag(body) == "body":
            notes = body.get("name") in ("notes", "comments")
            _take(body, builder, "notes" if notes else None, 0)
    metadata = _metadata(tree)
    return Document(builder.source, builder.blocks, "fb2", metadata.get("title") or PurePath(name).stem, metadata)


def _tag(element: Any) -> str:
    return element.tag.rpartition("}")[2] if isinstance(element.tag, str) else ""


def _text(element: Any) -> str:
    return " ".join("".join(element.itertext()).split())


def _take(element: Any, builder: Builder, place: str | None, depth: int) -> None:
    """Add what stands in a section or the like, in order; `place` is the section's."""
    for child in element:
        kind = _tag(child)
        if kind == "title":
            builder.end_sections(min(depth + 1, 6))
            title = " ".join(filter(None, (_text(part) for part in child)))
            place = f"notes, {title}" if place and place.startswith("notes") else title or place
            builder.add(title, level=min(depth + 1, 6), place=place, part=place)
        elif kind in _PARAGRAPHS:
            builder.add(_text(child), place=place, part=place)
        elif kind == "tr":
            builder.add(joined_cells(map(_text, child)), place=place, part=place)
        elif kind != "binary" and depth < _DEEPEST:
            _take(child, builder, place, depth + (kind == "section"))


def _metadata(tree: Any) -> dict[str, Any]:
    found: dict[str, Any] = {}
    about = next((each for each in tree.iter() if _tag(each) == "title-info"), ())
    for child in about:
        kind = _tag(child)
        if kind == "author":
            names = " ".join(_text(part) for part in child if _tag(part) in ("first-name", "middle-name", "last-name"))
            found["author"] = ", ".join(filter(None, (found.get("author", ""), " ".join(names.split()))))
        elif name := {"book-title": "title", "lang": "language", "date": "date", "genre": "genre"}.get(kind):
            found.setdefault(name, child.get("value") or _text(child))
    return {name: value for name, value in found.items() if value}
