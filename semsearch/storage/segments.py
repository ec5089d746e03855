"""Segments, and the manifest of a generation: its segments, the ids removed from them, and how each is scanned.

A segment holds vectors, postings or topics derived from the rows of an index, is written once and never changed. It is
a file in the index folder; one of vectors may be kept by another engine (semsearch.dense.engines). The manifest is in
the database, so that a whole generation becomes visible with one COMMIT, wherever its segments are.
"""

from __future__ import annotations

import json
import os
import sqlite3
from collections.abc import Iterable, Sequence
from dataclasses import asdict
from typing import Literal

import numpy as np

from semsearch.arrays.id_ranges import IdRanges
from semsearch.errors import IndexDamaged, UsageError
from semsearch.frozen import dataclass
from semsearch.results.reports import Scan
from semsearch.storage.meta import get_meta, set_meta
from semsearch.system import clock

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
    scan: Scan | None = None  # measured when it was written; stored in `meta`
    sums: bytes = b""  # semsearch.system.checked_file; none where an engine keeps it, or an earlier version wrote it


def segment_name(kind: Kind, generation: int) -> str:
    """Make up a file name that was never used before."""
    return f"{kind}-{generation:08d}-{os.urandom(4).hex()}{_SUFFIXES[kind]}"


# -- Manifest ----------------------------------------------------------------------------------------------------------

_LONGEST = 200  # bytes of a name, as the audit has it
_FOREIGN = frozenset("/\\\0")


def _is_name(file: str) -> bool:
    """Return whether a text can only be the name of a file in a folder."""
    return file not in ("", ".", "..") and len(file.encode()) <= _LONGEST and _FOREIGN.isdisjoint(file)


def get_segments(db: sqlite3.Connection) -> list[Segment]:
    """Read the segments of the current generation, in the order in which they were named."""
    rows = db.execute("SELECT kind, file, size, runs, digest, sums FROM segments ORDER BY id").fetchall()
    for _, file, *_ in rows:
        if not (isinstance(file, str) and _is_name(file)):
            named = repr(file)[:80]
            raise IndexDamaged(f"the index lists the segment {named}, which is not a file in its folder; index again")
    scans = get_scans(db)
    return [
        Segment(kind, file, size, IdRanges.from_bytes(runs), digest, scans.get(file), sums or b"")
        for kind, file, size, runs, digest, sums in rows
    ]


def get_removed(db: sqlite3.Connection, kind: Kind) -> IdRanges:
    """Read the ids that segments of a kind may hold although their rows are gone."""
    if kind != "sentence":
        return IdRanges.of(db.execute("SELECT first_passage, passages FROM removed"))
    return IdRanges.of(db.execute("SELECT first_sentence, sentences FROM removed"))


def name_segments(db: sqlite3.Connection, new: Sequence[Segment], *, retired: Sequence[Segment], number: int) -> None:
    """Add new segments to the manifest as part of generation `number`; retire old ones, which a later writer drops."""
    now = clock.now()
    db.executemany("DELETE FROM segments WHERE file = ?", [(segment.file,) for segment in retired])
    db.executemany("INSERT OR REPLACE INTO retired VALUES (?, ?)", [(segment.file, now) for segment in retired])
    db.executemany(
        "INSERT INTO segments (kind, file, size, count, runs, digest, sums, generation) "
        "VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
        [(s.kind, s.file, s.size, len(s.id_ranges), s.id_ranges.to_bytes(), s.digest, s.sums, number) for s in new],
    )
    note_scans(db, new, retired)


def forget_removed(db: sqlite3.Connection) -> None:
    """Forget removed ids that no segment holds any more."""
    rows = db.execute("SELECT first_passage, passages, first_sentence, sentences FROM removed").fetchall()
    if not rows:
        return
    removed, segments = np.array(rows, dtype=np.int64), get_segments(db)
    is_held = np.zeros(len(rows), dtype=np.bool_)
    for kind in KINDS:
        first, count = removed[:, 2:].T if kind == "sentence" else removed[:, :2].T
        held = IdRanges.of(pair for segment in segments if segment.kind == kind for pair in segment.id_ranges.ranges)
        is_held |= held.below(first + count) > held.below(first)
    gone = [(first,) for first in removed[~is_held, 0].tolist()]
    db.executemany("DELETE FROM removed WHERE first_passage = ?", gone)


def forget_manifest(db: sqlite3.Connection) -> None:
    """Forget a damaged list of segments, the removed ids and the fit, all of which are made again."""
    for table in ("segments", "removed", "fit"):
        db.execute(f"DELETE FROM {table}")  # noqa: S608  # our own names
    db.execute("DELETE FROM meta WHERE key = ?", (_SCANS_KEY,))


def get_retired(db: sqlite3.Connection) -> dict[str, float]:
    """Read the names of earlier generations' segments that were not dropped yet, and when each was retired."""
    return {str(file): float(when) for file, when in db.execute("SELECT file, retired_at FROM retired")}


def forget_retired(db: sqlite3.Connection, names: Iterable[str]) -> None:
    """Forget retired segments that were dropped."""
    db.executemany("DELETE FROM retired WHERE file = ?", [(name,) for name in names])


_SCANS_KEY = "scans"


def get_scans(db: sqlite3.Connection) -> dict[str, Scan]:
    """Read how segments are scanned, by file. A segment whose vectors are all compared as they are has no entry."""
    try:
        return {file: Scan.from_dict(card) for file, card in json.loads(get_meta(db, _SCANS_KEY) or "{}").items()}
    except UsageError as error:
        raise ValueError(f"the scan measurements of the index are invalid: {error}") from error  # and so damage


def note_scans(db: sqlite3.Connection, new: Iterable[Segment], retired: Iterable[Segment]) -> None:
    """Store how new segments are scanned, and forget retired ones."""
    known = get_scans(db)
    gone = {segment.file for segment in retired}
    kept = {file: scan for file, scan in known.items() if file not in gone}
    kept |= {segment.file: segment.scan for segment in new if segment.scan is not None}
    if kept != known:
        set_meta(db, _SCANS_KEY, json.dumps({file: asdict(scan) for file, scan in kept.items()}, allow_nan=False))
