"""Compare the ids that segments hold with the rows of the database, and with the ids that were removed."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Sequence

import numpy as np

from semsearch.arrays.id_ranges import IdRanges
from semsearch.storage.manifest import get_removed, get_segments
from semsearch.storage.segments import Kind


def find_stray_passages(db: sqlite3.Connection) -> Iterator[str]:
    """Compare the passages of the segments that the manifest names, as `find_stray_ids`, without opening any."""
    segments = get_segments(db)
    for kind in ("passage", "words"):
        yield from find_stray_ids(db, kind, [segment.id_ranges for segment in segments if segment.kind == kind])


def find_stray_ids(db: sqlite3.Connection, kind: Kind, held: Sequence[IdRanges]) -> Iterator[str]:
    """Check that every row is in exactly one of the segments that hold these ids, and that these hold nothing else but
    removed ids. Yields what is not so, a line each.
    """
    rowed, held_as = ("passage", "lexical entries") if kind == "words" else (kind, f"{kind} vectors")
    sentences = "SELECT first_sentence, sentence_count FROM passages"
    rows = IdRanges.of(db.execute(sentences if kind == "sentence" else "SELECT id, 1 FROM passages"))
    removed = get_removed(db, kind)
    if rows.overlap(removed):
        yield f"{rows.overlap(removed)} {rowed} rows are marked as removed"
    covered = IdRanges.of(pair for id_ranges in held for pair in id_ranges.ranges)
    twice = sum(map(len, held)) - _distinct(held)
    if twice:
        yield f"{twice} {held_as} are there twice"
        return
    without = len(rows) - rows.overlap(covered)
    if without:
        yield f"{without} of {len(rows)} {rowed}s have no {held_as}"
    spare = len(covered) - covered.overlap(rows) - covered.overlap(removed)
    if spare:
        yield f"{spare} {held_as} belong to no row"


def _distinct(held: Sequence[IdRanges]) -> int:
    ids = [id_ranges.all_ids() for id_ranges in held]
    return len(np.unique(np.concatenate(ids))) if ids else 0
