"""The manifest of an index: the segment files of its generation, what is removed from them, how each is scanned."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterable
from dataclasses import asdict

import numpy as np
import numpy.typing as npt

from semsearch.arrays.id_ranges import Runs
from semsearch.results.scan import Scan
from semsearch.storage.meta import get_meta, set_meta
from semsearch.storage.segments import Kind, Segment

Int32 = npt.NDArray[np.int32]


def get_segments(db: sqlite3.Connection) -> list[Segment]:
    rows = db.execute("SELECT kind, file, size, runs, digest FROM segments ORDER BY id")
    return [Segment(kind, file, size, Runs.from_bytes(runs), digest) for kind, file, size, runs, digest in rows]


def get_removed(db: sqlite3.Connection, kind: Kind) -> Runs:
    """The ids that segments may hold although their rows are gone."""
    if kind != "sentence":
        return Runs.of(db.execute("SELECT first_passage, passages FROM removed"))
    return Runs.of(db.execute("SELECT first_sentence, sentences FROM removed"))


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
