"""Segments: vectors, postings and topics that are derived from the rows of an index, written once and never changed.

A segment of postings or topics is a file in the index folder; so is one of vectors, unless another engine keeps them
(semsearch.stores.registry).
"""

from __future__ import annotations

import secrets
from dataclasses import dataclass
from typing import Literal

from semsearch.arrays.id_ranges import IdRanges
from semsearch.results.state.scan import Scan

Kind = Literal["passage", "sentence", "words", "topics"]
VECTORS: tuple[Kind, Kind] = ("passage", "sentence")  # the kinds that hold vectors; words are the passages' postings
KINDS: tuple[Kind, Kind, Kind] = (*VECTORS, "words")  # the kinds that grow with the passages; of topics there is one
_SUFFIXES: dict[Kind, str] = {"passage": ".faiss", "sentence": ".faiss", "words": ".postings", "topics": ".topics"}
LARGEST = 1 << 20  # vectors in a merged segment, at most
LARGEST_WORDS = 1 << 18  # passages in a merged segment of postings, at most


@dataclass(frozen=True, slots=True)
class Segment:
    """An entry of the manifest: a segment with its ids, its digest and the checksums of its blocks."""

    kind: Kind
    file: str  # the name of its file, or the name by which an engine finds it
    size: int  # bytes
    id_ranges: IdRanges  # of its vectors or passages, in the order of its rows
    digest: str
    scan: Scan | None = None  # measured when it was written; kept apart (semsearch.storage.manifest)
    sums: bytes = b""  # semsearch.system.checked_file; none where an engine keeps it, or an earlier version wrote it


def segment_name(kind: Kind, generation: int) -> str:
    """Make up a file name that was never used before."""
    return f"{kind}-{generation:08d}-{secrets.token_hex(4)}{_SUFFIXES[kind]}"
