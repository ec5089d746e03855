"""Merge segments by reading and writing: copy their vectors, except removed ones, into new segments.

This works for any store; a store whose engine can copy by itself does not need it.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from semsearch.arrays.id_ranges import IdRanges
from semsearch.dense.store import NO_IDS, Questions, VectorStore, VectorWriter
from semsearch.errors import IndexDamaged
from semsearch.storage.segments import Segment

_CHUNK = 1 << 15  # vectors copied at a time


def merge_by_copying(
    store: VectorStore,
    segments: Sequence[Segment],
    removed: IdRanges,
    *,
    generation: int,
    questions: Questions | None = None,
) -> list[Segment]:
    """Merge segments of a store into new ones, without removed ids, as `VectorStore.merge` asks."""
    with store.writer(generation, questions=questions) as writer:
        return _copy_kept(store, segments, removed, writer)


def _copy_kept(
    store: VectorStore, segments: Sequence[Segment], removed: IdRanges, writer: VectorWriter
) -> list[Segment]:
    """Write the vectors that are not removed, in the order of their ids, and finish the writer."""
    reader = store.open(segments, NO_IDS)
    held = IdRanges.of(pair for segment in segments for pair in segment.id_ranges.ranges)
    for first, count in held.without(removed).ranges:
        for start in range(first, first + count, _CHUNK):
            ids = np.arange(start, min(start + _CHUNK, first + count), dtype=np.int64)
            found = reader.fetch(ids).by_position()
            if len(found.positions) != len(ids):
                names = ", ".join(segment.file for segment in segments)
                raise IndexDamaged(
                    f"{names} should have the vectors {start} to {ids[-1]}, but "
                    f"{len(ids) - len(found.positions)} of them are missing; run: semsearch index --rebuild"
                )
            writer.add(ids, found.rows)
    return writer.finish()
