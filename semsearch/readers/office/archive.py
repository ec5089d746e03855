"""Zip archives of XML, read with bounds: a file of some kilobytes can unpack to more than any memory holds.

Sizes are checked twice, as the archive's directory states them before anything is unpacked, and as they come out.
Entities of XML are not expanded, and nothing outside the archive is looked at.
"""

from __future__ import annotations

import io
import posixpath
import re
import zipfile
import zlib
from collections.abc import Iterator
from typing import Any
from urllib.parse import unquote

from lxml import etree

from semsearch.errors import SourceError

MOST_BYTES = 200_000_000  # of one document, unpacked: all members that are read together
_MOST_MEMBERS = 100_000
_OLE = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"  # the container of old and of encrypted office files
_RELATIONSHIP = "{http://schemas.openxmlformats.org/package/2006/relationships}Relationship"


class Archive:
    """A zip archive in memory. Raises SourceError for what is none, for passwords and for what unpacks to too much."""

    def __init__(self, data: bytes, name: str, kind: str) -> None:
        self.name = name
        self._kind = kind
        self._left = MOST_BYTES
        if data.startswith(_OLE):
            raise SourceError(
                f"{name} is protected by a password or in an old Office format; save it as {kind} without one"
            )
        try:
            self._zip = zipfile.ZipFile(io.BytesIO(data))
        except (zipfile.BadZipFile, ValueError, OSError) as error:
            raise self._damaged(str(error)) from None
        self._members = {member.filename: member for member in self._zip.infolist()}
        if len(self._members) > _MOST_MEMBERS:
            raise self._damaged(f"it holds {len(self._members):,} files")

    def __contains__(self, path: str) -> bool:
        return path in self._members

    def bytes(self, path: str) -> bytes:
        """A member, unpacked."""
        member = self._members.get(path)
        if member is None:
            raise self._damaged(f"it has no {path}")
        if member.flag_bits & 1:
            raise SourceError(f"{self.name} is protected by a password; save it without one")
        self._check(member.file_size)
        try:
            with self._zip.open(member) as file:
                data = file.read(self._left + 1)
        except (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, OSError, RuntimeError) as error:
            raise self._damaged(f"{path}: {error}") from None
        self._check(len(data))
        self._left -= len(data)
        return data

    def tree(self, path: str) -> Any:
        """The root element of a member that is XML."""
        try:
            return etree.fromstring(self.bytes(path), _parser())
        except etree.XMLSyntaxError as error:
            raise self._damaged(f"{path}: {error}") from None

    def elements(self, path: str, *tags: str) -> Iterator[Any]:
        """Elements of a member with these tags, one after the other: each is emptied once the next is asked for."""
        options = {"resolve_entities": False, "no_network": True, "load_dtd": False}
        try:
            for _, element in etree.iterparse(io.BytesIO(self.bytes(path)), tag=tags, **options):
                yield element
                element.clear()
                while element.getprevious() is not None:
                    del element.getparent()[0]
        except etree.XMLSyntaxError as error:
            raise self._damaged(f"{path}: {error}") from None

    def related(self, path: str) -> dict[str, tuple[str, str]]:
        """What a part of an Office document refers to: by id, the kind of the relation and the member's path."""
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

    def main_part(self) -> str:
        """The path of an Office document's main part."""
        main = [path for kind, path in self.related("").values() if kind == "officeDocument"]
        if not main:
            raise self._damaged("it does not say which of its parts is the document")
        return main[0]

    def _check(self, size: int) -> None:
        if size > self._left:
            raise SourceError(
                f"{self.name} unpacks to more than {MOST_BYTES:,} bytes, too much for a document; split it"
            )

    def _damaged(self, reason: str) -> SourceError:
        return SourceError(f"{self.name} cannot be read as {self._kind}: {reason}")


def member_path(folder: str, target: str) -> str:
    """The path of a member that another one in `folder` refers to."""
    target = unquote(target.partition("#")[0])
    return posixpath.normpath(posixpath.join("/", folder, target)).lstrip("/")


def number(value: str | None, otherwise: int) -> int:
    """The number in an attribute, however wrong the file is."""
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
    """What a document says of itself; titles that a program made up are left out."""
    found: dict[str, list[str]] = {}
    for element in tree.iter(*_CORE):
        value = " ".join("".join(element.itertext()).split())
        if value and not (_CORE[element.tag] == "title" and _MADE_UP.fullmatch(value)):
            values = found.setdefault(_CORE[element.tag], [])
            if value not in values:
                values.append(value)
    return {name: ", ".join(values) for name, values in found.items()}


def office_properties(archive: Archive) -> dict[str, Any]:
    """Those of a Word, PowerPoint or Excel file."""
    for kind, path in archive.related("").values():
        if kind == "core-properties" and path in archive:
            return properties(archive.tree(path))
    return {}
