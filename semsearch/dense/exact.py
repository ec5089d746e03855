"""Many questions compared with all vectors of a segment at once, as matrix products of blocks.

A scan for one question waits for memory: each vector is read, and used once. For many questions a block of vectors is
read once and used for all of them, and the product of two matrices is what processors do best: with a thousand
questions a scan of 105,600 vectors of 448 numbers takes a third of what each would take by itself. Few products matter:
a row that does not beat the n-th best of the blocks before is never looked at again.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

Float32 = npt.NDArray[np.float32]
Int64 = npt.NDArray[np.int64]
Bool = npt.NDArray[np.bool_]

BLOCK = 4096  # vectors: they and their products with the questions are fifteen megabytes
_QUESTIONS = 512  # at a time


@dataclass(frozen=True, slots=True)
class Best:
    """The best rows of each of q questions, best first, of equal ones the first: scores and rows (q, ≤ n).

    Where there are fewer than n, the row -1 stands for none.
    """

    scores: Float32
    rows: Int64


def best_rows(
    decode: Callable[[Int64], Float32],
    count: int,
    queries: Float32,
    n: int,
    *,
    allowed: Bool | None = None,
    block: int = BLOCK,
) -> Best:
    """The n rows with the largest inner products for each query, among the allowed ones of `count`. (q, d)

    `decode` gives the vectors at some rows. (r,) -> (r, d)
    """
    candidates = np.arange(count) if allowed is None else np.flatnonzero(allowed)
    parts = [
        _best_of_some(decode, candidates, queries[first : first + _QUESTIONS], n, block)
        for first in range(0, len(queries), _QUESTIONS)
    ]
    if not parts:
        return Best(np.zeros((0, n), np.float32), np.zeros((0, n), np.int64))
    return Best(np.concatenate([part.scores for part in parts]), np.concatenate([part.rows for part in parts]))


def _best_of_some(decode: Callable[[Int64], Float32], candidates: Int64, queries: Float32, n: int, block: int) -> Best:
    gathered = _Gathered(len(queries), n)
    products: Float32 = np.empty((len(queries), block), dtype=np.float32)  # fresh memory takes longer than the product
    for first in range(0, len(candidates), block):
        rows = candidates[first : first + block]
        gathered.add(np.matmul(queries, decode(rows).T, out=products[:, : len(rows)]), rows)
    return gathered.best()


class _Gathered:
    """What beat the n-th best so far, thinned out whenever it is twice as much as is wanted."""

    def __init__(self, questions: int, n: int) -> None:
        self._best = Best(np.full((questions, n), -np.inf, np.float32), np.full((questions, n), -1, np.int64))
        self._scores: list[Float32] = []
        self._rows: list[Int64] = []
        self._owners: list[Int64] = []  # which question
        self._seen = self._size = 0

    def add(self, products: Float32, rows: Int64) -> None:
        """Products of all questions with further rows. (q, r), (r,)"""
        n = self._best.rows.shape[1]
        if products.shape[1] > 2 * n and not self._seen:
            edge = products.shape[1] - n
            places = np.flatnonzero(products >= np.partition(products, edge, axis=1)[:, edge, None])
        else:
            places = np.flatnonzero(products > self._best.scores[:, -1:])
        owners, columns = np.divmod(places, max(products.shape[1], 1))
        self._scores.append(products.ravel()[places])
        self._rows.append(rows[columns])
        self._owners.append(owners)
        self._size += len(places)
        if not self._seen or self._size > n * len(products):
            self._thin()
        self._seen += len(rows)

    def _thin(self) -> None:
        """Keep the n best of each question, in order."""
        questions, n = self._best.rows.shape
        owners = np.concatenate((np.repeat(np.arange(questions), n), *self._owners)).astype(np.int16)
        order = np.argsort(owners, kind="stable")  # of so small numbers by counting, in the order they came
        owners, counts = owners[order], np.bincount(owners, minlength=questions)
        place = np.arange(len(owners)) - np.repeat(np.cumsum(counts) - counts, counts)
        scores: Float32 = np.full((questions, int(counts.max(initial=0))), -np.inf, dtype=np.float32)
        rows = np.full(scores.shape, -1)
        scores[owners, place] = np.concatenate((self._best.scores.ravel(), *self._scores))[order]
        rows[owners, place] = np.concatenate((self._best.rows.ravel(), *self._rows))[order]
        best = np.argsort(-scores, axis=1, kind="stable")[:, :n]  # of equal ones the first: rows come rising
        self._best = Best(np.take_along_axis(scores, best, axis=1), np.take_along_axis(rows, best, axis=1))
        self._scores, self._rows, self._owners, self._size = [], [], [], 0

    def best(self) -> Best:
        """Of all that was added."""
        if self._size:
            self._thin()
        return self._best
