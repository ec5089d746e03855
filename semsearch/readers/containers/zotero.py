"""A library of Zotero: its notes, annotations and abstracts as a document, and what it says of the files in it.

A library is the file zotero.sqlite, which has no lines, with the folders storage/KEY beside it, each with an attached
file. The document has a section for each item, whose passages can be filtered by author, year and tags. The same is the
metadata of the attached files (`reference_of`), which take their title from it too: that of a PDF is often none. Items
in the bin are left out. The database is never opened where it lies: its bytes are read, in the process for files.
"""

from __future__ import annotations

import json
import re
import sqlite3
from collections import defaultdict
from contextlib import closing
from dataclasses import replace
from functools import lru_cache
from pathlib import Path, PurePath
from typing import Any

from semsearch.errors import SourceError
from semsearch.readers.document import Builder, Document
from semsearch.readers.markup import html
from semsearch.readers.reader_process import in_reader_process
from semsearch.readers.size_limit import MAX_BYTES
from semsearch.system.source_files import read_source

LIBRARY = "zotero.sqlite"
_ATTACHED = re.compile(r"storage[\\/][A-Z0-9]{8}[\\/][^\\/]+\Z")
_YEAR = re.compile(r"\b\d{4}\b")
_LONGEST = 80  # characters of a title in a place
_ITEMS = """
    SELECT itemID, key FROM items WHERE itemID NOT IN (SELECT itemID FROM deletedItems)
"""
_FIELDS = """
    SELECT d.itemID, f.fieldName, v.value FROM itemData d JOIN itemDataValues v USING (valueID)
    JOIN fields f USING (fieldID)
    WHERE f.fieldName IN ('title', 'date', 'publicationTitle', 'DOI', 'abstractNote')
"""
_CREATORS = """
    SELECT i.itemID, trim(coalesce(c.firstName, '') || ' ' || coalesce(c.lastName, ''))
    FROM itemCreators i JOIN creators c USING (creatorID) ORDER BY i.itemID, i.orderIndex
"""
_TAGS = "SELECT i.itemID, t.name FROM itemTags i JOIN tags t USING (tagID) ORDER BY i.itemID, t.name"
_ATTACHMENTS = "SELECT itemID, parentItemID FROM itemAttachments"
_NOTES = "SELECT itemID, parentItemID, note FROM itemNotes ORDER BY itemID"
_ANNOTATIONS = """
    SELECT itemID, parentItemID, text, comment, pageLabel FROM itemAnnotations ORDER BY parentItemID, sortIndex
"""


class _Library:
    """The items of a library by their numbers."""

    def __init__(self, data: bytes, name: str) -> None:
        rollback = data[:18] + b"\1\1" + data[20:]  # a copy in memory has no log of changes beside it
        try:
            with closing(sqlite3.connect(":memory:")) as db:
                db.deserialize(rollback)
                db.execute("PRAGMA trusted_schema = OFF")
                self.keys = dict(db.execute(_ITEMS))
                self._fields = defaultdict[int, dict[str, str]](dict)
                for item, field, value in db.execute(_FIELDS):
                    self._fields[item][field] = str(value)
                self._creators, self._tags = _lists(db, _CREATORS), _lists(db, _TAGS)
                self.parents = dict(db.execute(_ATTACHMENTS))
                self.notes = [*db.execute(_NOTES)]
                has_annotations = db.execute("SELECT 1 FROM sqlite_master WHERE name = 'itemAnnotations'").fetchone()
                self.annotations = [*db.execute(_ANNOTATIONS)] if has_annotations else []
        except (sqlite3.Error, UnicodeError, MemoryError) as error:  # SQLite has no memory for what a damaged page asks
            why = f"{error}" or "it is damaged"
            raise SourceError(f"{name} cannot be read as a library of Zotero: {why}; close Zotero first") from None

    def title(self, item: int | None) -> str:
        """The title of an item; "" for none."""
        return "" if item is None else " ".join(self._fields[item].get("title", "").split())

    def abstract(self, item: int) -> str:
        """The abstract of an item."""
        return self._fields[item].get("abstractNote", "")

    def about(self, item: int | None) -> dict[str, Any]:
        """Authors, year, journal, DOI and tags, as far as they are known."""
        if item is None:
            return {}
        fields = self._fields[item]
        year = _YEAR.search(fields.get("date", ""))
        found = {
            "author": self._creators[item],
            "year": int(year[0]) if year else None,
            "journal": fields.get("publicationTitle"),
            "doi": fields.get("DOI"),
            "tags": self._tags[item],
        }
        return {key: value for key, value in found.items() if value}


def _lists(db: sqlite3.Connection, query: str) -> defaultdict[int, list[str]]:
    found = defaultdict[int, list[str]](list)
    for item, value in db.execute(query):
        if value:
            found[item].append(str(value))
    return found


def read(data: bytes, name: str) -> Document:
    """Read notes, annotations and abstracts, by item. Raises SourceError for what is no library of Zotero."""
    library = _Library(data, name)
    texts = defaultdict[int | None, list[tuple[str, str]]](list)  # of each item: what each text is, and its HTML
    for item in library.keys:
        if abstract := library.abstract(item):
            texts[item].append(("abstract", _escaped(abstract)))
    for note, item, text in library.notes:
        if note in library.keys and (item is None or item in library.keys):
            texts[item if item is not None else note].append(("note", str(text or "")))
    for annotation, attachment, text, comment, page in library.annotations:
        item = library.parents.get(attachment) or attachment
        if annotation in library.keys and item in library.keys:
            place = f"annotation, page {page}" if page else "annotation"
            texts[item] += [(place, _escaped(str(each))) for each in (text, comment) if each]
    builder = Builder()
    for item, parts in texts.items():
        title, about = library.title(item), library.about(item)
        start = f"{title[:_LONGEST]}, " if title else ""
        builder.end_sections()
        if title:
            builder.add(title, level=1, place=title[:_LONGEST])
        for place, text in parts:
            for block in html.read(text, name).blocks:
                level = min(block.level + 1, 6) if block.level else 0
                part = f"item {library.keys.get(item, item)}"
                moved = replace(block, level=level, place=start + place, part=part, metadata=about or None)
                builder.add_block(moved)
    return Document(builder.source, builder.blocks, "zotero", "Zotero")


def _escaped(text: str) -> str:
    """A plain text as HTML, a paragraph a line."""
    shown = text.replace("&", "&amp;").replace("<", "&lt;")
    return "".join(f"<p>{line}</p>" for line in shown.splitlines())


# -- Attached files ----------------------------------------------------------------------------------------------------


def described(data: bytes, name: str) -> bytes:
    """What is known of each attached file, by its key, as JSON: what the process for files is asked to do."""
    library = _Library(data, name)
    found = {
        library.keys[item]: {"title": library.title(parent), **library.about(parent)}
        for item, parent in library.parents.items()
        if item in library.keys and parent in library.keys
    }
    return json.dumps(found).encode()


def reference_of(path: str) -> dict[str, Any]:
    """Title, authors, year and so on of a file that is attached in a library; {} for any other file.

    A library that cannot be read says nothing here; that it cannot be read is reported of its own file.
    """
    if not _ATTACHED.search(path):
        return {}
    folder, library = PurePath(path).parent, Path(path).parents[2] / LIBRARY
    try:
        state = library.stat()
        return dict(_references(str(library), state.st_size, state.st_mtime_ns).get(folder.name, {}))
    except (OSError, SourceError):
        return {}


@lru_cache(maxsize=4)
def _references(library: str, size: int, mtime_ns: int) -> dict[str, dict[str, Any]]:  # noqa: ARG001  # for the cache
    try:
        data = read_source(library, MAX_BYTES).data
        found = json.loads(in_reader_process(f"{__name__}:described", data, library, library))
        return {str(key): _checked(value) for key, value in found.items()}
    except (OSError, SourceError, ValueError, TypeError, AttributeError):
        return {}


def _checked(value: Any) -> dict[str, Any]:
    """What another process says of a file, if it is of the right types."""
    return {
        key: each
        for key, each in value.items()
        if (key in ("title", "journal", "doi") and isinstance(each, str))
        or (key == "year" and type(each) is int)
        or (key in ("author", "tags") and isinstance(each, list) and all(isinstance(one, str) for one in each))
    }


def with_reference(document: Document, path: str) -> Document:
    """The document of a file, with what a library says of it."""
    if not (found := reference_of(path)):
        return document
    title = found.pop("title", "") or document.title
    return replace(document, title=title, metadata={**document.metadata, **found})
