"""The derived files of an index, and the rule by which they are written anew. Pure; semsearch.dense.faiss_segment
and semsearch.lexical.search do the work.

A sync writes small segments and never touches large ones. Where there are too many, the smallest go together, and with
them every next larger one that is not larger than what goes together already, so that a vector is rewritten about as
often as the index doubles. A segment of which a quarter has been removed is rewritten without what was removed.
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
LARGEST = 1 << 20  # vectors in a segment: what a writer holds in memory at once
LARGEST_WORDS = 1 << 18  # the same for passages in a segment of postings


@dataclass(frozen=True, slots=True)
class Segment:
    """A segment file, as the database names it."""

    kind: Kind
    file: str
    size: int  # bytes
    runs: Runs  # its ids
    digest: str
    scan: Scan | None = None  # what was measured when it was written; kept apart (semsearch.storage.manifest)


def segment_name(kind: Kind, generation: int) -> str:
    """A file name that was never used before."""
    return f"{kind}-{generation:08d}-{secrets.token_hex(4)}{_SUFFIXES[kind]}"
