"""Texts that a program adds: checked, compared with what the index has under their ids, and taken in."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import Literal

from semsearch.errors import UsageError
from semsearch.indexing.intake import Origin
from semsearch.indexing.transaction import Write
from semsearch.readers.document import Document, Text
from semsearch.readers.front_matter import json_values
from semsearch.sources.roots import ADDED


def checked(texts: Iterable[Text]) -> Iterator[Text]:
    """The texts, each of which can be kept. Raises UsageError at the first that cannot, or whose id comes twice."""
    seen: set[str] = set()
    for text in texts:
        _check(text)
        if text.id in seen:
            raise UsageError(f"the id {text.id!r} comes twice; give each text an id of its own")
        seen.add(text.id)
        yield text


def _check(text: Text) -> None:
    if not isinstance(text, Text):
        raise UsageError(f"add takes texts as Text(id, text), not {type(text).__name__}")
    for name in ("id", "text", "title", "format"):
        if not isinstance(value := getattr(text, name), str):
            raise UsageError(f"the {name} of a Text is a string, not {type(value).__name__}")
    if not text.id:
        raise UsageError("the id of a text is empty; give each text an id of its own")
    try:
        text.id.encode()
    except UnicodeEncodeError:
        raise UsageError(f"the id {text.id!r} is not valid Unicode; give another") from None


def take_text(write: Write, text: Text) -> Literal["added", "changed", "unchanged"]:
    """Put one text into the index, in place of the one that has its id. Raises UsageError for an unknown format."""
    text = replace(text, metadata=json_values(text.metadata))
    details = json.dumps([text.text, text.title, text.metadata, text.format], sort_keys=True, allow_nan=False)
    digest = hashlib.blake2b(details.encode(), digest_size=16).hexdigest()
    known = write.db.execute(
        "SELECT id, digest FROM documents WHERE root_id = ? AND path = ?", (ADDED, text.id)
    ).fetchone()
    if known is not None and known[1] == digest:
        return "unchanged"
    if known is not None:
        write.forget([known[0]])
    write.intake.take_in(Origin(ADDED, text.id, text.id, digest, len(text.text)), _document(text))
    return "added" if known is None else "changed"


def _document(text: Text) -> Document:
    from semsearch.readers.read import read_text  # start-up time: a sync without changes reads nothing

    storable = text.text.encode("utf-8", "replace").decode("utf-8")  # lone surrogates are no characters
    document = read_text(storable, text.id, format=text.format)
    return replace(document, title=text.title or document.title, metadata={**document.metadata, **text.metadata})
