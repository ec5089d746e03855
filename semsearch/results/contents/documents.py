"""The documents of an index: an entry in a list of them, and a document's text. Plain frozen data."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from semsearch.results.codec import Record


@dataclass(frozen=True, slots=True)
class DocumentInfo(Record):
    """An entry in the list of an index's documents."""

    path: str  # as one would open it from here; the id, for a text that a program added
    root: str  # the root it was found under; "" for a text that a program added
    document: str  # the path below the root, or the id
    title: str
    format: str  # text, markdown, rst, html, pdf, ...
    passages: int
    sentences: int
    words: int  # about
    size: int  # of its file in bytes; of a text that a program added, in characters
    modified: str | None  # date and time of its file when it was read; None for a text that a program added
    indexed: str  # date and time
    metadata: Mapping[str, Any]  # front matter and the like


@dataclass(frozen=True, slots=True)
class DocumentText(Record):
    """A document as an index has it, with its text as it is searched.

    The text is that of its passages, in order, each paragraph and each heading by itself, with blank lines between
    them. It has no markup, and no front matter, which is metadata. It differs from the file in two more ways: a
    paragraph too long for one passage is divided where a passage ends, and of two sections in a row with the same
    headings the second's are not repeated.
    """

    path: str  # as one would open it from here; the id, for a text that a program added
    root: str  # the root it was found under; "" for a text that a program added
    document: str  # the path below the root, or the id
    title: str
    format: str  # text, markdown, rst, html, pdf, ...
    metadata: Mapping[str, Any]  # front matter and the like
    text: str
