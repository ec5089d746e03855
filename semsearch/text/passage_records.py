"""Passages as the index stores them: text, headings as JSON, sentences as packed offsets."""

from __future__ import annotations

import json
import struct
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import chain

from semsearch.readers.document import Document
from semsearch.text.headings import heading_text
from semsearch.text.languages.detection import language_of_parts
from semsearch.text.passages import each_passage

_SPANS = struct.Struct("<ii12x")  # start and end of a sentence in the passage's text, the first two of its five offsets


@dataclass(frozen=True, slots=True)
class PassageRecord:
    """A passage in the form in which it is stored."""

    headings: str  # JSON
    above: str  # title and headings, as they are embedded
    line: int
    page: int | None
    text: str
    offsets: bytes  # (n, 5) int32: start, end, source start, source end, line
    sentences: int
    places: str | None = None  # JSON: (number of a sentence, the place from there on)
    metadata: str | None = None  # JSON, of a record's chosen columns; None if there are none

    @property
    def sentence_texts(self) -> list[str]:
        """The text of each sentence."""
        return [self.text[start:end] for start, end in _SPANS.iter_unpack(self.offsets)]


def language_of_records(records: Iterable[PassageRecord]) -> str:
    """The language of a document by its first passages; their headings are often in another."""
    return language_of_parts(record.text for record in records)


def storable(text: str) -> str:
    """Replace lone surrogates in a text by question marks: they are not characters, and no database stores them."""
    return text if text.isascii() else text.encode("utf-8", "replace").decode("utf-8")


def each_record(document: Document) -> Iterator[PassageRecord]:
    """Yield the passages of a document as records, one at a time."""
    title = storable(document.title)
    trail: tuple[str, ...] | None = None
    headings = above = ""
    for passage in each_passage(document):
        if passage.headings is not trail:  # the passages of a section share theirs
            trail = passage.headings
            headings, above = json.dumps(trail), heading_text(title, trail)
        sentences = passage.sentences
        offsets = struct.pack(f"<{5 * len(sentences)}i", *chain.from_iterable(sentences))  # a third of NumPy's time
        places = json.dumps(passage.places) if passage.places else None
        metadata = json.dumps(passage.metadata, allow_nan=False) if passage.metadata else None
        where = headings, above, passage.line, passage.page
        yield PassageRecord(*where, passage.text, offsets, len(sentences), places, metadata)
