"""Vector segments: files of unit vectors, written once, never changed. The only file that knows FAISS.

Half-precision floats by an inner-product index: half the memory to scan, so twice as fast, and no loss that a ranking
shows. A segment of many passages has an inverted file over the same half-precision floats (semsearch.scanning), so that
a question reads only what is near it. Whatever the order in the file, a row's number is its place among the ids of the
segment; which id it belongs to is kept in the database (semsearch.runs).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import faiss as _faiss
import numpy as np
import numpy.typing as npt

from semsearch.durable import write_durably
from semsearch.errors import IndexDamaged, rebuild_command
from semsearch.half_precision import to_single
from semsearch.runs import Runs
from semsearch.scanning import (
    PLAIN,
    QUESTIONS,
    SURE,
    TRAINING,
    K,
    Layout,
    Nearest,
    Scan,
    Scanning,
    evenly,
    probes_for,
    recall,
)
from semsearch.segments import Found, Kind, Segment, segment_name

faiss: Any = _faiss  # its stubs, where it has any, lag behind what it offers
Float32 = npt.NDArray[np.float32]
Int64 = npt.NDArray[np.int64]
UInt8 = npt.NDArray[np.uint8]
Bool = npt.NDArray[np.bool_]
_CHUNK = 1 << 14  # vectors decoded at a time
_ROUNDS = 6  # of learning centroids: more of them find no more
_LEARNING = 1 << 16  # vectors that eight-bit codes learn their range from
_FEW = 16  # questions: fewer measure nothing
_ROUNDING = 2e-3  # what half precision may change of a number
_COARSE = 2e-2  # what eight bits may


class Vectors:
    """An opened segment. Memory-mapped: opening costs nothing, and a scan reads of the file what it compares.

    Raises FileNotFoundError where the file has gone, IndexDamaged where it is not what the database says.
    """

    def __init__(self, path: Path, segment: Segment) -> None:
        self.segment = segment
        cure = f"run: {rebuild_command(path.parents[1])}"
        if (size := path.stat().st_size) != segment.size:
            raise IndexDamaged(f"{path} has {size} bytes, not {segment.size}; {cure}")
        try:
            self._index = faiss.read_index(str(path), faiss.IO_FLAG_MMAP_IFC)
        except RuntimeError as error:
            raise IndexDamaged(f"{path} is not a vector file; {cure}") from error
        if self._index.ntotal != len(segment.runs):
            raise IndexDamaged(f"{path} has {self._index.ntotal} vectors, not {len(segment.runs)}; {cure}")
        self._has_lists = isinstance(self._index, faiss.IndexIVF)
        if not self._has_lists:
            self._codes = _codes(self._index)
            quantizer = getattr(self._index, "sq", None)
            self._is_half = quantizer is not None and quantizer.qtype == faiss.ScalarQuantizer.QT_fp16

    @property
    def dimension(self) -> int:
        return int(self._index.d)

    @property
    def compares_all(self) -> bool:
        """Whether a scan compares every row, having no lists to choose from."""
        return not self._has_lists

    @property
    def rounding(self) -> float:
        """How far a number of a stored vector may be from what was to be stored."""
        codes = getattr(self._index, "sq", None)
        return _COARSE if codes is not None and codes.qtype == faiss.ScalarQuantizer.QT_8bit else _ROUNDING

    def scan(self, queries: Float32, n: int, *, allowed: Bool | None = None, exact: bool = False) -> Found:
        """The best n rows for each query by inner product, among the allowed ones. (q, d), (rows,) -> (q, n)

        With lists, the best of those in the nearest lists: the fewer rows are allowed, the more lists, so that about as
        many allowed rows are compared, and all of them where that is no more; `exact` looks into all lists.
        """
        selected: dict[str, Any] = {}
        if allowed is not None:
            bits = np.packbits(allowed, bitorder="little")
            selected["sel"] = faiss.IDSelectorBitmap(bits)  # does not copy: `bits` must outlive the search
        if self._has_lists:
            probes = self._index.nlist if exact else self._probes(allowed)
            parameters = faiss.SearchParametersIVF(nprobe=probes, **selected)
        else:
            parameters = faiss.SearchParameters(**selected)
        scores, rows = self._index.search(queries, n, params=parameters)
        ids = np.where(rows < 0, -1, self.segment.runs.ids(np.maximum(rows, 0)))
        return Found(scores, ids)

    def _probes(self, allowed: Bool | None) -> int:
        """How many lists to look into."""
        lists, probes = int(self._index.nlist), int(self._index.nprobe)
        share = 1.0 if allowed is None else float(np.count_nonzero(allowed)) / len(allowed)
        return lists if share * lists <= probes else min(lists, math.ceil(probes / share))

    def rows(self, rows: Int64) -> Float32:
        """The vectors at these rows. (n,) -> (n, d)"""
        if self._has_lists:
            return np.asarray(self._index.reconstruct_batch(rows), dtype=np.float32)
        codes = self._codes.take(rows, axis=0)
        return to_single(codes.view(np.int16)) if self._is_half else np.asarray(self._index.sa_decode(codes))


def inner_products(left: Float32, lefts: Int64, right: Float32, rights: Int64) -> Float32:
    """Of pairs of rows, by their numbers, without copying a row. (l, d), (p,), (r, d), (p,) -> (p,)"""
    products: Float32 = np.empty(len(lefts), dtype=np.float32)
    arrays = [np.ascontiguousarray(each) for each in (left, lefts, right, rights)] + [products]
    faiss.pairwise_indexed_inner_product(left.shape[1], len(products), *map(faiss.swig_ptr, arrays))
    return products


class SegmentWriter:
    """Collects vectors of one kind and writes them as segments of at most `largest` vectors each.

    Those that are scanned may get lists, as `scanning` says; `questions` embeds questions about passages with these
    ids, to measure with. Each file is written under a temporary name, flushed to the disk and renamed; it counts for
    nothing until the database names it.
    """

    def __init__(
        self,
        folder: Path,
        kind: Kind,
        *,
        generation: int,
        largest: int,
        scanning: Scanning | None = None,
        questions: Callable[[Int64], Float32] | None = None,
    ) -> None:
        self.folder = folder
        self.kind: Kind = kind
        self.generation = generation
        self.largest = largest
        self.segments: list[Segment] = []
        self._scanning = scanning
        self._questions = questions
        self._index: Any = None
        self._ids: list[Int64] = []

    def add(self, ids: Int64, vectors: Float32) -> None:
        """Append vectors (n, d) with rising ids (n,)."""
        while len(ids):
            if self._index is None:
                self._index = _plain(vectors.shape[1])
            room = self.largest - self._index.ntotal
            self._index.add(np.ascontiguousarray(vectors[:room]))
            self._ids.append(ids[:room])
            ids, vectors = ids[room:], vectors[room:]
            if self._index.ntotal == self.largest:
                self._write()

    def finish(self) -> list[Segment]:
        """Write what is left; all segments of this writer."""
        if self._index is not None:
            self._write()
        return self.segments

    def _write(self) -> None:
        ids, index, scan = np.concatenate(self._ids), self._index, None
        self._index, self._ids = None, []  # so that the vectors are not held twice while they are written
        layout = PLAIN if self._scanning is None else self._scanning.layout(len(ids))
        if self._scanning is not None and layout != PLAIN:
            asked: Float32 = np.zeros((0, 0), np.float32)
            if self._questions is not None:
                asked = self._questions(ids[evenly(len(ids), QUESTIONS)])
            index, scan = _laid_out(index, layout, self._scanning.target_recall, asked)
        name = segment_name(self.kind, self.generation)
        written = write_durably(
            self.folder / name, lambda write: faiss.write_index(index, faiss.PyCallbackIOWriter(write))
        )
        self.segments.append(Segment(self.kind, name, written.size, Runs.of_ids(ids), written.digest, scan))


def _plain(dimension: int) -> Any:
    return faiss.IndexScalarQuantizer(dimension, faiss.ScalarQuantizer.QT_fp16, faiss.METRIC_INNER_PRODUCT)


def _codes(index: Any) -> UInt8:
    """What an index without lists holds, where it lies. (n, bytes a vector)"""
    shape = (index.ntotal, index.code_size)
    return np.asarray(faiss.rev_swig_ptr(index.codes.data(), shape[0] * shape[1])).reshape(shape)


def _laid_out(plain: Any, layout: Layout, target: float, questions: Float32) -> tuple[Any, Scan]:
    """The vectors in lists or rounded, and what a scan of them finds for questions (q, d).

    Where there are too few questions to measure with, some of the vectors are asked.
    """
    codes = _codes(plain)
    index = _empty(plain.d, layout)
    learning = max(layout.lists * TRAINING, 0 if layout.codes == PLAIN.codes else _LEARNING)
    index.train(plain.sa_decode(codes[evenly(len(codes), learning)]))
    if len(questions) < _FEW:
        questions = plain.sa_decode(codes[evenly(len(codes), QUESTIONS)])
    nearest = Nearest(questions)
    for first in range(0, len(codes), _CHUNK):
        rows = plain.sa_decode(codes[first : first + _CHUNK])
        index.add(rows)
        nearest.add(rows)
    if layout.lists:
        index.set_direct_map_type(faiss.DirectMap.Array)  # where each row is, so that rows can be had by number
        homes = faiss.vector_to_array(index.direct_map.array) >> 32
        _, order = index.quantizer.search(questions, layout.lists)
        homes = homes[nearest.rows]
        chosen = probes_for(target, order[::2], homes[::2], sure=SURE)
        index.nprobe = max(chosen, probes_for(target, order[1::2], homes[1::2]))
    _, found = index.search(questions[1::2], K)
    probes = int(index.nprobe) if layout.lists else 0
    measured = recall(found, nearest.rows[1::2])
    return index, Scan(layout.factory, len(codes), layout.lists, probes, measured, len(found))


def _empty(dimension: int, layout: Layout) -> Any:
    index = faiss.index_factory(dimension, layout.factory, faiss.METRIC_INNER_PRODUCT)
    if layout.lists:
        index.cp.niter = _ROUNDS
        index.cp.min_points_per_centroid = 1  # else FAISS writes to stderr about a small segment
        if layout.codes == PLAIN.codes:
            index.by_residual = False  # the very numbers that a segment without lists has
    return index
