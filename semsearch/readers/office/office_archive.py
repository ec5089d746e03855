"""Office documents: zip archives of XML, read with limits, and texts that are laid out in pages.

A file of some kilobytes can unpack to more than any memory holds: a member that is said to be large is not read, and
the process that reads has limits (semsearch.readers.reader_process). Entities of XML are not expanded, and nothing
outside the archive is read.
"""

from __future__ import annotations

import io
import posixpath
import re
import zipfile
from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import unquote

from lxml import etree

from semsearch.errors import SourceError
from semsearch.readers.document import Builder, DamagedParts, Document, Omission, first_names, joined_cells, title_of
from semsearch.readers.sniff import OLE

_MOST_BYTES = 200_000_000  # of a member, unpacked: zipfile never gives more than the directory says
_RELATIONSHIP = "{http://schemas.openxmlformats.org/package/2006/relationships}Relationship"


class Archive:
    """A zip archive in memory. Raises SourceError for damaged ones, for passwords and for what unpacks to too much."""

    def __init__(self, data: bytes, name: str, kind: str) -> None:
        self.name = name
        self._kind = kind
        if data.startswith(OLE):
            raise SourceError(
                f"{name} is protected by a password or in an old Office format; save it as {kind} without a password"
            )
        try:
            self._zip = zipfile.ZipFile(io.BytesIO(data))
        except Exception as error:  # zipfile has a dozen for what is damaged: of seeking, structs, versions, names
            reason = "it is not a zip archive, or is truncated" if "not a zip" in str(error) else str(error)
            raise self._damaged(reason if data else "it is empty") from None
        self._members = {member.filename: member for member in self._zip.infolist()}

    def __contains__(self, path: str) -> bool:
        return path in self._members

    def bytes(self, path: str) -> bytes:
        """Unpack a member."""
        member = self._members.get(path)
        if member is None:
            raise self._damaged(f"it has no {path}")
        if member.flag_bits & 1:
            raise SourceError(f"{self.name} is protected by a password; save it without one")
        if member.file_size > _MOST_BYTES:
            raise SourceError(
                f"{self.name} unpacks to more than {_MOST_BYTES:,} bytes, too much for a document; split it"
            )
        try:
            return self._zip.read(member)
        except MemoryError:
            raise
        except Exception as error:  # and as many of each way of packing
            raise self._damaged(f"{path}: {error}") from None

    def tree(self, path: str) -> Any:
        """Parse a member that is XML; its root element."""
        try:
            return etree.fromstring(self.bytes(path), _parser())
        except etree.XMLSyntaxError as error:
            raise self._damaged(f"{path}: {error}") from None

    def related(self, path: str) -> dict[str, tuple[str, str]]:
        """The parts that a part of an Office document refers to: by id, the kind of relation and the member's path."""
        folder, file = posixpath.split(path)
        relations = posixpath.join(folder, "_rels", f"{file}.rels")
        if relations not in self:
            return {}
        return {
            element.get("Id", ""): (
                element.get("Type", "").rpartition("/")[2],
                member_path(folder, element.get("Target", "")),
            )
            for element in self.tree(relations).iter(_RELATIONSHIP)
            if element.get("TargetMode") != "External"
        }

    def embedded(self) -> tuple[Omission, ...]:
        """The files within an Office document, such as a sheet in a letter: they are not read."""
        names = sorted(path for path in self._members if "/embeddings/" in path)
        named = first_names([*map(posixpath.basename, names)])
        return (Omission("embedded files", len(names), named),) if names else ()

    def main_part(self) -> str:
        """The path of an Office document's main part."""
        main = [path for kind, path in self.related("").values() if kind == "officeDocument"]
        if not main:
            raise self._damaged("its relationships name no main document")
        return main[0]

    def _damaged(self, reason: str) -> SourceError:
        return SourceError(f"{self.name} cannot be read as {self._kind}: {reason}")


def outermost(element: Any, *tags: str) -> Iterator[Any]:
    """Yield the elements with these tags that stand in no other such element: what is read of each is read once.

    An element within 200 of its kind would be read 200 times, and they take no room in an archive.
    """
    walk = etree.iterwalk(element, events=("start",), tag=tags)
    for _, inner in walk:
        yield inner
        walk.skip_subtree()


def member_path(folder: str, target: str) -> str:
    """The path of a member that another one in `folder` refers to."""
    target = unquote(target.partition("#")[0])
    return posixpath.normpath(posixpath.join("/", folder, target)).lstrip("/")


def number(value: str | None, otherwise: int) -> int:
    """The number in an attribute; `otherwise` if it is missing or not a number."""
    try:
        return int(value or otherwise)
    except ValueError:
        return otherwise


def _parser() -> etree.XMLParser:
    return etree.XMLParser(
        resolve_entities=False, no_network=True, load_dtd=False, remove_comments=True, remove_pis=True
    )


_MADE_UP = re.compile(
    r"(?:(?:PowerPoint )?Presentation|(?:Word )?Document|Untitled|Microsoft \w+ - .*) ?\d*", re.IGNORECASE
)
_CORE = {
    "{http://purl.org/dc/elements/1.1/}title": "title",
    "{http://purl.org/dc/elements/1.1/}creator": "author",
    "{http://purl.org/dc/elements/1.1/}subject": "subject",
    "{http://purl.org/dc/elements/1.1/}description": "description",
    "{http://purl.org/dc/elements/1.1/}language": "language",
    "{http://purl.org/dc/elements/1.1/}date": "date",
    "{http://purl.org/dc/terms/}created": "created",
    "{http://schemas.openxmlformats.org/package/2006/metadata/core-properties}keywords": "keywords",
    "{urn:oasis:names:tc:opendocument:xmlns:meta:1.0}initial-creator": "author",
    "{urn:oasis:names:tc:opendocument:xmlns:meta:1.0}creation-date": "created",
    "{urn:oasis:names:tc:opendocument:xmlns:meta:1.0}keyword": "keywords",
}


def properties(tree: Any) -> dict[str, Any]:
    """The properties of a document: title, author and the like. Titles that a program made up are left out."""
    by_name: dict[str, list[str]] = {}
    for element in tree.iter(*_CORE):
        value = " ".join("".join(element.itertext()).split())
        if value and not (_CORE[element.tag] == "title" and _MADE_UP.fullmatch(value)):
            values = by_name.setdefault(_CORE[element.tag], [])
            if value not in values:
                values.append(value)
    return {name: ", ".join(values) for name, values in by_name.items()}


def office_document(
    archive: Archive, builder: Builder, damaged: DamagedParts, format: str, *titles: str, has_headings: bool = True
) -> Document:
    """The document of an office file: its title is its property, else one of these, or a heading."""
    metadata: dict[str, Any] = {}
    with damaged.left_out():
        for kind, path in archive.related("").values():
            if kind == "core-properties" and path in archive:
                metadata = properties(archive.tree(path))
        if "meta.xml" in archive:
            metadata = properties(archive.tree("meta.xml"))
    blocks = builder.blocks if has_headings else ()
    title = title_of(archive.name, metadata.get("title", ""), *titles, blocks=blocks)
    omissions = damaged.omissions(builder.blocks) + archive.embedded()
    return Document(builder.source, builder.blocks, format, title, metadata, omissions)


_FURNITURE = {"sldNum", "dt", "ftr", "hdr", "sldImg", "page-number", "date-time", "header", "footer", "page"}
_Shape = tuple[str, Iterable[str]]  # its role in the layout, and its paragraphs


def add_slide(builder: Builder, place: str, shapes: Iterable[_Shape], notes: Iterable[_Shape]) -> None:
    """Add the shapes of a slide, the title first, and its notes, without numbers, dates, running heads and feet."""
    builder.end_sections()
    for role, texts in sorted(shapes, key=lambda shape: shape[0] != "title"):
        if role == "title":
            builder.add(" ".join(filter(None, texts)), level=1, place=place, part=place)
        elif role not in _FURNITURE:
            for text in texts:
                builder.add(text, place=place, part=place)
    for role, texts in notes:
        if role not in _FURNITURE:
            for text in texts:
                builder.add(text, place=f"{place}, notes", part=place)


@dataclass(slots=True)
class PagedReading(ABC):
    """The state of reading one document: its blocks so far, and the place of what comes next."""

    paragraph_tags: tuple[str, ...]
    page: int | None = None  # None: the document has no page numbers
    builder: Builder = field(default_factory=Builder)
    place: str | None = None  # of what is in a note, a frame or a text box
    part: str | None = None
    paragraphs: int = 0  # of the text itself
    tables: int = 0
    _begun: int | None = None  # the page of the first word of what is read

    @abstractmethod
    def take(self, element: Any) -> None:
        """Add all paragraphs and tables in an element, in order."""

    @abstractmethod
    def parts(self, element: Any, boxes: list[Any]) -> Iterator[str]:
        """Yield the text in a paragraph, and count the pages that end in it; text boxes and frames go to `boxes`."""

    def within(self, place: str, element: Any) -> None:
        """Read a note, a frame or a text box: its paragraphs are not counted with those of the text."""
        before, self.place = self.place, place
        self.take(element)
        self.place = before

    def turn(self) -> None:
        """A page ends, where pages are counted."""
        if self.page is not None:
            self.page += 1

    def paragraph(self, element: Any, level: int) -> str:
        """Add a paragraph and what is in its text boxes, and return its text."""
        if self.place is None:
            self.paragraphs += 1
        place, boxes, self._begun = self.place or f"paragraph {self.paragraphs}", list[Any](), None
        text = self._text(element, boxes)
        self.builder.add(text, level=min(level, 6), page=self._begun, place=place, part=self.part)
        for box in boxes:
            self.within(place, box)
        return text.strip()

    def row(self, cells: Iterable[Any], place: str) -> None:
        """Add a row of a table."""
        self._begun = None
        text = joined_cells([" ".join(self._cell_texts(cell)) for cell in cells])
        self.builder.add(text, page=self._begun, place=self.place or place, part=self.part)

    def _cell_texts(self, cell: Any) -> Iterator[str]:
        """Yield the text of each paragraph of a cell, those of tables and text boxes within it as well."""
        for paragraph in outermost(cell, *self.paragraph_tags):
            boxes: list[Any] = []
            yield self._text(paragraph, boxes)
            for box in boxes:
                yield from self._cell_texts(box)

    def _text(self, paragraph: Any, boxes: list[Any]) -> str:
        texts = []
        for text in self.parts(paragraph, boxes):  # one by one, for the page may turn between them
            if self._begun is None and text.strip():
                self._begun = self.page
            texts.append(text)
        return "".join(texts)
