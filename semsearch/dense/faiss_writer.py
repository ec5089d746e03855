"""Write vectors to segment files: straight to the disk as they come, with codes after them if there are many.

The vectors need not be held in memory to be written: semsearch.dense.faiss_store describes the file. The centroids of
the codes need no clustering: each number is rounded to four levels, which are the best for numbers with a normal
distribution (Max 1960), and a centroid is a pair of levels. On 26,430 passages their recall of the fifty best, with 200
candidates, is .997, with centroids by k-means .999; they are made eight times as fast.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from semsearch.arrays.id_ranges import IdRanges
from semsearch.arrays.top_k import TopK
from semsearch.arrays.types import Float32, Int64, UInt8
from semsearch.arrays.vectors import to_bytes
from semsearch.dense.scan_plan import (
    CANDIDATES,
    FEW,
    FEWER_QUESTIONS,
    FEWEST,
    K,
    ScanOptions,
    evenly,
    least_step,
    shares_found,
)
from semsearch.dense.stored_vectors import PACKED, beginning, faiss, fast_scan, plain_index
from semsearch.dense.vector_store import Additions, Questions
from semsearch.results.reports import Scan
from semsearch.storage.segments import Kind, Segment, segment_name
from semsearch.system.durable import Draft

_CHUNK = 1 << 14  # vectors decoded at a time
_SAMPLE = 1 << 12  # vectors that the mean and the spread of each number are learned from
_LEVELS = np.array([-1.5104, -0.4528, 0.4528, 1.5104], dtype=np.float32)  # of a normal distribution (Max 1960, table I)


class SegmentWriter:
    """Writes vectors of one kind as segments of at most `largest` vectors each. A context manager.

    Large segments of passages get codes, as `scanning` says; `questions` embeds questions about passages with given
    ids, to measure their recall. Each file is written under a temporary name, flushed to the disk and renamed; it has
    no effect until the database names it.
    """

    def __init__(
        self,
        folder: Path,
        kind: Kind,
        *,
        generation: int,
        largest: int,
        scanning: ScanOptions | None = None,
        questions: Questions | None = None,
    ) -> None:
        self.folder = folder
        self.kind: Kind = kind
        self.generation = generation
        self.largest = largest
        self.segments: list[Segment] = []
        self._scanning = scanning
        self._questions = questions
        self._growing: _GrowingSegment | None = None
        self._additions = Additions()

    def add(self, ids: Int64, vectors: npt.NDArray[Any]) -> None:
        """Append vectors (n, d) with rising ids (n,). Raises UsageError if they do not rise or fit."""
        self._additions.check(ids, vectors)
        while len(ids):
            if self._growing is None:
                path = self.folder / segment_name(self.kind, self.generation)
                self._growing = _GrowingSegment(path, vectors.shape[1], self.kind)
            room = self.largest - self._growing.count
            self._growing.add(ids[:room], vectors[:room])
            ids, vectors = ids[room:], vectors[room:]
            if self._growing.count == self.largest:
                self._write(self._growing)

    def finish(self) -> list[Segment]:
        """Write what is left, and return all segments of this writer."""
        if self._growing is not None:
            self._write(self._growing)
        return self.segments

    def __enter__(self) -> SegmentWriter:
        return self

    def __exit__(self, *_: object) -> None:
        if self._growing is not None:
            self._growing.draft.drop()

    def _write(self, growing: _GrowingSegment) -> None:
        ids, scan, scanning = growing.ids, None, self._scanning
        if scanning is not None and scanning.has_codes(growing.count, growing.dimension):
            scan = _with_codes(growing, scanning.target_recall, self._asked(ids))
        written = growing.draft.keep(beginning(growing.dimension, growing.count, self.kind))
        self._growing = None
        self.segments.append(
            Segment(
                self.kind, growing.path.name, written.size, IdRanges.of_ids(ids), written.digest, scan, written.sums
            )
        )

    def _asked(self, ids: Int64) -> Float32:
        """Questions about some of the passages, if there are any. (q, d)"""
        nothing: Float32 = np.zeros((0, 0), np.float32)
        return nothing if self._questions is None else self._questions(ids[evenly(len(ids), FEWER_QUESTIONS)])


class _GrowingSegment:
    """A segment that is being written: its vectors as half-precision floats, or as bytes, on the disk."""

    def __init__(self, path: Path, dimension: int, kind: Kind) -> None:
        self.path = path
        self.dimension = dimension
        self.count = 0
        self._index = plain_index(dimension, kind)
        self._as_bytes = kind == "sentence"
        self._start = len(beginning(dimension, 0, kind))
        self.draft = Draft(path, self._start)
        self._ids: list[Int64] = []

    def add(self, ids: Int64, vectors: npt.NDArray[Any]) -> None:
        if vectors.dtype == np.uint8:
            codes = np.ascontiguousarray(vectors)
        else:
            codes = to_bytes(vectors) if self._as_bytes else self._index.sa_encode(np.ascontiguousarray(vectors))
        self.draft.write(codes.data.cast("B"))
        self._ids.append(ids)
        self.count += len(ids)

    @property
    def ids(self) -> Int64:
        return np.concatenate(self._ids)

    def rows(self, first: int, last: int) -> Float32:
        """The vectors from number `first` to below `last`: read, since pages of a map count as memory in use."""
        size = int(self._index.code_size)
        start = self._start + first * size
        codes = np.fromfile(self.draft.temporary, np.uint8, (min(last, self.count) - first) * size, offset=start)
        decoded: Float32 = self._index.sa_decode(codes.reshape(-1, size))
        return decoded

    def sample(self, most: int) -> Float32:
        """At most so many of the vectors, at even distances. -> (n, d)"""
        numbers, parts = evenly(self.count, most), [np.zeros((0, self.dimension), np.float32)]
        for first in range(0, self.count, _CHUNK):
            chosen = numbers[np.searchsorted(numbers, first) : np.searchsorted(numbers, first + _CHUNK)]
            parts += [self.rows(first, first + _CHUNK)[chosen - first]] if len(chosen) else []
        return np.concatenate(parts)


# -- Codes -------------------------------------------------------------------------------------------------------------


def _with_codes(growing: _GrowingSegment, target: float, questions: Float32) -> Scan | None:
    """Append codes to a segment, and measure them with questions (q, d); None without any if the recall is too low.

    If there are too few questions to measure with, some of the vectors are used as questions.
    """
    count, d = growing.count, growing.dimension
    if len(questions) < FEW:
        questions = growing.sample(FEWER_QUESTIONS)
    sample = growing.sample(_SAMPLE)
    levels = (sample.mean(axis=0) + sample.std(axis=0) * _LEVELS[:, None]).T.reshape(-1, 2, 4)  # (d / 2, 2, 4)
    centroids = np.stack((np.repeat(levels[:, 0], 4, axis=1), np.tile(levels[:, 1], 4)), axis=2)  # (d / 2, 16, 2)
    edges = ((levels[:, :, 1:] + levels[:, :, :-1]) / 2).reshape(d, 3).T
    nearest = TopK(len(questions), min(K, count))
    packer = faiss.IndexPQ(d, len(centroids), 4, faiss.METRIC_INNER_PRODUCT)
    blocks: list[UInt8] = []
    for first in range(0, count, _CHUNK):
        rows = growing.rows(first, first + _CHUNK)
        nearest.add(questions @ rows.T, np.arange(first, first + len(rows)))
        blocks.append(_packed(packer, rows, edges))
    most = min(CANDIDATES[-1] * FEWEST, count)
    codes = np.concatenate(blocks)
    blocks.clear()
    _, candidates = fast_scan(centroids, codes, count).search(questions, most)
    answers = nearest.best().ids
    least = least_step(
        CANDIDATES, lambda step, part: shares_found(candidates[part, : step * FEWEST], answers[part]), target
    )
    if least.recall < target:
        return None
    growing.draft.write(centroids.astype("<f4").data.cast("B"))
    growing.draft.write(codes.data)
    return Scan(f"PQ{len(centroids)}x4fs,Refine(SQfp16)", count, 0, least.step, least.recall, least.questions)


def _packed(packer: Any, rows: Float32, edges: Float32) -> UInt8:
    """The codes of vectors in blocks, as FAISS scans them. (n, d), (3, d) -> (bytes,)"""
    levels = np.zeros(rows.shape, dtype=np.uint8)
    for edge in edges:
        levels += rows > edge
    parts = np.zeros((len(rows), -(-packer.pq.M // 2) * 2), dtype=np.uint8)
    parts[:, : packer.pq.M] = levels[:, ::2] * 4 + levels[:, 1::2]
    packer.reset()
    packer.add_sa_codes(parts[:, ::2] | parts[:, 1::2] << 4)
    index = faiss.IndexPQFastScan(packer, PACKED)
    return np.array(faiss.rev_swig_ptr(index.codes.get(), index.codes.size()))
