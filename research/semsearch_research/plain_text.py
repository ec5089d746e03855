"""The reader of plain text, which decides what texts are trained on, and is the least that reading a file costs."""

from __future__ import annotations

from collections.abc import Callable

from semsearch.readers.document import Document
from semsearch.readers.registry import format_of


def plain_text_reader() -> Callable[..., Document]:
    """The function that reads a text and a name as a document."""
    kind = format_of(".txt")
    assert kind is not None, "semsearch has a reader of .txt files"
    return kind.load()
