"""The record of a hit's score, stage by stage: `Origin`. By it the score can be explained after the hit was stored or
sent elsewhere (semsearch.results.explanation).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import reduce
from operator import add

from semsearch.results.codec import ONLY_IF_SET, Record
from semsearch.results.options import Mode


@dataclass(frozen=True, slots=True)
class Weights(Record):
    """The weights of the score components: dense · cosine + lexical · BM25 / best + near · cosine with the best
    passage."""

    dense: float
    lexical: float
    best: float = 1.0
    near: float = 0.0


@dataclass(frozen=True, slots=True)
class Rerank(Record):
    """The score component of a reranker.

    points = weight · (said - mean) / deviation, with mean and deviation of its scores of all passages that it read.
    A passage that it did not read gets the least of these scores, and so keeps its rank.
    """

    points: float
    weight: float
    said: float  # the reranker's score of this passage
    mean: float
    deviation: float  # standard deviation of its scores, above zero
    model: str | None = field(default=None, metadata=ONLY_IF_SET, kw_only=True)  # name, if it is a model
    # its score of this passage without similar ones
    alone: float | None = field(default=None, metadata=ONLY_IF_SET, kw_only=True)
    unread: bool | None = field(default=None, metadata=ONLY_IF_SET, kw_only=True)  # true: it did not read the passage


@dataclass(frozen=True, slots=True)
class Fused(Record):
    """How a score of one index was made comparable with those of the other indexes of a multi-index search.

    BM25 is divided by the best of all indexes. Relevance feedback comes from the best passage of the hit's own index,
    and counts by the square of the share that its score is of the best score of all.
    """

    indexes: tuple[str, ...]  # names of the indexes that were searched
    alone: float  # the hit's score before it was compared with those of other indexes
    best: float  # the best BM25 of its own index
    near: float  # the remaining share of the feedback, 0 to 1


@dataclass(frozen=True, slots=True)
class Boosted(Record):
    """The score component of a boost: points = weight · share."""

    boost: str  # text of the boost, without its points
    points: float
    weight: float  # points of the boost
    share: float  # 1 where a filter holds; of recency, the less the older


@dataclass(frozen=True, slots=True)
class ExactPart(Record):
    """A part of the query that stands literally in a passage, such as an identifier or a quoted phrase."""

    text: str
    as_typed: bool  # false: only in other case
    passages: int  # number of passages that have it


@dataclass(frozen=True, slots=True)
class ExactWords(Record):
    """The score component of exact words: what brings passages that have parts of the query literally to the front."""

    points: float
    parts: tuple[ExactPart, ...]


@dataclass(frozen=True, slots=True)
class Correction(Record):
    """A misspelt word of a query, which no passage has, and what was searched for instead."""

    asked: str
    instead: str

    @property
    def sentence(self) -> str:
        """The correction as a sentence for people."""
        what = f"no passage has “{self.asked}”: searched for “{self.instead}”"
        return f'{what}; to search for exactly that, quote it: "{self.asked}"'


@dataclass(frozen=True, slots=True)
class Relevance(Record):
    """The probability that a passage answers, and its features."""

    probability: float  # 0 to 1
    cosine: float | None  # cosine of the best passage, as in the dense component; None without a vector of the query
    trust: float | None  # how much the cosine counts, 0 to 1: less where the cosines with all passages differ widely
    words: float | None  # BM25 of the best passage, relative to the weight of the query's words; None in dense mode
    share: float  # share of the score of the best passage, both without boosts and exact words
    unknown: float  # share of the query's words without a vector of their own; 0 in lexical mode


@dataclass(frozen=True, slots=True)
class Origin(Record):
    """The query by which a hit was found, and the record of its score: the points of each stage, which sum to it."""

    query: str
    mode: Mode
    generation: int  # generation of the index that answered
    weights: Weights
    # text that was compared, where it is not the query
    text: str | None = field(default=None, metadata=ONLY_IF_SET, kw_only=True)
    # language of the query, where it is known
    language: str | None = field(default=None, metadata=ONLY_IF_SET, kw_only=True)
    points: Mapping[str, float] = field(default_factory=dict, kw_only=True)  # points of each stage, but for zeros
    cosines: Mapping[str, float] = field(
        default_factory=dict, kw_only=True
    )  # of the query, by what is compared with it
    relevance: Relevance | None = field(default=None, metadata=ONLY_IF_SET, kw_only=True)
    boosts: tuple[Boosted, ...] | None = field(default=None, metadata=ONLY_IF_SET, kw_only=True)
    exact: ExactWords | None = field(default=None, metadata=ONLY_IF_SET, kw_only=True)  # set if it has any
    rerank: Rerank | None = field(default=None, metadata=ONLY_IF_SET)
    fused: Fused | None = field(default=None, metadata=ONLY_IF_SET)  # set in a multi-index search

    @property
    def score(self) -> float:
        """The points, added one after the other as the stages do; sum() rounds otherwise from Python 3.12 on."""
        return reduce(add, self.points.values(), 0.0)

    def with_points(self, **points: float) -> Origin:
        """The same with other points of some stages."""
        return replace(self, points={name: value for name, value in {**self.points, **points}.items() if value})
