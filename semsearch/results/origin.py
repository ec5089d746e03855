"""The origin of a hit's score: the query, and how the parts of the scores were weighted. Plain frozen data.

A hit carries its origin, so that its score can still be explained after it was stored or sent elsewhere.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

from semsearch.results.codec import ONLY_IF_SET, Record

Mode = Literal["hybrid", "dense", "lexical"]


@dataclass(frozen=True, slots=True)
class Weights(Record):
    """The weights of a score's parts: dense · cosine + lexical · BM25 / best + near · mean cosine with the best."""

    dense: float
    lexical: float
    best: float = 1.0
    near: float = 0.0


@dataclass(frozen=True, slots=True)
class Rerank(Record):
    """The part of the score that a reranker added.

    points = weight · (said - mean) / deviation, with mean and deviation of the scores that it gave to all that it read.
    What it did not read counts as the least of what it read, and so keeps its place.
    """

    points: float
    weight: float
    said: float  # the score that it gave to this passage
    mean: float
    deviation: float  # above zero
    model: str | None = field(default=None, metadata=ONLY_IF_SET, kw_only=True)  # its name, if it is a model
    alone: float | None = field(default=None, metadata=ONLY_IF_SET, kw_only=True)  # of it, without what is like it
    unread: bool | None = field(default=None, metadata=ONLY_IF_SET, kw_only=True)  # true: not among what it read


@dataclass(frozen=True, slots=True)
class Fused(Record):
    """How a score of one index was made comparable with those of others that were asked together with it.

    Words are divided by the best BM25 of all indexes, and nearness, which is to the best passage of the hit's own
    index, counts by how good that passage is in relation to the best of all.
    """

    indexes: tuple[str, ...]  # that were asked
    alone: float  # the hit's score in its own index
    best: float  # the best BM25 of its own index
    near: float  # the share of nearness that is left, 0 to 1


@dataclass(frozen=True, slots=True)
class Boosted(Record):
    """The part of a score that a boost added: points = weight · share."""

    boost: str  # as it was given, without its points
    points: float
    weight: float  # its points
    share: float  # 1 where a filter holds; of recency, the less the older


@dataclass(frozen=True, slots=True)
class Origin(Record):
    """The query and the weights by which a hit was found."""

    query: str
    mode: Mode
    generation: int  # of the index that answered
    weights: Weights
    models: tuple[int, ...]  # ids of the passages that nearness is to
    text: str | None = field(default=None, metadata=ONLY_IF_SET, kw_only=True)  # compared, where it is not the query
    boosts: tuple[Boosted, ...] | None = field(default=None, metadata=ONLY_IF_SET, kw_only=True)
    rerank: Rerank | None = field(default=None, metadata=ONLY_IF_SET)
    fused: Fused | None = field(default=None, metadata=ONLY_IF_SET)  # where several indexes were asked
