"""Segments, and the manifest of a generation: its segments, and the ids removed from them.

A segment holds vectors, postings or topics derived from the rows of an index, is written once and never changed. It is
a file in the index folder; one of vectors may be kept by another engine (semsearch.dense.engines). The manifest is in
the database, so that a whole generation becomes visible with one COMMIT, wherever its segments are.
"""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Sequence
from typing import Literal, NamedTuple

import numpy as np

from semsearch.arrays.id_ranges import IdRanges
from semsearch.errors import IndexDamaged

Kind = Literal["passage", "sentence", "words", "topics"]
VECTORS: tuple[Kind, Kind] = ("passage", "sentence")  # the kinds that hold vectors; words are the passages' postings
KINDS: tuple[Kind, Kind, Kind] = (*VECTORS, "words")  # the kinds that grow with the passages; of topics there is one
_SUFFIXES: dict[Kind, str] = {"passage": ".faiss", "sentence": ".faiss", "words": ".postings", "topics": ".topics"}
LARGEST = 1 << 20  # vectors in a merged segment, at most
LARGEST_WORDS = 1 << 18  # passages in a merged segment of postings, at most


class Segment(NamedTuple):
    """An entry of the manifest: a segment with its ids, its digest and the checksums of its blocks."""

    kind: Kind
    file: str  # the name of its file, or the name by which an engine finds it
    size: int  # bytes
    id_ranges: IdRanges  # of its vectors or passages, in the order of its rows
    digest: str
    sums: bytes = b""  # semsearch.system.durable; none where an engine keeps it


def segment_name(kind: Kind, generation: int) -> str:
    """Make up a file name that was never used before."""
    return f"{kind}-{generation:08d}-{os.urandom(4).hex()}{_SUFFIXES[kind]}"


# -- Manifest ----------------------------------------------------------------------------------------------------------

_LONGEST = 200  # bytes of a name, as the audit has it
_FOREIGN = frozenset("/\\\0")


def _is_name(file: str) -> bool:
    """Return whether a text can only be the name of a file in a folder."""
    return file not in ("", ".", "..") and len(file.encode()) <= _LONGEST and _FOREIGN.isdisjoint(file)


def get_segments(db: sqlite3.Connection, *kinds: Kind) -> list[Segment]:
    """Read the segments of the current generation, in the order in which they were named; of some kinds, or all."""
    where = f"WHERE kind IN ({', '.join('?' * len(kinds))})" if kinds else ""
    rows = db.execute(
        f"SELECT kind, file, size, runs, digest, sums FROM segments {where} ORDER BY id", kinds
    ).fetchall()
    for kind, file, *_ in rows:
        if kind not in _SUFFIXES or not (isinstance(file, str) and _is_name(file)):
            named = repr(file)[:80]
            raise IndexDamaged(f"the index lists the segment {named}, which is not a file in its folder; index again")
    return [
        Segment(kind, file, size, IdRanges.from_bytes(runs), digest, sums)
        for kind, file, size, runs, digest, sums in rows
    ]


def get_segment_names(db: sqlite3.Connection) -> set[str]:
    """Read the names of the segments of the current generation."""
    return {name for (name,) in db.execute("SELECT file FROM segments")}


def get_removed(db: sqlite3.Connection) -> dict[Kind, IdRanges]:
    """Read the ids that segments of each kind may hold although their rows are gone."""
    passages = IdRanges.of(db.execute("SELECT first_passage, passages FROM removed"))
    sentences = IdRanges.of(db.execute("SELECT first_sentence, sentences FROM removed"))
    return {"passage": passages, "words": passages, "sentence": sentences}


def update_manifest(db: sqlite3.Connection, new: Sequence[Segment], *, retired: Sequence[Segment], number: int) -> None:
    """Add new segments to the manifest as part of generation `number`; take retired ones out."""
    db.executemany("DELETE FROM segments WHERE file = ?", [(segment.file,) for segment in retired])
    for segment in new:
        row = {"kind": segment.kind, "file": segment.file, "size": segment.size, "count": len(segment.id_ranges)}
        row |= {"runs": segment.id_ranges.to_bytes(), "digest": segment.digest, "sums": segment.sums}
        row["generation"] = number
        db.execute(f"INSERT INTO segments ({', '.join(row)}) VALUES (:{', :'.join(row)})", row)


def drop_removed(db: sqlite3.Connection, segments: Sequence[Segment]) -> None:
    """Forget removed ids that none of these segments, which are all there are, holds any more."""
    rows = db.execute("SELECT first_passage, passages, first_sentence, sentences FROM removed").fetchall()
    if not rows:
        return
    removed = np.array(rows, dtype=np.int64)
    is_held = np.zeros(len(rows), dtype=np.bool_)
    held: dict[Kind, list[IdRanges]] = {kind: [] for kind in KINDS}
    for segment in segments:
        held[segment.kind].append(segment.id_ranges)
    for kind, id_ranges in held.items():
        first, count = removed[:, 2:].T if kind == "sentence" else removed[:, :2].T
        covered = IdRanges.union(id_ranges)
        is_held |= covered.below(first + count) > covered.below(first)
    db.executemany("DELETE FROM removed WHERE first_passage = ?", removed[~is_held, :1].tolist())


def clear_manifest(db: sqlite3.Connection) -> None:
    """Forget a damaged list of segments, the removed ids and the fit, all of which are made again."""
    for table in ("segments", "removed", "fit"):
        db.execute(f"DELETE FROM {table}")
