"""Vector segments: files of unit vectors, written once (semsearch.dense.faiss_writer), never changed.

Half-precision floats by an inner-product index: half the memory to scan, so twice as fast, and no loss that a ranking
shows. A segment of many passages has an inverted file over the same half-precision floats (semsearch.dense.scan_plan),
so that a question reads only what is near it. Whatever the order in the file, a row's number is its place among the ids
of the segment; which id it belongs to is kept in the database (semsearch.arrays.id_ranges).
"""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import faiss as _faiss
import numpy as np
import numpy.typing as npt

from semsearch.arrays.half_precision import to_single
from semsearch.arrays.top_k import Found
from semsearch.errors import IndexDamaged, rebuild_command
from semsearch.storage.segments import Segment

Float32 = npt.NDArray[np.float32]
Int64 = npt.NDArray[np.int64]
UInt8 = npt.NDArray[np.uint8]
Bool = npt.NDArray[np.bool_]

faiss: Any = _faiss  # its stubs, where it has any, lag behind what it offers
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
        ids = self.segment.runs.ids(np.maximum(rows, 0))
        if (none := rows < 0).any():
            scores[none], ids[none] = -np.inf, -1
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


def _codes(index: Any) -> UInt8:
    """What an index without lists holds, where it lies. (n, bytes a vector)"""
    shape = (index.ntotal, index.code_size)
    return np.asarray(faiss.rev_swig_ptr(index.codes.data(), shape[0] * shape[1])).reshape(shape)
