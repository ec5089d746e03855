"""Why a passage answers a question: its score, part by part. Plain frozen data; semsearch.search.explain makes it.

    score            = lexical.points + dense.points + near.points (+ rerank.points)
    lexical.points   = weight · bm25 / best,          bm25 = Σ of the terms' scores
    dense.points     = weight · cosine,             cosine = Σ weight · cosine of topics, passage and sentence
    near.points      = weight · cosine,             cosine = the mean of those with the passages that answer best
    rerank.points    = weight · (said - mean) / deviation, of what a reranker said of all that it read
    each cosine      = Σ of the shares of the question's words
    the sentence's   = Σ of the shares of all pairs

All of these hold to rounding. A part of which nothing is known, or that was not asked for, is None, or left out.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

from semsearch.results.codec import ONLY_IF_SET, Record
from semsearch.results.origin import Mode, Rerank


@dataclass(frozen=True, slots=True)
class TermScore(Record):
    """One term of the question in the passage."""

    word: str  # as it stands in the question, in lower case; words with a joining character between them as one
    count: int  # how often the passage has it, in any of its forms; in title and headings it counts double
    beside: int  # how often the passages before and after have it; there it counts half
    score: float  # its part of the BM25


@dataclass(frozen=True, slots=True)
class Lexical(Record):
    """The part of the score that is of words."""

    points: float  # of the hit's score
    weight: float  # of this part
    bm25: float  # the sum of the terms' scores
    best: float  # the best BM25 of the answer, by which others are divided; 1 where words alone are asked for
    terms: tuple[TermScore, ...]


@dataclass(frozen=True, slots=True)
class WordShare(Record):
    """The share that one word of the query has in a cosine."""

    word: str
    share: float


@dataclass(frozen=True, slots=True)
class Cosine(Record):
    """One of the cosines of which the dense score is the weighted mean."""

    of: Literal["topics", "passage", "sentence"]
    cosine: float  # the sum of the words' shares
    weight: float  # of it in the dense part
    words: tuple[WordShare, ...]  # of the question


@dataclass(frozen=True, slots=True)
class Dense(Record):
    """The part of the score that is of meaning."""

    points: float  # of the hit's score
    weight: float  # of this part
    cosine: float  # the weighted sum of the cosines
    cosines: tuple[Cosine, ...]


@dataclass(frozen=True, slots=True)
class Near(Record):
    """The part of the score that comes from being near the passages that answer best. One of these is near itself."""

    points: float  # of the hit's score
    weight: float  # of this part
    cosine: float  # the mean of those with these passages
    passages: tuple[int, ...]  # their ids


@dataclass(frozen=True, slots=True)
class Pairs(Record):
    """The share of each pair of words in the cosine of query and sentence. A word that a text has twice comes
    once, with both together."""

    question: tuple[str, ...]  # (q,) in order
    sentence: tuple[str, ...]  # (s,)
    shares: tuple[tuple[float, ...], ...]  # (q, s)
    unknown: tuple[str, ...]  # words of the sentence without a vector


@dataclass(frozen=True, slots=True)
class Explanation(Record):
    """Why a passage has the score that it has."""

    query: str
    mode: Mode
    sentence: str  # of the passage, the one that answers best
    score: float
    lexical: Lexical | None
    dense: Dense | None
    near: Near | None
    pairs: Pairs | None
    unknown: tuple[str, ...]  # words of the question without a vector; none where meaning was not asked for
    rerank: Rerank | None = field(default=None, metadata=ONLY_IF_SET)  # where a reranker has read the passage
