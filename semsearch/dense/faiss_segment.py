"""Vector segments: files of unit vectors, written once (semsearch.dense.faiss_writer), never changed.

Half-precision floats in an inner-product index: half the memory to scan, so twice as fast, and no loss that a ranking
shows. A segment of many passages has an inverted file over the same half-precision floats (semsearch.dense.scan_plan),
so that a query reads only the vectors near it. Whatever the order in the file, a row's number is the position of its id
among the ids of the segment, which are kept in the database (semsearch.arrays.id_ranges).
"""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import faiss as _faiss
import numpy as np
import numpy.typing as npt

from semsearch.arrays.half_precision import to_single
from semsearch.arrays.id_ranges import IdRanges
from semsearch.arrays.top_k import TopKResult
from semsearch.dense.file_layout import UnknownLayout, layout_of
from semsearch.dense.one_thread import in_one_thread
from semsearch.errors import IndexDamaged, rebuild_command
from semsearch.storage.segments import Segment
from semsearch.system.checked_file import CheckedFile

Float16 = npt.NDArray[np.float16]
Float32 = npt.NDArray[np.float32]
Int64 = npt.NDArray[np.int64]
UInt8 = npt.NDArray[np.uint8]
Bool = npt.NDArray[np.bool_]

faiss: Any = _faiss  # its stubs, where it has any, lag behind what it offers
_ROUNDING = 2e-3  # the error of a number in half precision, at most
_READ_WHOLE = 1 << 28  # bytes: of a file with lists that is checked before the first scan, at most
_COARSE = 2e-2  # the error of a number in eight bits, at most


class Vectors:
    """An opened segment of vectors. Memory-mapped: opening costs nothing, and a scan reads only what it compares.

    What is read is compared with its checksums the first time: by the first scan all, by a fetch what is fetched.
    Raises FileNotFoundError if the file has gone, IndexDamaged if it does not match the database.
    """

    def __init__(self, path: Path, segment: Segment) -> None:
        self.segment = segment
        cure = f"run: {rebuild_command(path.parents[1])}"
        if (size := path.stat().st_size) != segment.size:
            raise IndexDamaged(f"{path} has {size} bytes, not {segment.size}; {cure}")
        self._file = CheckedFile(path, segment.sums)
        try:
            self._layout = layout_of(self._file.data)
            self._index = faiss.read_index(str(path), faiss.IO_FLAG_MMAP_IFC)
        except (UnknownLayout, RuntimeError) as error:
            raise IndexDamaged(f"{path} is not a vector file; {cure}") from error
        if self._index.ntotal != len(segment.id_ranges):
            raise IndexDamaged(f"{path} has {self._index.ntotal} vectors, not {len(segment.id_ranges)}; {cure}")
        self._has_lists = isinstance(self._index, faiss.IndexIVF)
        if not self._has_lists:
            self._codes = _codes(self._index)
            self._start = segment.size - self._codes.size  # the last of the file
            quantizer = getattr(self._index, "sq", None)
            self._is_half = quantizer is not None and quantizer.qtype == faiss.ScalarQuantizer.QT_fp16

    @property
    def dimension(self) -> int:
        """The length of the vectors."""
        return int(self._index.d)

    @property
    def compares_all(self) -> bool:
        """Return whether a scan compares every row, since there are no lists."""
        return not self._has_lists

    @property
    def rounding(self) -> float:
        """The largest rounding error of a number in a stored vector."""
        codes = getattr(self._index, "sq", None)
        return _COARSE if codes is not None and codes.qtype == faiss.ScalarQuantizer.QT_8bit else _ROUNDING

    def scan(self, queries: Float32, n: int, *, allowed: Bool | None = None, exact: bool = False) -> TopKResult:
        """Find the n allowed rows with the largest inner product with each query. (q, d), (rows,) -> (q, n)

        With lists, only the nearest lists are searched: the fewer rows are allowed, the more lists, so that about as
        many allowed rows are compared, or all lists if that takes no more; `exact` searches all lists.
        """
        self._check()
        probes = (self._index.nlist if exact else self._probes(allowed)) if self._has_lists else 0
        try:
            return scanned(self._index, self.segment.id_ranges, queries, n, allowed=allowed, probes=probes)
        except IndexError as error:
            raise self._damage() from error

    def _check(self) -> None:
        """Compare the file with its checksums, once. One with lists and of more than some megabytes is not read for it:
        a query reads a small part of it, and which that is only FAISS knows.
        """
        if not self._has_lists or self.segment.size <= _READ_WHOLE:
            self._file.check()

    def _damage(self) -> IndexDamaged:
        path = self._file.path
        return IndexDamaged(
            f"{path} is damaged: it names vectors that it does not have; run: {rebuild_command(path.parents[1])}"
        )

    def _probes(self, allowed: Bool | None) -> int:
        """The number of lists to search."""
        lists, probes = int(self._index.nlist), int(self._index.nprobe)
        share = 1.0 if allowed is None else float(np.count_nonzero(allowed)) / len(allowed)
        return lists if share * lists <= probes else min(lists, math.ceil(probes / share))

    def rows(self, rows: Int64) -> Float32:
        """The vectors at given rows. (n,) -> (n, d)"""
        if self._has_lists:
            self._check()
            if not self._layout.are_there(rows):
                raise self._damage()
            return np.asarray(self._index.reconstruct_batch(rows), dtype=np.float32)
        self._file.check_each(self._start + rows * self._codes.shape[1], self._codes.shape[1])
        codes = self._codes.take(rows, axis=0)
        return to_single(codes.view(np.int16)) if self._is_half else np.asarray(self._index.sa_decode(codes))


class HeldVectors:
    """An opened segment whose vectors are held in memory, as half-precision floats. Threads may share it."""

    compares_all = True
    rounding = _ROUNDING

    def __init__(self, segment: Segment, rows: Float16) -> None:
        """Hold a copy of vectors in the order of the segment's ids. (n, d)"""
        self.segment = segment
        self.dimension = rows.shape[1]
        self._index = faiss.IndexScalarQuantizer(
            self.dimension, faiss.ScalarQuantizer.QT_fp16, faiss.METRIC_INNER_PRODUCT
        )
        self._index.add_sa_codes(np.ascontiguousarray(rows).view(np.uint8))
        self._codes = _codes(self._index)

    def scan(self, queries: Float32, n: int, *, allowed: Bool | None = None) -> TopKResult:
        """Find the n allowed rows with the largest inner product with each query. (q, d), (rows,) -> (q, n)"""
        return scanned(self._index, self.segment.id_ranges, queries, n, allowed=allowed)

    def rows(self, rows: Int64) -> Float32:
        """The vectors at given rows. (n,) -> (n, d)"""
        return to_single(self._codes.take(rows, axis=0).view(np.int16))


def scanned(
    index: Any, id_ranges: IdRanges, queries: Float32, n: int, *, allowed: Bool | None = None, probes: int = 0
) -> TopKResult:
    """Scan an index of FAISS for the n best allowed rows; `probes` of its lists, if it has any. (q, d) -> (q, n)

    Raises IndexError if its lists name rows that there are not.
    """
    selected: dict[str, Any] = {}
    if allowed is not None:
        bits = np.packbits(allowed, bitorder="little")
        selected["sel"] = faiss.IDSelectorBitmap(bits)  # does not copy: `bits` must outlive the search
    parameters = faiss.SearchParametersIVF(nprobe=probes, **selected) if probes else faiss.SearchParameters(**selected)
    with in_one_thread(len(queries) == 1):  # FAISS shares queries, not rows
        scores, rows = index.search(queries, n, params=parameters)
    if probes and rows.size and rows.max() >= len(id_ranges):
        raise IndexError(f"there is no row {rows.max()}")
    ids = id_ranges.ids(np.maximum(rows, 0))
    if (none := rows < 0).any():
        scores[none], ids[none] = -np.inf, -1
    return TopKResult(scores, ids)


def _codes(index: Any) -> UInt8:
    """The codes of an index without lists, as a view of its memory. (n, bytes a vector)"""
    shape = (index.ntotal, index.code_size)
    return np.asarray(faiss.rev_swig_ptr(index.codes.data(), shape[0] * shape[1])).reshape(shape)
