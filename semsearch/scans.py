"""What was measured when segments were written, kept as one JSON object among the meta rows, by file."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterable
from dataclasses import asdict

from semsearch.rows import get_meta, set_meta
from semsearch.scanning import Scan
from semsearch.segments import Segment

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
