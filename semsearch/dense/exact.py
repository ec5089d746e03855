"""Many questions compared with all vectors of a segment at once, as matrix products of blocks.

A scan for one question waits for memory: each vector is read, and used once. For many questions a block of vectors is
read once and used for all of them, and the product of two matrices is what processors do best: with a thousand
questions a scan of 105,600 vectors of 448 numbers takes a third of what each would take by itself. Few products matter:
a row that does not beat the n-th best of the blocks before is never looked at again (semsearch.arrays.top_k).
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import numpy.typing as npt

from semsearch.arrays.top_k import TopK

Float32 = npt.NDArray[np.float32]
Int64 = npt.NDArray[np.int64]

MANY = 32  # questions from which matrix products take less time than a scan for each
AT_ONCE = 512  # questions
BLOCK = 4096  # vectors: they and their products with the questions are fifteen megabytes


def compare_all(
    best: TopK,
    questions: Float32,
    rows: Int64,
    *,
    decode: Callable[[Int64], Float32],
    ids: Callable[[Int64], Int64],
    block: int = BLOCK,
) -> None:
    """Offer the inner products of questions with the vectors at some rows to the questions' best. (q, d), (r,)

    `decode` gives the vectors at rows, (r,) -> (r, d); `ids` their ids, (r,) -> (r,).
    """
    shape = len(questions), min(block, len(rows))
    products: Float32 = np.empty(shape, dtype=np.float32)  # once: fresh memory takes longer than the product
    for first in range(0, len(rows), block):
        some = rows[first : first + block]
        best.add(np.matmul(questions, decode(some).T, out=products[:, : len(some)]), ids(some))
