"""The manifest of an index: the segments of its generation, what is removed from them, how each is scanned.

It lives in the database, so that all of a generation begins to answer with one COMMIT, whatever holds its segments.
"""

from __future__ import annotations

import json
import sqlite3
import time
from collections.abc import Iterable, Sequence
from dataclasses import asdict

import numpy as np

from semsearch.arrays.id_ranges import Runs
from semsearch.results.scan import Scan
from semsearch.storage.meta import get_meta, set_meta
from semsearch.storage.segments import KINDS, Kind, Segment


def get_segments(db: sqlite3.Connection) -> list[Segment]:
    rows = db.execute("SELECT kind, file, size, runs, digest FROM segments ORDER BY id")
    return [Segment(kind, file, size, Runs.from_bytes(runs), digest) for kind, file, size, runs, digest in rows]


def get_removed(db: sqlite3.Connection, kind: Kind) -> Runs:
    """The ids that segments may hold although their rows are gone."""
    if kind != "sentence":
        return Runs.of(db.execute("SELECT first_passage, passages FROM removed"))
    return Runs.of(db.execute("SELECT first_sentence, sentences FROM removed"))


def name_segments(db: sqlite3.Connection, new: Sequence[Segment], *, retired: Sequence[Segment], number: int) -> None:
    """Name new segments as part of generation `number`, and retire old ones, to be dropped by a later writer."""
    now = time.time()
    db.executemany("DELETE FROM segments WHERE file = ?", [(segment.file,) for segment in retired])
    db.executemany("INSERT OR REPLACE INTO retired VALUES (?, ?)", [(segment.file, now) for segment in retired])
    db.executemany(
        "INSERT INTO segments (kind, file, size, count, runs, digest, generation) VALUES (?, ?, ?, ?, ?, ?, ?)",
        [(s.kind, s.file, s.size, len(s.runs), s.runs.to_bytes(), s.digest, number) for s in new],
    )
    note_scans(db, new, retired)


def forget_removed(db: sqlite3.Connection) -> None:
    """Forget the removal of what no segment holds any more."""
    rows = db.execute("SELECT first_passage, passages, first_sentence, sentences FROM removed").fetchall()
    if not rows:
        return
    removed, segments = np.array(rows, dtype=np.int64), get_segments(db)
    is_held = np.zeros(len(rows), dtype=np.bool_)
    for kind in KINDS:
        first, count = removed[:, 2:].T if kind == "sentence" else removed[:, :2].T
        held = Runs.of(run for segment in segments if segment.kind == kind for run in segment.runs.ranges)
        is_held |= held.below(first + count) > held.below(first)
    gone = [(first,) for first in removed[~is_held, 0].tolist()]
    db.executemany("DELETE FROM removed WHERE first_passage = ?", gone)


def get_retired(db: sqlite3.Connection) -> dict[str, float]:
    """The segments of earlier generations that were not dropped yet, by name, and when they were retired."""
    return {str(file): float(when) for file, when in db.execute("SELECT file, retired_at FROM retired")}


def forget_retired(db: sqlite3.Connection, names: Iterable[str]) -> None:
    """Forget segments that were dropped."""
    db.executemany("DELETE FROM retired WHERE file = ?", [(name,) for name in names])


_KEY = "scans"


def get_scans(db: sqlite3.Connection) -> dict[str, Scan]:
    """By file; none for a segment of which all vectors are compared as they are."""
    return {file: Scan(**card) for file, card in json.loads(get_meta(db, _KEY) or "{}").items()}


def note_scans(db: sqlite3.Connection, new: Iterable[Segment], retired: Iterable[Segment]) -> None:
    """Those of new segments in, those of retired ones out."""
    known = get_scans(db)
    gone = {segment.file for segment in retired}
    kept = {file: scan for file, scan in known.items() if file not in gone}
    kept |= {segment.file: segment.scan for segment in new if segment.scan is not None}
    if kept != known:
        set_meta(db, _KEY, json.dumps({file: asdict(scan) for file, scan in kept.items()}, allow_nan=False))
