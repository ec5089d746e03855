"""Make the topic vectors of passages from postings, and keep them until the passages are embedded.

Postings are ordered by term, but passages are embedded one after the other. So the vectors of all passages of a segment
of postings are made at once, and kept in an unnamed temporary file in the order of their ids: memory is needed for one
segment of postings, not for the corpus.
"""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import numpy.typing as npt

from semsearch.lexical.segment import LexicalSegment
from semsearch.topics.model import Topics

Float32 = npt.NDArray[np.float32]
Int64 = npt.NDArray[np.int64]


class TopicVectors:
    """The topic vectors of the passages of some segments of postings, by id."""

    def __init__(self, topics: Topics, segments: Sequence[LexicalSegment], folder: Path) -> None:
        ids = [segment.id_ranges.all_ids() for segment in segments]
        self._ids = np.sort(np.concatenate([np.zeros(0, dtype=np.int64), *ids]))
        shape = (max(len(self._ids), 1), topics.dimension)
        with tempfile.TemporaryFile(dir=folder) as file:
            self._vectors = np.memmap(file, dtype=np.float16, mode="w+", shape=shape)
        for segment, own in zip(segments, ids, strict=True):
            self._vectors[np.searchsorted(self._ids, own)] = topics.of_postings(segment.postings)

    def of(self, ids: Int64) -> Float32:
        """The topic vectors of passages by id; zero for a passage in none of the segments. (n,) -> (n, k)"""
        rows = np.searchsorted(self._ids, ids)
        held = np.flatnonzero(rows < len(self._ids))
        held = held[self._ids[rows[held]] == ids[held]]
        result = np.zeros((len(ids), self._vectors.shape[1]), dtype=np.float32)
        result[held] = self._vectors[rows[held]]
        return result
