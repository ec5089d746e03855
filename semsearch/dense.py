"""Vector segments: files of unit vectors, written once, never changed. The only file that knows FAISS.

Half-precision floats by an inner-product index: half the memory to scan, so twice as fast, and no loss that a ranking
shows. A row's number is its place in the file; which id it belongs to is kept in the database (semsearch.runs).
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import faiss as _faiss
import numpy as np
import numpy.typing as npt

from semsearch.durable import write_durably
from semsearch.errors import IndexDamaged, rebuild_command
from semsearch.runs import Runs
from semsearch.segments import Found, Kind, Segment, segment_name

faiss: Any = _faiss  # its stubs, where it has any, lag behind what it offers
Float32 = npt.NDArray[np.float32]
Int64 = npt.NDArray[np.int64]
Bool = npt.NDArray[np.bool_]


class Vectors:
    """An opened segment. Memory-mapped: opening costs nothing, and a scan reads the file once.

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
        shape = (self._index.ntotal, self._index.code_size)
        self._codes = faiss.rev_swig_ptr(self._index.codes.data(), shape[0] * shape[1]).reshape(shape)

    @property
    def dimension(self) -> int:
        return int(self._index.d)

    def scan(self, queries: Float32, n: int, *, allowed: Bool | None = None) -> Found:
        """The best n rows for each query by inner product, among the allowed ones. (q, d), (rows,) -> (q, n)"""
        if allowed is None:
            scores, rows = self._index.search(queries, n)
        else:
            bits = np.packbits(allowed, bitorder="little")
            selector = faiss.IDSelectorBitmap(bits)  # does not copy: `bits` must outlive the search
            scores, rows = self._index.search(queries, n, params=faiss.SearchParameters(sel=selector))
        ids = np.where(rows < 0, -1, self.segment.runs.ids(np.maximum(rows, 0)))
        return Found(scores, ids)

    def rows(self, rows: Int64) -> Float32:
        """The vectors at these rows. (n,) -> (n, d)"""
        return np.asarray(self._index.sa_decode(self._codes[rows]), dtype=np.float32)


class SegmentWriter:
    """Collects vectors of one kind and writes them as segments of at most `largest` vectors each.

    Each file is written under a temporary name, flushed to the disk and renamed; it counts for nothing until the
    database names it.
    """

    def __init__(self, folder: Path, kind: Kind, *, generation: int, largest: int) -> None:
        self.folder = folder
        self.kind: Kind = kind
        self.generation = generation
        self.largest = largest
        self.segments: list[Segment] = []
        self._index: Any = None
        self._ids: list[Int64] = []

    def add(self, ids: Int64, vectors: Float32) -> None:
        """Append vectors (n, d) with rising ids (n,)."""
        while len(ids):
            if self._index is None:
                self._index = faiss.IndexScalarQuantizer(
                    vectors.shape[1], faiss.ScalarQuantizer.QT_fp16, faiss.METRIC_INNER_PRODUCT
                )
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
        name = segment_name(self.kind, self.generation)
        written = write_durably(
            self.folder / name, lambda write: faiss.write_index(self._index, faiss.PyCallbackIOWriter(write))
        )
        runs = Runs.of_ids(np.concatenate(self._ids))
        self.segments.append(Segment(self.kind, name, written.size, runs, written.digest))
        self._index, self._ids = None, []
