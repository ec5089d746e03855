"""Where a hit's score comes from: the question, and how the scores of its answer were put together. Plain frozen data.

A hit carries its origin, so that its score can be explained wherever it has been in the meantime.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

from semsearch.results.codec import ONLY_IF_SET, Record

Mode = Literal["hybrid", "dense", "lexical"]


@dataclass(frozen=True, slots=True)
class Weights(Record):
    """How scores become one: dense · cosine + lexical · BM25 / best + near · mean cosine with the best passages."""

    dense: float
    lexical: float
    best: float = 1.0
    near: float = 0.0


@dataclass(frozen=True, slots=True)
class Rerank(Record):
    """The part of the score that a reranker added.

    points = weight · (said - mean) / deviation, where mean and deviation are those of what it said of all that it read.
    """

    points: float
    weight: float
    said: float  # of this passage
    mean: float
    deviation: float  # above zero


@dataclass(frozen=True, slots=True)
class Origin(Record):
    """The answer that a hit is from."""

    query: str
    mode: Mode
    generation: int  # of the index that answered
    weights: Weights
    models: tuple[int, ...]  # ids of the passages that nearness is to
    rerank: Rerank | None = field(default=None, metadata=ONLY_IF_SET)
