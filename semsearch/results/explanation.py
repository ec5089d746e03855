"""How words make up a hit's score: `Explanation`.

    score          = Σ of the points of all stages, as they were recorded when the hit was found (`Origin`)
    lexical points = weight · Σ of the terms' scores (BM25) / best
    dense points   = weight · Σ weight · cosine, of topics, passage, sentence and title
    feedback       = weight · cosine with the best passage, the feedback document
    rerank         = weight · (said - mean) / deviation, over the reranker's scores of all hits that it read
    each cosine    = Σ of the shares of the query's words
    quote.score    = Σ of the shares of the query's words in the quoted sentence; it does not count for the score

The shares of words are computed when an explanation is asked for (semsearch.search.explain), and sum to what was
recorded up to rounding.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from semsearch.results.codec import ONLY_IF_SET, Record
from semsearch.results.options import Mode
from semsearch.results.origin import Boosted, ExactWords, Fused, Relevance, Rerank, Weights


@dataclass(frozen=True, slots=True)
class TermScore(Record):
    """The score component of one term of the query in the passage."""

    word: str  # word as in the query, in lower case; words joined by a character are one
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
    weight: float  # weight of the cosine in the dense score
    words: tuple[WordShare, ...]  # shares of the query's words


@dataclass(frozen=True, slots=True)
class Explanation(Record):
    """The explanation of a passage's score for a query."""

    query: str
    mode: Mode
    score: float
    points: Mapping[str, float]  # points of each stage that gave some, in their order: they sum to the score
    weights: Weights
    sentence: str  # sentence of the passage that is nearest in meaning, which counts for the score
    terms: tuple[TermScore, ...]  # terms of the query in the passage; none in dense mode
    cosines: tuple[Cosine, ...]  # none in lexical mode, or without a vector
    unknown: tuple[str, ...]  # words of the query without a vector; none in lexical mode
    boosts: tuple[Boosted, ...] | None = field(default=None, metadata=ONLY_IF_SET, kw_only=True)  # set if any are given
    exact: ExactWords | None = field(default=None, metadata=ONLY_IF_SET, kw_only=True)  # set if it has any
    rerank: Rerank | None = field(default=None, metadata=ONLY_IF_SET)  # set if a reranker has read the passage
    fused: Fused | None = field(default=None, metadata=ONLY_IF_SET)  # set in a multi-index search
    relevance: Relevance | None = field(default=None, metadata=ONLY_IF_SET)  # set if it is known
    # words of the query that the shown sentence has, with its most similar word for each
    quoted_for: Mapping[str, str] = field(default_factory=dict, kw_only=True)
