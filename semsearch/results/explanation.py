"""How words make up a hit's score: `Explanation`.

    score          = Σ of the points of all stages, as they were recorded when the hit was found
    lexical points = weight · Σ of the terms' scores (BM25) / best
    dense points   = weight · Σ weight · cosine, of topics, passage, sentence and title
    feedback       = weight · cosine with the best passage, the feedback document
    rerank         = weight · (said - mean) / deviation, over the reranker's scores of all hits that it read
    each cosine    = Σ of the shares of the query's words
    quote.score    = Σ of the shares of the query's words in the quoted sentence; it does not count for the score

A hit carries its `Origin`, the record of its score stage by stage, so that its score can be explained after it was
stored or sent elsewhere. The shares of words are computed when an explanation is asked for (semsearch.search.explain),
and sum to what was recorded up to rounding.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import reduce
from operator import add
from typing import Literal

from semsearch.results.codec import ONLY_IF_SET, Record
from semsearch.results.options import Mode

# -- The record of a score ---------------------------------------------------------------------------------------------


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
    said: float  # its score of this passage
    mean: float
    deviation: float  # above zero
    model: str | None = field(default=None, metadata=ONLY_IF_SET, kw_only=True)  # its name, if it is a model
    alone: float | None = field(default=None, metadata=ONLY_IF_SET, kw_only=True)  # of it, without similar passages
    unread: bool | None = field(default=None, metadata=ONLY_IF_SET, kw_only=True)  # true: it did not read the passage


@dataclass(frozen=True, slots=True)
class Fused(Record):
    """How a score of one index was made comparable with those of the other indexes of a multi-index search.

    BM25 is divided by the best of all indexes. Relevance feedback comes from the best passage of the hit's own index,
    and counts by the square of the share that its score is of the best score of all.
    """

    indexes: tuple[str, ...]  # that were searched
    alone: float  # the hit's score before it was compared with those of other indexes
    best: float  # the best BM25 of its own index
    near: float  # the remaining share of the feedback, 0 to 1


@dataclass(frozen=True, slots=True)
class Boosted(Record):
    """The score component of a boost: points = weight · share."""

    boost: str  # as it was given, without its points
    points: float
    weight: float  # its points
    share: float  # 1 where a filter holds; of recency, the less the older


@dataclass(frozen=True, slots=True)
class ExactPart(Record):
    """A part of the query that stands literally in a passage, such as an identifier or a quoted phrase."""

    text: str
    as_typed: bool  # false: only in other case
    passages: int  # that have it


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
        """What to tell a person."""
        what = f"no passage has “{self.asked}”: searched for “{self.instead}”"
        return f'{what}; to search for exactly that, quote it: "{self.asked}"'


@dataclass(frozen=True, slots=True)
class Relevance(Record):
    """How likely a passage answers, and what this is estimated from."""

    probability: float  # 0 to 1
    cosine: float | None  # of the best passage, as in the dense component; None without a vector of the query
    trust: float | None  # how much it counts, 0 to 1: less where the query's cosines with all passages differ widely
    words: float | None  # its bm25, relative to the weight of the query's words; None in dense mode
    share: float  # of the score of the best passage, both without boosts and exact words
    unknown: float  # share of the query's words without a vector of their own; 0 in lexical mode


@dataclass(frozen=True, slots=True)
class Origin(Record):
    """The query by which a hit was found, and the record of its score: the points of each stage, which sum to it."""

    query: str
    mode: Mode
    generation: int  # of the index that answered
    weights: Weights
    text: str | None = field(default=None, metadata=ONLY_IF_SET, kw_only=True)  # compared, where it is not the query
    language: str | None = field(default=None, metadata=ONLY_IF_SET, kw_only=True)  # of the query, where it is known
    points: Mapping[str, float] = field(default_factory=dict, kw_only=True)  # of the score, by stage, but for zeros
    cosines: Mapping[str, float] = field(
        default_factory=dict, kw_only=True
    )  # of the query, by what is compared with it
    relevance: Relevance | None = field(default=None, metadata=ONLY_IF_SET, kw_only=True)
    boosts: tuple[Boosted, ...] | None = field(default=None, metadata=ONLY_IF_SET, kw_only=True)
    exact: ExactWords | None = field(default=None, metadata=ONLY_IF_SET, kw_only=True)  # that the passage has
    rerank: Rerank | None = field(default=None, metadata=ONLY_IF_SET)
    fused: Fused | None = field(default=None, metadata=ONLY_IF_SET)  # in a multi-index search

    @property
    def score(self) -> float:
        """The points, added one after the other as the stages do; sum() rounds otherwise from Python 3.12 on."""
        return reduce(add, self.points.values(), 0.0)

    def with_points(self, **points: float) -> Origin:
        """The same with other points of some stages."""
        return replace(self, points={name: value for name, value in {**self.points, **points}.items() if value})


# -- What words have of it ---------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class TermScore(Record):
    """The score component of one term of the query in the passage."""

    word: str  # as in the query, in lower case; words joined by a character are one
    count: int  # occurrences in the passage, in any form; those in title and headings count double
    beside: int  # occurrences in the passages before and after, which count half
    score: float  # its part of the BM25


@dataclass(frozen=True, slots=True)
class WordShare(Record):
    """The share that one word of the query has in a cosine."""

    word: str
    share: float


@dataclass(frozen=True, slots=True)
class Cosine(Record):
    """A cosine of the query with a passage, its topics, its best sentence or the title of its document.

    The dense score is their mean by the weights. "words": how well a passage in another language has the query's words.
    """

    of: Literal["topics", "passage", "sentence", "title", "words"]
    cosine: float  # the sum of the words' shares
    weight: float  # of it in the dense score
    words: tuple[WordShare, ...]  # of the query


@dataclass(frozen=True, slots=True)
class AlignedWord(Record):
    """A content word of the query and the word of a quoted sentence, or of one before it, that is most similar."""

    word: str
    match: str  # "" if nothing is similar
    similarity: float  # 0 to 1
    before: int  # how many sentences before the quoted one the match stands
    weight: float  # less for a match that stands before
    share: float  # weight · similarity: of the score


@dataclass(frozen=True, slots=True)
class Quoted(Record):
    """Why a sentence is quoted: of all sentences of its passage its words align best with those of the query."""

    sentence: str
    score: float  # the sum of the words' shares
    words: tuple[AlignedWord, ...]


@dataclass(frozen=True, slots=True)
class Explanation(Record):
    """The explanation of a passage's score for a query."""

    query: str
    mode: Mode
    score: float
    points: Mapping[str, float]  # of each stage that gave some, in their order: they sum to the score
    weights: Weights
    sentence: str  # of the passage the one nearest in meaning, which counts for the score
    terms: tuple[TermScore, ...]  # of the query in the passage; none in dense mode
    cosines: tuple[Cosine, ...]  # none in lexical mode, or without a vector
    unknown: tuple[str, ...]  # words of the query without a vector; none in lexical mode
    boosts: tuple[Boosted, ...] | None = field(default=None, metadata=ONLY_IF_SET, kw_only=True)  # if any are given
    exact: ExactWords | None = field(default=None, metadata=ONLY_IF_SET, kw_only=True)  # if the passage has any
    rerank: Rerank | None = field(default=None, metadata=ONLY_IF_SET)  # if a reranker has read the passage
    fused: Fused | None = field(default=None, metadata=ONLY_IF_SET)  # in a multi-index search
    relevance: Relevance | None = field(default=None, metadata=ONLY_IF_SET)  # if it is known
    quote: Quoted | None = field(default=None, metadata=ONLY_IF_SET)  # why the hit quotes its sentence
