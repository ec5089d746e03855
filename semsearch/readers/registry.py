"""Files to documents. Each format is one file here, imported when the first file of its kind is read.

A reader of a text format has `read(source: str, name: str) -> Document`. A reader of a binary format, which decodes for
itself, has `read(data: bytes, name: str) -> Document` and is registered with `binary=True`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module

from semsearch.readers.document import Document


@dataclass(frozen=True, slots=True)
class Format:
    """A kind of file, and the module that reads it."""

    name: str
    suffixes: tuple[str, ...]
    module: str
    binary: bool = False
    declares_encoding: bool = False

    def load(self) -> Callable[..., Document]:
        """The module's `read`."""
        read: Callable[..., Document] = import_module(self.module).read
        return read


FORMATS = (
    Format("text", (".txt", ".text"), "semsearch.readers.text"),
    Format("markdown", (".md", ".markdown", ".mdown", ".mkd"), "semsearch.readers.markdown"),
    Format("rst", (".rst", ".rest"), "semsearch.readers.rst"),
    Format("html", (".html", ".htm", ".xhtml"), "semsearch.readers.html", declares_encoding=True),
)
SUFFIXES: dict[str, Format] = {suffix: kind for kind in FORMATS for suffix in kind.suffixes}
