"""Read files as documents. Each format is one file here, imported when the first file of its kind is read."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from semsearch import load_public, public_names

if TYPE_CHECKING:  # the same names for whoever checks types
    from semsearch.readers.document import Block as Block, Document as Document
    from semsearch.readers.read import read_bytes as read_bytes
    from semsearch.readers.reader_process import end_reader_processes as end_reader_processes
    from semsearch.readers.registry import Format as Format, format_of as format_of, register as register

__all__ = sorted(public_names(__name__))


def __getattr__(name: str) -> Any:
    return load_public(__name__, name)
