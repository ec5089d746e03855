"""Books in EPUB: chapter after chapter, as the book's own reading order has them, each by the HTML reader.

Places are chapters, by the names that the table of contents gives them. A book whose text is encrypted is refused.
"""

from __future__ import annotations

import posixpath
from pathlib import PurePath
from typing import Any

from semsearch.errors import SourceError
from semsearch.readers import html
from semsearch.readers.builder import Builder
from semsearch.readers.decode import declared_encoding, decode
from semsearch.readers.document import Document
from semsearch.readers.office.archive import Archive, member_path, properties

_OPF = "{http://www.idpf.org/2007/opf}"
_CONTAINER = "{urn:oasis:names:tc:opendocument:xmlns:container}"
_NCX = "{http://www.daisy.org/z3986/2005/ncx/}"
_XHTML = "{http://www.w3.org/1999/xhtml}"
_ENCRYPTED = "{http://www.w3.org/2001/04/xmlenc#}CipherReference"
_PAGES = ("application/xhtml+xml", "text/html", "application/x-dtbook+xml")


def read(data: bytes, name: str) -> Document:
    """The blocks of a book. Its title is that of its metadata, else its first heading, else its name."""
    archive = Archive(data, name, ".epub")
    roots = [root.get("full-path", "") for root in archive.tree("META-INF/container.xml").iter(_CONTAINER + "rootfile")]
    if not roots:
        raise SourceError(f"{name} cannot be read as .epub: it does not say where its book is")
    package = archive.tree(roots[0])
    folder = posixpath.dirname(roots[0])
    items = {item.get("id"): item for item in package.iter(_OPF + "item")}
    names = _names_of_chapters(archive, folder, items.values())
    closed = _encrypted(archive)
    builder = Builder()
    for reference in package.iter(_OPF + "itemref"):
        item = items.get(reference.get("idref"))
        if item is None or item.get("media-type") not in _PAGES or "nav" in (item.get("properties") or "").split():
            continue
        path = member_path(folder, item.get("href", ""))
        if path in closed:
            raise SourceError(f"{name} is encrypted (it has digital rights management), and cannot be read")
        if path in archive:
            page = archive.bytes(path)
            text = decode(page, f"{name}: {path}", declared=declared_encoding(page))
            chapter = html.read(text, path)
            place = names.get(path) or next((b.text for b in chapter.blocks if b.level), PurePath(path).stem)
            builder.add_all(chapter.blocks, place=" ".join(place.split()))
    head = package.find(_OPF + "metadata")
    metadata = {} if head is None else properties(head)
    titles = [metadata.get("title", ""), *(block.text for block in builder.blocks if block.level == 1)]
    return Document(builder.source, builder.blocks, "epub", next(filter(None, titles), PurePath(name).stem), metadata)


def _names_of_chapters(archive: Archive, folder: str, items: Any) -> dict[str, str]:
    """What the table of contents calls each file: its first entry for it."""
    names: dict[str, str] = {}
    for item in items:
        path = member_path(folder, item.get("href", ""))
        if path not in archive:
            continue
        inside = posixpath.dirname(path)
        if "nav" in (item.get("properties") or "").split():
            entries = [
                (link.get("href", ""), "".join(link.itertext())) for link in archive.tree(path).iter(_XHTML + "a")
            ]
        elif item.get("media-type") == "application/x-dtbncx+xml":
            entries = [
                (point.find(_NCX + "content").get("src", ""), "".join(point.find(_NCX + "navLabel").itertext()))
                for point in archive.tree(path).iter(_NCX + "navPoint")
                if point.find(_NCX + "content") is not None and point.find(_NCX + "navLabel") is not None
            ]
        else:
            continue
        for target, label in entries:
            if label.strip():
                names.setdefault(member_path(inside, target), " ".join(label.split()))
    return names


def _encrypted(archive: Archive) -> set[str]:
    if "META-INF/encryption.xml" not in archive:
        return set()
    return {member_path("", found.get("URI", "")) for found in archive.tree("META-INF/encryption.xml").iter(_ENCRYPTED)}
