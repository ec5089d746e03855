"""What the stages of a search pass on: the query, the passages that may answer it, and the record of their points.

A stage has the shape `stage(query, candidates, index) -> candidates`. What it is for, it does to the candidates it is
given: it adds points under its name, or finds out something that later stages need. So the record is all there is to
explain of a score: the points of a passage, by the names of the stages, sum to it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from semsearch.arrays.id_ranges import IdRanges
from semsearch.arrays.types import Bool, Float32, Float64, Int64
from semsearch.embedding.embedder import SentenceEmbedder
from semsearch.lexical.bm25 import NeighbourFlags, WordScores
from semsearch.results.options import Correction, ExactPart, ExactWords, Relevance, SearchOptions, Weights
from semsearch.search.index_reader import IndexReader
from semsearch.search.query_syntax import QuerySyntax
from semsearch.storage.catalogue import DocumentRow, PassageRow, SentenceSpans
from semsearch.text.terms import QuestionTerms

if TYPE_CHECKING:
    import sqlite3

_NO_IDS = np.zeros(0, dtype=np.int64)


@dataclass(frozen=True, slots=True)
class IndexView:
    """An index as one read transaction sees it: its rows by `db`, the opened files of its generation by `reader`."""

    db: sqlite3.Connection
    reader: IndexReader


@dataclass(frozen=True, slots=True)
class QueryPart:
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

    text: str  # that is compared
    options: SearchOptions
    vector: Float32 | None  # (d,), or (d + k,) where the index has topics
    words: WordScores | None  # its terms, looked up in the postings
    asked: str | None = None  # as it was given; None for passages that stand for a query
    terms: QuestionTerms | None = None  # None for passages that stand for a query by their vectors
    embedder: SentenceEmbedder | None = None  # that made the vector, and knows the query's language
    syntax: QuerySyntax | None = None  # the phrases that passages must have, or must not have, if there are any
    parts: Sequence[QueryPart] = ()  # that passages may have literally
    allowed: IdRanges | None = None  # the passages that filters and phrases let through; None: all
    hidden: Int64 = field(default_factory=_NO_IDS.copy)  # passages that must not answer
    included: Int64 = field(default_factory=_NO_IDS.copy)  # passages that are scored in any case, to be explained
    unknown: float = 0.0  # share of its words without a vector of their own
    known: float = 1.0  # share of its words that the word vectors know, where the index is not in English alone
    corrected: tuple[Correction, ...] = ()  # what its text does not have as it was asked
    language: str | None = None  # in which it was read; None where all is read as English
    names: Callable[[], WordScores | None] | None = None  # the words that passages in other languages may have


class Candidates:
    """The n passages that may answer a query, by rising ids, and what the stages found out about each."""

    def __init__(self, ids: Int64, spans: SentenceSpans) -> None:
        n = len(ids)
        self.ids = ids  # (n,)
        self.spans = spans  # their documents, neighbours and sentences
        self.points: dict[str, Float64] = {}  # by stage: what it adds to each score (n,)
        # by words
        self.lexical: Float64 = np.full(n, np.nan)  # BM25; NaN without a word in common
        self.whole: Bool = np.zeros(n, dtype=np.bool_)  # whether all words of the query are there
        self.lengths: Float64 = np.full(n, np.nan)  # in words
        # by meaning
        self.vectors: Float32 | None = None  # (n, d + k), zero where there is none
        self.cosines: dict[str, Float64] = {}  # by what is compared, NaN where it is not known (n,)
        self.dense: Float64 = np.full(n, np.nan)  # their weighted mean
        self.sentences: Int64 = np.full(n, -1)  # the number of the sentence nearest in meaning
        # fusion
        self.weights = Weights(1.0, 0.0)
        self.other: Bool | None = None  # which passages are in another language than the query, if any
        self.weights_of_others: Weights | None = None
        self.relevance: RelevanceOf | None = None
        # support
        self.are_sections: Bool = spans.below_heading & (spans.code == 0)  # of guides, not of source code
        self.are_sections_compared = False  # by their documents and lengths: where both retrievers know the query
        self.support: SupportOf | None = None
        # feedback, boosts, exact words
        self.models: tuple[int, ...] = ()  # ids of the feedback passages
        self.boosts: Float64 | None = None  # the share of each boost (b, n)
        self.literal: Mapping[int, tuple[ExactPart, ...]] = {}  # parts of the query that passages have, by id
        self.exact: Mapping[int, ExactWords] = {}  # the same with the points
        # the answer
        self.order: list[int] = []  # positions of the hits, best first
        self.near_duplicates: dict[int, tuple[int, ...]] = {}  # of hits: positions of the passages alike
        self.has_more = False  # whether more candidates may fill up the answer
        self.rows = HitRows((), (), {}, {})  # of the hits
        self.quotes: list[int] = []  # the number of the sentence that each hit shows

    @property
    def neighbours(self) -> NeighbourFlags:
        """Whether their documents have a passage before each, and one after."""
        return NeighbourFlags(self.spans.before, self.spans.after)

    def add(self, stage: str, points: Float64) -> Candidates:
        """Add the points of a stage to the record. (n,)"""
        self.points[stage] = points
        return self

    @property
    def scores(self) -> Float64:
        """The sums of the points so far; NaN for a passage that neither retriever knows. (n,)"""
        total = np.where(np.isnan(self.dense) & np.isnan(self.lexical), np.nan, 0.0)
        for points in self.points.values():
            total = total + points
        return total

    def record(self, position: int) -> dict[str, float]:
        """The points of one passage, by stage; only those that are not zero."""
        return {name: float(points[position]) for name, points in self.points.items() if points[position]}

    def cosines_of(self, position: int) -> dict[str, float]:
        """The cosines of one passage that are known."""
        values = {name: float(cosines[position]) for name, cosines in self.cosines.items()}
        return {name: value for name, value in values.items() if value == value}


@dataclass(frozen=True, slots=True)
class HitRows:
    """The stored rows behind the hits of an answer, which are read once."""

    hits: Sequence[PassageRow]  # in order
    languages: Sequence[str]  # of the hits
    passages: Mapping[int, PassageRow]  # theirs and those of near-duplicates, by id
    documents: Mapping[int, DocumentRow]  # of all these passages, by id

    @classmethod
    def of(cls, candidates: Candidates, index: IndexView) -> HitRows:
        """Read the rows of ranked candidates. Raises IndexDamaged."""
        ids, reader = candidates.ids.tolist(), index.reader
        hits = [ids[position] for position in candidates.order]
        alike = [ids[position] for group in candidates.near_duplicates.values() for position in group]
        passages, documents = reader.read_rows.with_documents(index.db, [*hits, *alike])
        rows = [passages[id_] for id_ in hits]
        return cls(rows, reader.languages_of_passages(index.db, rows), passages, documents)


@dataclass(frozen=True, slots=True)
class SupportOf:
    """What the support of passages is made of: weight · others - length. (n,) each"""

    weight: float
    others: Float64  # by how much the document's next best passages are above half of the best score, in the mean
    length: Float64  # what a long document loses


@dataclass(frozen=True, slots=True)
class RelevanceOf:
    """How likely passages answer, and what it is estimated from. (n,) each"""

    probability: Float64
    trust: float  # of the query's cosines
    words: Float64
    share: Float64

    def record(self, query: Query, candidates: Candidates, position: int) -> Relevance:
        """What there is to say of one passage."""
        has_words = query.words is not None and not (candidates.other is not None and candidates.other[position])
        has_vector = query.vector is not None
        dense, words = float(candidates.dense[position]), float(self.words[position])
        return Relevance(
            probability=float(self.probability[position]),
            cosine=(dense if dense == dense else 0.0) if has_vector else None,
            trust=self.trust if has_vector else None,
            words=(words if words == words else 0.0) if has_words else None,
            share=float(self.share[position]),
            unknown=query.unknown,
            whole=bool(candidates.whole[position]),
        )
