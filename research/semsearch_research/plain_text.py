"""The reader of plain text, which decides what texts are trained on, and is the least that reading a file costs."""

from __future__ import annotations

from collections.abc import Callable

from semsearch.readers import text
from semsearch.readers.document import Document


def plain_text_reader() -> Callable[..., Document]:
    """The function that reads a text and a name as a document."""
    return text.read
