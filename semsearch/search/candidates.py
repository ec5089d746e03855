"""The data that the stages of a search pass on: the query, the candidate passages, and the record of their points.

A stage has the shape `stage(query, candidates, index) -> candidates`. It adds points under its name, or leaves what
later stages need. So the record is all there is to explain of a score: the points of a passage, by the names of the
stages, sum to it. At the end are the formulas of the scores that several files need.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from semsearch import tuning
from semsearch.arrays.id_ranges import IdRanges, are_new
from semsearch.arrays.types import Bool, Float32, Float64, Int64
from semsearch.embedding.embedder import SentenceEmbedder
from semsearch.lexical.bm25 import TermLookup
from semsearch.results.options import Mode, SearchOptions
from semsearch.results.origin import Correction, ExactPart, Weights
from semsearch.storage.passage_rows import SentenceSpans
from semsearch.text.ragged import Ragged
from semsearch.text.terms import QuestionTerms

_NO_IDS = np.zeros(0, dtype=np.int64)


# -- The query ---------------------------------------------------------------------------------------------------------


class QueryPart(NamedTuple):
    """A part of a query that may stand literally in passages (semsearch.search.exact_words).

    It counts if it has at least the share `least` of the query; with less, if no more than `most_otherwise` passages
    have it.
    """

    text: str
    least: float
    most_otherwise: int = 0


@dataclass(frozen=True, slots=True)
class Query:
    """A query as the stages read it. Without a vector or words, that retriever is not used, or knows no word of it."""

    text: str  # text that is compared
    options: SearchOptions
    vector: Float32 | None  # vector (d,), or (d + k,) where the index has topics
    words: TermLookup | None  # terms, looked up in the postings
    original: str | None = None  # text as it was typed; None for passages that stand for a query
    terms: QuestionTerms | None = None  # None for passages that stand for a query by their vectors
    embedder: SentenceEmbedder | None = None  # embedder that made the vector, and knows the query's language
    vector_words: Ragged | None = None  # the words of its vectors that each of the different words of `terms` has
    language: str | None = None  # language in which it was read; None where all is read as English
    languages: tuple[str, ...] = ()  # the languages by whose rules it was read
    word_count: int = 0  # number of words, as its language divides them
    share_without_vectors: float = 0.0  # share of its words; 0 in lexical mode
    dense_weight: float | None = None  # weight of the cosine in the fusion; None: as of a query of known words
    parts: Sequence[QueryPart] = ()  # parts that passages may have literally
    allowed: IdRanges | None = None  # the passages that filters and phrases let through; None: all
    hidden: Int64 = field(default_factory=_NO_IDS.copy)  # passages that must not answer
    included: Int64 = field(default_factory=_NO_IDS.copy)  # passages that are scored in any case, to be explained
    corrected: tuple[Correction, ...] = ()  # misspelt words of the original, and what is compared instead
    notices: tuple[str, ...] = ()  # what the index cannot know of it: filters and phrases that match nothing, ...


# -- The candidates ----------------------------------------------------------------------------------------------------


class Candidates:
    """The n passages that may answer a query, by rising ids, and what each stage adds to what is known of them:

        find              ids, spans, literal
        by_words          bm25, lengths
        by_meaning        cosine, cosines, sentences, vectors
        across_languages  are_other, weights_of_others, are_aligned, with other bm25 and cosines for these passages
        fuse              weights; the points "dense" and "lexical"
        short_sections, proximity, support: the points "short", "proximity", "support" and "long"
        feedback          its points, and its cosines
        crowding          its points
        relevance         relevance
        boosts            boosts; their points
        exact_words       the points "exact"; headings that were typed, in `literal`
        quote             the points "exchanged", where it exchanges passages, with their relevance

    The points sum to the scores.
    """

    def __init__(self, ids: Int64, spans: SentenceSpans, literal: dict[int, tuple[ExactPart, ...]]) -> None:
        unknown = np.full(len(ids), np.nan)
        self.ids = ids  # (n,)
        self.spans = spans  # their documents, neighbours and sentences
        self.are_sections: Bool = spans.below_heading & (spans.code == 0)  # below a heading, and no source code (n,)
        self.literal = literal  # parts of the query that passages have literally, by id
        self.points: dict[str, Float64] = {}  # by name: what is added to each score (n,)
        self.scores = unknown  # their sums; NaN for a passage that neither retriever knows (n,)
        self.bm25 = unknown  # NaN without a word in common (n,)
        self.lengths = unknown  # in words; NaN where they were not compared (n,)
        self.cosine = unknown  # the weighted mean of the cosines, NaN where none is known (n,)
        self.cosines: Mapping[str, Float64] = {}  # by what is compared (n,)
        self.sentences: Int64 = np.full(len(ids), -1)  # the number of that nearest in meaning, -1 for none (n,)
        self.vectors: Float32 | None = None  # of the passages, zero where there is none (n, d + k)
        self.weights = Weights(1.0, 0.0)
        self.are_other: Bool | None = None  # whether they are in another language than the query, if any is (n,)
        self.weights_of_others = self.weights
        self.are_aligned = False  # whether the alignment of the query's words counts in the cosines of these
        self.relevance: RelevanceOf | None = None
        self.boosts: Float64 | None = None  # the share of each boost that passages have (b, n)

    def ranks_in_documents(self) -> Int64:
        """The number of passages of its document that are better than each. (n,)"""
        documents, places = self.spans.documents, np.arange(len(self.ids))
        order = np.lexsort((-self.scores, documents))  # by documents, the best passages of each first
        ranks = np.zeros_like(places)
        ranks[order] = places - np.maximum.accumulate(np.where(are_new(documents[order]), places, 0))
        return ranks

    def add(self, stage: str, points: Float64) -> Candidates:
        """Add the points of a stage to the record. (n,)"""
        if not self.points:
            self.scores = np.where(np.isnan(self.cosine) & np.isnan(self.bm25), np.nan, 0.0)
        self.points[stage] = points
        self.scores = self.scores + points
        return self


class RelevanceOf(NamedTuple):
    """The probability that passages answer, and its features (semsearch.search.relevance)."""

    level: float  # the logarithm of the odds of the best passage
    probability: Float64  # (n,)
    share: Float64  # share of the best score (n,)
    cosine: float  # cosine of the best passage; trust and words are also of this one
    trust: float
    words: float


# -- The answer --------------------------------------------------------------------------------------------------------


class Ranking(NamedTuple):
    """The best candidates in order, by their positions among all."""

    candidates: Candidates
    order: Sequence[int]  # positions of the hits, best first
    near_duplicates: Mapping[int, Sequence[int]]  # positions of near-duplicates, by that of their hit
    may_be_longer: bool  # whether a deeper search may find as many hits as were asked for


class Quote(NamedTuple):
    """The quote of a hit: sentences of its passage, by the numbers of the first and the last."""

    first: int
    last: int
    answer: tuple[int, int] | None = None  # where the date or number that answers begins and ends in it
    factor: float = 1.0  # how much of what is asked for it has (semsearch.search.answer_kind)


# -- The formulas of the scores ----------------------------------------------------------------------------------------


def shares_of_cosines() -> dict[str, float]:
    """The parts that each cosine is of the dense score, where all are known."""
    return {part: getattr(tuning.TUNING, f"{part}_share") for part in ("topics", "passage", "sentence", "title")}


def mean_cosine(cosines: Mapping[str, Float64]) -> Float64:
    """The weighted mean of the cosines of each passage, by what is compared, without those that are NaN. -> (n,)"""
    total = score = np.zeros(1)
    for name, share in shares_of_cosines().items():
        is_known = ~np.isnan(cosines[name])
        total = total + share * is_known
        score = score + np.where(is_known, share * cosines[name], 0.0)
    return np.asarray(score / np.where(total == 0, np.nan, total))


_ALONE: dict[Mode, Weights] = {"dense": Weights(1.0, 0.0), "lexical": Weights(0.0, 1.0)}


def weights_of(query: Query, candidates: Candidates) -> Weights:
    """The weights by which the scores of a query's candidates are fused."""
    if query.options.mode in _ALONE:
        return _ALONE[query.options.mode]
    return weigh(
        is_dense=not np.isnan(candidates.cosine).all(),
        best=float(np.fmax.reduce(candidates.bm25, initial=0.0)),
        near=tuning.TUNING.near_weight if query.original is not None else 0.0,
        dense=query.dense_weight,
    )


def weigh(*, is_dense: bool, best: float, near: float = 0.0, dense: float | None = None) -> Weights:
    """Choose the weights of the score components. Where one retriever scores no candidate, the other decides alone.

    `is_dense`: whether any candidate has a dense score; `best`: the best BM25, 0 where no candidate shares a word;
    `near`: the weight of feedback, which counts only where both retrievers score candidates; `dense`: that of the
    cosine, if it is not as of a query whose words are all known.
    """
    if best <= 0:
        return Weights(1.0, 0.0)
    if not is_dense:
        return Weights(0.0, 1.0, best)
    dense = tuning.TUNING.dense_weight if dense is None else dense
    return Weights((1 - near) * dense, (1 - near) * (1 - dense), best, near)


def dense_weight(known: float) -> float:
    """The weight of the dense score: less where the word vectors know few of the query's words, as in other languages.

    The other words have estimated vectors or none; topics still know the corpus's own words.
    """
    tuned = tuning.TUNING
    share = max(0.0, (known - tuned.known_least) / (1 - tuned.known_least))
    return share * tuned.dense_weight + (1 - share) * tuned.dense_weight_unknown


def fused(dense: Float64, lexical: Float64, weights: Weights) -> tuple[Float64, Float64]:
    """The points of both scores: w · cosine and (1 - w) · BM25 / best BM25; 0 for an unknown score. (n,), (n,)"""
    known = np.where(np.isnan(dense), 0.0, dense), np.where(np.isnan(lexical), 0.0, lexical)
    return weights.dense * known[0], weights.lexical * known[1] / weights.best
