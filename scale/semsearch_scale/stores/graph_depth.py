"""How far a graph (HNSW) is searched: the least depth that reaches the target recall, measured on a written segment."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from semsearch.arrays.top_k import TopK, TopKResult
from semsearch.arrays.types import Float32, Int64
from semsearch.dense.scan_plan import EQUAL, FEW, QUESTIONS, K, evenly, least_step
from semsearch.dense.vector_store import Questions
from semsearch.results.reports import Scan


@dataclass(frozen=True, slots=True)
class ReadBack:
    """What a segment contains: the digest of its bytes, the number of vectors, the K best scores of each question."""

    digest: str
    count: int
    best: Float32  # (q, ≤ K)


def read_back(parts: Iterable[tuple[bytes, Float32]], asked: Float32 | None = None) -> ReadBack:
    """Read a segment, given as bytes and vectors (n, d) at a time. `asked`: questions (q, d) to compare with all."""
    digest, count = hashlib.blake2b(digest_size=16), 0
    nearest = TopK(0 if asked is None else len(asked), K)
    for data, vectors in parts:
        digest.update(data)
        if asked is not None:
            nearest.add(asked @ vectors.T, np.arange(count, count + len(vectors)))
        count += len(vectors)
    best = nearest.best().scores if asked is not None else np.zeros((0, 0), np.float32)
    return ReadBack(digest.hexdigest(), count, best)


def questions_about(ids: Int64, questions: Questions | None, rows: Callable[[Int64], Float32]) -> Float32:
    """Questions to measure recall with; some of the segment's vectors if there are too few. (q, d)"""
    sample = evenly(len(ids), QUESTIONS)
    asked = questions(ids[sample]) if questions is not None else np.zeros((0, 0), np.float32)
    return asked if len(asked) >= FEW else rows(sample)


def measured(
    factory: str,
    steps: Sequence[int],
    scan: Callable[[Float32, int, int], TopKResult],
    *,
    asked: Float32,
    segment: ReadBack,
    target: float,
) -> Scan:
    """Choose the least of rising steps that reaches the target recall; `scan` takes queries, n and a step.

    A row with the score of the last of the best is as good as that one: there may be many with the same text.
    """
    n = segment.best.shape[1]
    last = segment.best[:, -1:] - EQUAL

    def shares(step: int, part: slice) -> Float32:
        return np.asarray((scan(asked[part], n, step).scores >= last[part]).mean(axis=1), dtype=np.float32)

    least = least_step(steps, shares, target)
    return Scan(factory, segment.count, 0, least.step, least.recall, least.questions)
