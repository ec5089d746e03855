"""Books in EPUB: chapter after chapter, as the book's own reading order has them, each by the HTML reader.

Places are chapters, by their first headings and their files. A book whose text is
encrypted is refused.
"""

from __future__ import annotations

import posixpath

from semsearch.errors import SourceError
from semsearch.readers.document import Builder, DamagedParts, Document, Omission, title_of, together
from semsearch.readers.encoding import declared_encoding, decode
from semsearch.readers.markup import html
from semsearch.readers.office.office_archive import Archive, member_path, properties

_OPF = "{http://www.idpf.org/2007/opf}"
_CONTAINER = "{urn:oasis:names:tc:opendocument:xmlns:container}"
_ENCRYPTED = "{http://www.w3.org/2001/04/xmlenc#}CipherReference"
_PAGES = ("application/xhtml+xml", "text/html", "application/x-dtbook+xml")


def read(data: bytes, name: str) -> Document:
    """Read a book. Its title is that of its metadata, else its first heading, else its name."""
    archive = Archive(data, name, ".epub")
    roots = [root.get("full-path", "") for root in archive.tree("META-INF/container.xml").iter(_CONTAINER + "rootfile")]
    if not roots:
        raise SourceError(f"{name} cannot be read as .epub: its container names no package document")
    package = archive.tree(roots[0])
    folder = posixpath.dirname(roots[0])
    items = {item.get("id"): item for item in package.iter(_OPF + "item")}
    damaged = DamagedParts(name)
    closed = _encrypted(archive)
    builder = Builder()
    omissions: list[Omission] = []
    for id_ in dict.fromkeys(reference.get("idref") for reference in package.iter(_OPF + "itemref")):
        item = items.get(id_)
        if item is None or item.get("media-type") not in _PAGES or "nav" in (item.get("properties") or "").split():
            continue
        path = member_path(folder, item.get("href", ""))
        if path in closed:
            omissions.append(Omission("encrypted parts"))
            continue
        with damaged.left_out():
            page = archive.bytes(path)
            decoded = decode(page, f"{name}: {path}", declared=declared_encoding(page))
            omissions += decoded.omissions
            chapter = html.read(decoded.text, path)
            title = " ".join(next((block.text for block in chapter.blocks if block.level), "").split())
            place = f"{title} ({path})" if title else path
            builder.add_all(chapter.blocks, place=place, part=place)
    if closed and omissions and not builder.blocks:
        raise SourceError(f"{name} is encrypted (digital rights management) and cannot be read")
    head = package.find(_OPF + "metadata")
    metadata = {} if head is None else properties(head)
    title = title_of(name, metadata.get("title", ""), blocks=builder.blocks)
    unread = together([*omissions, *damaged.omissions(builder.blocks)])
    return Document(builder.source, builder.blocks, "epub", title, metadata, unread)


def _encrypted(archive: Archive) -> set[str]:
    if "META-INF/encryption.xml" not in archive:
        return set()
    return {
        member_path("", reference.get("URI", ""))
        for reference in archive.tree("META-INF/encryption.xml").iter(_ENCRYPTED)
    }
