"""Add texts of a program: check them, compare them with the texts of the same ids in the index, and take them in."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import Literal

from semsearch.errors import UsageError
from semsearch.indexing.reading.exported_documents import ExportedDocument
from semsearch.indexing.reading.intake import DocumentSource
from semsearch.indexing.transaction import WriteTransaction
from semsearch.readers.document import Document, Text
from semsearch.readers.front_matter import json_values
from semsearch.sources.roots import ADDED

AddedDocument = Text | ExportedDocument
Taken = Literal["added", "changed", "unchanged"]


def checked(texts: Iterable[AddedDocument]) -> Iterator[AddedDocument]:
    """Check each text and yield it. Raises UsageError at the first that cannot be kept, or whose id comes twice."""
    seen: set[str] = set()
    for text in texts:
        _check(text)
        if text.id in seen:
            raise UsageError(f"the id {text.id!r} comes twice; give each text an id of its own")
        seen.add(text.id)
        yield text


def _check(text: AddedDocument) -> None:
    if not isinstance(text, Text | ExportedDocument):
        raise UsageError(f"add takes texts as Text(id, text), not {type(text).__name__}")
    for name in ("id", "text", "title", "format") if isinstance(text, Text) else ("id",):
        if not isinstance(value := getattr(text, name), str):
            raise UsageError(f"the {name} of a Text is a string, not {type(value).__name__}")
    if not text.id:
        raise UsageError("the id of a text is empty; give each text an id of its own")
    try:
        text.id.encode()
    except UnicodeEncodeError:
        raise UsageError(f"the id {text.id!r} is not valid Unicode; give another") from None


def take_added(write: WriteTransaction, text: AddedDocument) -> Taken:
    """Put a text into the index, replacing the one that has its id. Raises UsageError for an unknown format."""
    if isinstance(text, Text):
        return _take_text(write, text)
    took = _make_room(write, text.id, text.digest)
    if took != "unchanged":
        write.intake.take_prepared(DocumentSource(ADDED, text.id, text.id, text.digest, text.file.size), text.file)
    return took


def _take_text(write: WriteTransaction, text: Text) -> Taken:
    """Put a text into the index, replacing the one that has its id. Raises UsageError for an unknown format."""
    text = replace(text, metadata=json_values(text.metadata))
    details = json.dumps([text.text, text.title, text.metadata, text.format], sort_keys=True, allow_nan=False)
    digest = hashlib.blake2b(details.encode(), digest_size=16).hexdigest()
    took = _make_room(write, text.id, digest)
    if took != "unchanged":
        write.intake.take_in(DocumentSource(ADDED, text.id, text.id, digest, len(text.text)), _document(text))
    return took


def _make_room(write: WriteTransaction, id: str, digest: str) -> Taken:
    """Remove the text that has an id, unless it has that digest."""
    known = write.db.execute("SELECT id, digest FROM documents WHERE root_id = ? AND path = ?", (ADDED, id)).fetchone()
    if known is None:
        return "added"
    if known[1] == digest:
        return "unchanged"
    write.forget([known[0]])
    return "changed"


def _document(text: Text) -> Document:
    from semsearch.readers.read import read_text  # start-up time: a sync without changes reads nothing

    storable = text.text.encode("utf-8", "replace").decode("utf-8")  # lone surrogates are no characters
    document = read_text(storable, text.id, format=text.format)
    return replace(document, title=text.title or document.title, metadata={**document.metadata, **text.metadata})
