"""Segments: what is derived from the rows of an index, written once and never changed.

A segment of postings or topics is a file in the index folder; so is one of vectors, unless another engine keeps them
(semsearch.dense.engines).
"""

from __future__ import annotations

import secrets
from dataclasses import dataclass
from typing import Literal

from semsearch.arrays.id_ranges import Runs
from semsearch.results.scan import Scan

Kind = Literal["passage", "sentence", "words", "topics"]
VECTORS: tuple[Kind, Kind] = ("passage", "sentence")  # the kinds that hold vectors; words are the passages' postings
KINDS: tuple[Kind, Kind, Kind] = (*VECTORS, "words")  # what grows with the passages; topics are a single file or none
_SUFFIXES: dict[Kind, str] = {"passage": ".faiss", "sentence": ".faiss", "words": ".postings", "topics": ".topics"}
LARGEST = 1 << 20  # vectors in a segment, as far as merging makes it larger
LARGEST_WORDS = 1 << 18  # the same for passages in a segment of postings


@dataclass(frozen=True, slots=True)
class Segment:
    """A segment, as the manifest names it."""

    kind: Kind
    file: str  # its name: that of a file, or what an engine finds it by
    size: int  # bytes
    runs: Runs  # its ids
    digest: str
    scan: Scan | None = None  # what was measured when it was written; kept apart (semsearch.storage.manifest)


def segment_name(kind: Kind, generation: int) -> str:
    """A file name that was never used before."""
    return f"{kind}-{generation:08d}-{secrets.token_hex(4)}{_SUFFIXES[kind]}"
