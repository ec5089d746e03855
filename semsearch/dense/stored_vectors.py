"""Vectors that were fetched by their ids, their cosines with queries, pair by pair, and codes as FAISS scans them.

Work too small to share runs in one thread of FAISS: to wake others takes longer, and on a busy machine long.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np

from semsearch.arrays.types import Float32, Float64, Int64, UInt8
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

_FEW = 20_000  # pairs of vectors: fewer are multiplied before another thread has woken up


@dataclass(frozen=True, slots=True)
class StoredVectors:
    """The stored vectors of some passages or sentences: those of the ids at some positions among n. (m,), (m, d)"""

    positions: Int64
    rows: Float32
    n: int

    def with_rows(self, rows: Float32) -> StoredVectors:
        """Other vectors, such as a part of each, at the same positions. (m, d')"""
        return StoredVectors(self.positions, rows, self.n)

    def at(self, which: Int64) -> StoredVectors:
        """The vectors of some of the n, in this order. (m,)"""
        numbers = np.full(self.n, -1)
        numbers[self.positions] = np.arange(len(self.rows))
        of = numbers[which]
        known = np.flatnonzero(of >= 0)
        return StoredVectors(known, self.rows.take(of[known], axis=0), len(which))

    def cosines(self, queries: Float32, owners: Int64, which: Int64) -> Float64:
        """The cosine of a query and one of the n, for pairs of both. (q, d), (p,), (p,) -> (p,)

        NaN without a vector, or where either is zero.
        """
        result = np.full(len(which), np.nan)
        if not len(self.rows) or not queries.any():
            return result
        rows, numbers = self.rows, np.full(self.n, -1)
        numbers[self.positions] = np.arange(len(rows))
        of = numbers[which]
        known = np.flatnonzero(of >= 0) if len(rows) < self.n else slice(None)
        of, owners = of[known], owners[known]
        scores = inner_products(queries, owners, rows, of).astype(np.float64)
        silent = np.flatnonzero(scores == 0)
        if len(silent):
            scores[silent[~(rows[of[silent]].any(axis=1) & queries[owners[silent]].any(axis=1))]] = np.nan
        result[known] = scores
        return result

    def by_position(self) -> StoredVectors:
        """Sort the vectors by their positions."""
        if not (np.diff(self.positions) < 0).any():
            return self
        order = np.argsort(self.positions)
        return StoredVectors(self.positions[order], self.rows[order], self.n)


def as_stored(rows: Float32) -> StoredVectors:
    """Vectors that were made just now, to be compared as stored ones are. (n, d)"""
    return StoredVectors(np.arange(len(rows)), rows, len(rows))


def nothing_stored(n: int) -> StoredVectors:
    """The stored vectors of n ids that have none."""
    return StoredVectors(np.zeros(0, dtype=np.int64), np.zeros((0, 0), dtype=np.float32), n)


def inner_products(left: Float32, lefts: Int64, right: Float32, rights: Int64) -> Float32:
    """The inner products of pairs of rows, by their numbers; no row is copied. (l, d), (p,), (r, d), (p,) -> (p,)"""
    products: Float32 = np.empty(len(lefts), dtype=np.float32)
    arrays = [np.ascontiguousarray(each) for each in (left, lefts, right, rights)] + [products]
    with in_one_thread(len(products) < _FEW):
        faiss.pairwise_indexed_inner_product(left.shape[1], len(products), *map(faiss.swig_ptr, arrays))
    return products


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
