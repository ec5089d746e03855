"""The nearest rows among many: each row's neighbours, by which a map of all rows is laid out.

Comparing 100,000 passages with each other takes minutes. With an inverted file each is compared with the few lists
nearest to it, which finds nine of ten neighbours in a tenth of the time; a map needs no more. Few rows are compared
exactly. The lists come from a seed, so the same rows have the same neighbours every time.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from semsearch.arrays.id_ranges import evenly
from semsearch.arrays.types import Float32, Int64
from semsearch.dense.faiss_writer import faiss

Rows = Callable[[Int64], Float32]  # the vectors of rows by their numbers (m,) -> (m, d)
OnStep = Callable[[int, int], None]  # called with the rows or steps that are done, and their total

_EXACT = 5_000  # rows up to which all are compared with all
_PROBES = 6  # lists that a row is compared with: nine of ten neighbours, measured on 39,000 passages
_A_LIST = 64  # rows that each list's centre is learned from
_ROUNDS = 8
_BLOCK = 4_096  # rows that are decoded at a time


def neighbours_of_each(rows: Rows, n: int, k: int, *, on_step: OnStep) -> Int64:
    """The k nearest of each of n rows, itself left out; -1 where fewer were found. (n, k), k < n

    The inner product decides, so the rows are of length one or zero.
    """
    dimension = rows(np.zeros(1, dtype=np.int64)).shape[1]
    index = _learned(rows, n, dimension) if n > _EXACT else faiss.IndexFlatIP(dimension)
    for block in _blocks(n):
        index.add(rows(block))
    nearest = np.empty((n, k), dtype=np.int64)
    for block in _blocks(n):
        nearest[block] = _without_self(np.asarray(index.search(rows(block), k + 1)[1], dtype=np.int64), block)
        on_step(int(block[-1]) + 1, n)
    return nearest


def _learned(rows: Rows, n: int, dimension: int) -> Any:
    """An empty inverted file whose lists are learned from evenly spread rows. In half precision, as the store is."""
    lists = int(2 * n**0.5)
    index = faiss.IndexIVFScalarQuantizer(
        faiss.IndexFlatIP(dimension), dimension, lists, faiss.ScalarQuantizer.QT_fp16, faiss.METRIC_INNER_PRODUCT, False
    )
    index.nprobe = _PROBES
    index.cp.niter, index.cp.max_points_per_centroid = _ROUNDS, _A_LIST
    index.train(rows(evenly(n, lists * _A_LIST)))
    return index


def _without_self(nearest: Int64, block: Int64) -> Int64:
    """Leave out each row itself, or the last where a row was not found: it has many that are the same."""
    is_out = nearest == block[:, None]
    is_out[~is_out.any(axis=1), -1] = True
    return np.asarray(nearest[~is_out].reshape(len(nearest), -1))


def _blocks(n: int) -> Iterator[Int64]:
    for first in range(0, n, _BLOCK):
        yield np.arange(first, min(first + _BLOCK, n), dtype=np.int64)
