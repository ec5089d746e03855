"""Write vectors to segment files: straight to the disk as they come, with codes after them if there are many.

A segment without lists is a file as FAISS writes it: the beginning of an empty index, with the number of vectors, and
then their codes, one after the other. So the vectors need not be held in memory to be written. What follows them for a
first scan is a second index as FAISS writes it. Its centroids need no clustering: each number is rounded to four
levels, which are the best for numbers with a normal distribution (Max 1960), and a centroid is a pair of levels. On
26,430 passages their recall of the fifty best, with 200 candidates, is .997, with centroids by k-means .999; they are
made eight times as fast.
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
    PLAIN,
    QUESTIONS,
    SURE,
    TRAINING,
    K,
    ScanOptions,
    SegmentLayout,
    evenly,
    least_step,
    probes_for,
    recall,
    shares_found,
)
from semsearch.dense.stored_vectors import PACKED, faiss, fast_scan
from semsearch.dense.vector_store import Additions, Questions
from semsearch.results.reports import Scan
from semsearch.storage.segments import Kind, Segment, segment_name
from semsearch.system.durable import Draft, WrittenFile, write_durably

_CHUNK = 1 << 14  # vectors decoded at a time
_ROUNDS = 6  # of learning centroids: more do not improve the recall
_LEARNING = 1 << 16  # vectors that eight-bit codes learn their range from
_SAMPLE = 1 << 12  # vectors that the mean and the spread of each number are learned from
_LEVELS = np.array([-1.5104, -0.4528, 0.4528, 1.5104], dtype=np.float32)  # of a normal distribution (Max 1960, table I)


class SegmentWriter:
    """Writes vectors of one kind as segments of at most `largest` vectors each. A context manager.

    Segments that are scanned may get codes or lists, as `scanning` says; `questions` embeds questions about passages
    with given ids, to measure recall. Each file is written under a temporary name, flushed to the disk and renamed; it
    has no effect until the database names it.
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
        self._growing: _Growing | None = None
        self._additions = Additions()

    def add(self, ids: Int64, vectors: npt.NDArray[Any]) -> None:
        """Append vectors (n, d) with rising ids (n,). Raises UsageError if they do not rise or fit."""
        self._additions.check(ids, vectors)
        while len(ids):
            if self._growing is None:
                path = self.folder / segment_name(self.kind, self.generation)
                self._growing = _Growing(path, vectors.shape[1], as_bytes=self.kind == "sentence")
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

    def _write(self, growing: _Growing) -> None:
        scanning, ids, scan = self._scanning, growing.ids, None
        layout = PLAIN if scanning is None or scanning.factory is None else scanning.layout(growing.count)
        if scanning is None or layout == PLAIN:
            if scanning is not None and scanning.has_codes(growing.count, growing.plain.d):
                scan = _with_codes(growing, scanning.target_recall, self._asked(ids, FEWER_QUESTIONS))
            written = growing.keep()
        else:
            asked = self._asked(ids, QUESTIONS)
            index, scan = _laid_out(growing.plain, growing, layout, scanning.target_recall, asked)
            growing.draft.drop()
            written = write_durably(
                growing.path, lambda write: faiss.write_index(index, faiss.PyCallbackIOWriter(write))
            )
        self._growing = None
        self.segments.append(
            Segment(
                self.kind, growing.path.name, written.size, IdRanges.of_ids(ids), written.digest, scan, written.sums
            )
        )

    def _asked(self, ids: Int64, count: int) -> Float32:
        """Questions about some of the passages, if there are any. (q, d)"""
        nothing: Float32 = np.zeros((0, 0), np.float32)
        return nothing if self._questions is None else self._questions(ids[evenly(len(ids), count)])


class _Growing:
    """A segment in the making: its vectors as half-precision floats, or as bytes, on the disk."""

    def __init__(self, path: Path, dimension: int, *, as_bytes: bool) -> None:
        self.path = path
        kinds = faiss.ScalarQuantizer
        kind = kinds.QT_8bit_direct_signed if as_bytes else kinds.QT_fp16
        self.plain = faiss.IndexScalarQuantizer(dimension, kind, faiss.METRIC_INNER_PRODUCT)
        self._as_bytes = as_bytes
        self.draft = Draft(path, len(self._beginning(0)))
        self.count = 0
        self._ids: list[Int64] = []

    def add(self, ids: Int64, vectors: npt.NDArray[Any]) -> None:
        if vectors.dtype == np.uint8:
            codes = np.ascontiguousarray(vectors)
        else:
            codes = to_bytes(vectors) if self._as_bytes else self.plain.sa_encode(np.ascontiguousarray(vectors))
        self.draft.write(codes.data.cast("B"))
        self._ids.append(ids)
        self.count += len(ids)

    @property
    def ids(self) -> Int64:
        return np.concatenate(self._ids)

    def rows(self, first: int, last: int) -> Float32:
        """The vectors from number `first` to below `last`: read, since pages of a map count as memory in use."""
        size = int(self.plain.code_size)
        start = len(self._beginning(0)) + first * size
        codes = np.fromfile(self.draft.temporary, np.uint8, (min(last, self.count) - first) * size, offset=start)
        decoded: Float32 = self.plain.sa_decode(codes.reshape(-1, size))
        return decoded

    def sample(self, numbers: Int64) -> Float32:
        """The vectors with some rising numbers. (n,) -> (n, d)"""
        parts = [np.zeros((0, self.plain.d), np.float32)]
        for first in range(0, self.count, _CHUNK):
            chosen = numbers[np.searchsorted(numbers, first) : np.searchsorted(numbers, first + _CHUNK)]
            parts += [self.rows(first, first + _CHUNK)[chosen - first]] if len(chosen) else []
        return np.concatenate(parts)

    def keep(self) -> WrittenFile:
        return self.draft.keep(self._beginning(self.count))

    def _beginning(self, count: int) -> bytes:
        """The bytes that FAISS writes before so many vectors; the last of them are the size of these in bytes."""
        self.plain.ntotal = count
        written = _serialized(self.plain)
        self.plain.ntotal = 0
        return written[:-8] + np.array([count * self.plain.code_size], dtype="<u8").tobytes()


def _serialized(index: Any) -> bytes:
    parts: list[bytes] = []
    faiss.write_index(index, faiss.PyCallbackIOWriter(lambda data: parts.append(bytes(data))))
    return b"".join(parts)


# -- Codes -------------------------------------------------------------------------------------------------------------


def _with_codes(growing: _Growing, target: float, questions: Float32) -> Scan | None:
    """Append codes to a segment, and measure them with questions (q, d); None without any if the recall is too low.

    If there are too few questions to measure with, some of the vectors are used as questions.
    """
    plain, count = growing.plain, growing.count
    if len(questions) < FEW:
        questions = growing.sample(evenly(count, FEWER_QUESTIONS))
    sample = growing.sample(evenly(count, _SAMPLE))
    levels = (sample.mean(axis=0) + sample.std(axis=0) * _LEVELS[:, None]).T.reshape(-1, 2, 4)  # (d / 2, 2, 4)
    centroids = np.stack((np.repeat(levels[:, 0], 4, axis=1), np.tile(levels[:, 1], 4)), axis=2)  # (d / 2, 16, 2)
    edges = ((levels[:, :, 1:] + levels[:, :, :-1]) / 2).reshape(plain.d, 3).T
    nearest = TopK(len(questions), min(K, count))
    packer = faiss.IndexPQ(plain.d, len(centroids), 4, faiss.METRIC_INNER_PRODUCT)
    blocks: list[UInt8] = []
    for first in range(0, count, _CHUNK):
        rows = growing.rows(first, first + _CHUNK)
        nearest.add(questions @ rows.T, np.arange(first, first + len(rows)))
        blocks.append(_packed(packer, rows, edges))
    codes = np.concatenate(blocks)
    blocks.clear()
    scanned = fast_scan(centroids, codes, count)
    del codes
    most = min(CANDIDATES[-1] * FEWEST, count)
    answers, (_, found) = nearest.best().ids, scanned.search(questions, most)
    least = least_step(CANDIDATES, lambda step, part: shares_found(found[part, : step * FEWEST], answers[part]), target)
    if least.recall < target:
        return None
    faiss.write_index(scanned, faiss.PyCallbackIOWriter(lambda data: growing.draft.write(memoryview(data))))
    factory = f"PQ{len(centroids)}x4fs,Refine({PLAIN.factory})"
    return Scan(factory, count, 0, least.step, least.recall, least.questions)


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


# -- Lists -------------------------------------------------------------------------------------------------------------


def _laid_out(
    plain: Any, growing: _Growing, layout: SegmentLayout, target: float, questions: Float32
) -> tuple[Any, Scan]:
    """Put the vectors of a segment into a layout, and measure it with questions (q, d).

    If there are too few questions to measure with, some of the vectors are used as questions.
    """
    index, count = _empty(plain.d, layout), growing.count
    learning = max(layout.lists * TRAINING, 0 if layout.codes == PLAIN.codes else _LEARNING)
    index.train(growing.sample(evenly(count, learning)))
    if len(questions) < FEW:
        questions = growing.sample(evenly(count, QUESTIONS))
    nearest = TopK(len(questions), min(K, count))
    for first in range(0, count, _CHUNK):
        rows = growing.rows(first, first + _CHUNK)
        index.add(rows)
        nearest.add(questions @ rows.T, np.arange(first, first + len(rows)))
    answers = nearest.best().ids
    if layout.lists:
        index.set_direct_map_type(faiss.DirectMap.Array)  # where each row is, so that rows can be had by number
        homes = faiss.vector_to_array(index.direct_map.array) >> 32
        _, order = index.quantizer.search(questions, layout.lists)
        homes = homes[answers]
        chosen = probes_for(target, order[::2], homes[::2], sure=SURE)
        index.nprobe = max(chosen, probes_for(target, order[1::2], homes[1::2]))
    _, found = index.search(questions[1::2], K)
    probes = int(index.nprobe) if layout.lists else 0
    measured = recall(found, answers[1::2])
    return index, Scan(layout.factory, count, layout.lists, probes, measured, len(found))


def _empty(dimension: int, layout: SegmentLayout) -> Any:
    index = faiss.index_factory(dimension, layout.factory, faiss.METRIC_INNER_PRODUCT)
    if layout.lists:
        index.cp.niter = _ROUNDS
        index.cp.min_points_per_centroid = 1  # else FAISS writes to stderr about a small segment
        if layout.codes == PLAIN.codes:
            index.by_residual = False  # the very numbers that a segment without lists has
    return index
