"""Merging by reading and writing: what some segments hold, but for what is removed, copied into new ones.

It does for any store; one whose engine can copy by itself has no need of it.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from semsearch.arrays.id_ranges import Runs
from semsearch.dense.store import NO_IDS, VectorStore, VectorWriter
from semsearch.errors import IndexDamaged
from semsearch.storage.segments import Segment

_CHUNK = 1 << 15  # vectors copied at a time


def copy_kept(store: VectorStore, segments: Sequence[Segment], removed: Runs, writer: VectorWriter) -> list[Segment]:
    """Write what is not removed, in the order of its ids, and finish the writer."""
    reader = store.open(segments, NO_IDS)
    held = Runs.of(run for segment in segments for run in segment.runs.ranges)
    for first, count in held.without(removed).ranges:
        for start in range(first, first + count, _CHUNK):
            ids = np.arange(start, min(start + _CHUNK, first + count), dtype=np.int64)
            found = reader.fetch(ids).by_place()
            if len(found.places) != len(ids):
                names = ", ".join(segment.file for segment in segments)
                raise IndexDamaged(
                    f"{names} should have the vectors {start} to {ids[-1]}, and {len(ids) - len(found.places)} of them "
                    "are missing; run: semsearch index --rebuild"
                )
            writer.add(ids, found.rows)
    return writer.finish()
