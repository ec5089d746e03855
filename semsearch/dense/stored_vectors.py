"""Vectors that were fetched by their ids, their indexes in FAISS as it writes them, and codes as it scans them.

Work too small to share runs in one thread of FAISS: to wake others takes longer, and on a busy machine long.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np

from semsearch.arrays.types import Float32, Int64, UInt8
from semsearch.storage.segments import Kind
from semsearch.system.memory import VECTOR_SEARCH, require_memory

require_memory(VECTOR_SEARCH, "to search vectors")
import faiss as _faiss  # noqa: E402  # without that memory it crashes while it is loaded

faiss: Any = _faiss  # its stubs, where it has any, lag behind what it offers


@contextmanager
def in_one_thread(wanted: bool) -> Iterator[None]:
    """Let FAISS use one thread while the block runs, if it is wanted. It concerns the calling thread only.

    What FAISS returns is the same, with however many threads.
    """
    if not wanted:
        yield
        return
    before = faiss.omp_get_max_threads()
    faiss.omp_set_num_threads(1)
    try:
        yield
    finally:
        faiss.omp_set_num_threads(before)


def _alone() -> None:
    """In a child that was forked, the threads that FAISS would wait for are not there."""
    faiss.omp_set_num_threads(1)


if hasattr(os, "register_at_fork"):  # not on Windows
    os.register_at_fork(after_in_child=_alone)


# -- Stored ------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class StoredVectors:
    """The stored vectors of some passages or sentences: those of the ids at some positions among n. (m,), (m, d)"""

    positions: Int64
    rows: Float32
    n: int

    def by_position(self) -> StoredVectors:
        """Sort the vectors by their positions."""
        if not (np.diff(self.positions) < 0).any():
            return self
        order = np.argsort(self.positions)
        return StoredVectors(self.positions[order], self.rows[order], self.n)


def nothing_stored(n: int) -> StoredVectors:
    """The stored vectors of n ids that have none."""
    return StoredVectors(np.zeros(0, dtype=np.int64), np.zeros((0, 0), dtype=np.float32), n)


# -- Codes -------------------------------------------------------------------------------------------------------------

PACKED = 32  # vectors whose codes are packed together


def fast_scan(centroids: Float32, blocks: UInt8, count: int) -> Any:
    """An index of FAISS over codes that are packed in blocks. (d / 2, 16, 2), (bytes,)"""
    parts, _, width = centroids.shape
    index = faiss.IndexPQFastScan(parts * width, parts, 4, faiss.METRIC_INNER_PRODUCT, PACKED)
    faiss.copy_array_to_vector(np.ascontiguousarray(centroids, dtype=np.float32).ravel(), index.pq.centroids)
    index.codes.resize(len(blocks))
    if len(blocks):
        faiss.rev_swig_ptr(index.codes.get(), len(blocks))[:] = blocks
    index.is_trained, index.ntotal, index.ntotal2 = True, count, -(-count // PACKED) * PACKED
    return index


def plain_index(dimension: int, kind: Kind) -> Any:
    """An empty index of FAISS for vectors of a kind: signed bytes for sentences, half-precision floats for passages."""
    of = faiss.ScalarQuantizer
    quantizer = of.QT_8bit_direct_signed if kind == "sentence" else of.QT_fp16
    return faiss.IndexScalarQuantizer(dimension, quantizer, faiss.METRIC_INNER_PRODUCT)


@lru_cache(maxsize=16)
def beginning(dimension: int, count: int, kind: Kind) -> bytes:
    """The bytes that FAISS writes before so many vectors; the last eight are the size of these in bytes."""
    index, parts = plain_index(dimension, kind), list[bytes]()
    index.ntotal = count
    faiss.write_index(index, faiss.PyCallbackIOWriter(lambda data: parts.append(bytes(data))))
    return b"".join(parts)[:-8] + np.array([count * index.code_size], dtype="<u8").tobytes()
