"""Exact search for many queries at once: compare them with all vectors of a segment by matrix products of blocks.

A scan for one query waits for memory: each vector is read, and used once. For many queries a block of vectors is read
once and used for all of them, and the product of two matrices is what processors do best: with a thousand queries a
scan of 105,600 vectors of 448 numbers takes a third of the time of separate scans. Few products matter: a row that does
not beat the n-th best of the blocks before is never looked at again (semsearch.arrays.top_k).
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import numpy.typing as npt

from semsearch.arrays.top_k import TopK

Float32 = npt.NDArray[np.float32]
Int64 = npt.NDArray[np.int64]

BLOCK = 4096  # vectors: they and their products with five hundred queries are fifteen megabytes


def compare_all(
    best: TopK,
    queries: Float32,
    rows: Int64,
    *,
    decode: Callable[[Int64], Float32],
    ids: Callable[[Int64], Int64],
    block: int = BLOCK,
) -> None:
    """Offer the inner products of queries with the vectors at some rows to the queries' best. (q, d), (r,)

    `decode` gives the vectors at rows, (r,) -> (r, d); `ids` their ids, (r,) -> (r,).
    """
    shape = len(queries), min(block, len(rows))
    products: Float32 = np.empty(shape, dtype=np.float32)  # once: fresh memory takes longer than the product
    for first in range(0, len(rows), block):
        some = rows[first : first + block]
        best.add(np.matmul(queries, decode(some).T, out=products[:, : len(some)]), ids(some))
