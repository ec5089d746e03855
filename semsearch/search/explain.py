"""Explain a hit: BM25 by term, the cosines by word, the best sentence's cosine by pairs of words; and what it quotes.

Only the query and the sentence nearest in meaning are embedded again, word by word (semsearch.embedding.contributions).
Passage and sentence are compared by their stored vectors, so that the parts sum to the very score by which the hit was
ranked. The quoted sentence, often the same one, does not count for the score (semsearch.search.quote).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import numpy.typing as npt

from semsearch import tuning
from semsearch.arrays.types import Float32, Int64
from semsearch.embedding.embedder import SentenceEmbedder
from semsearch.lexical.bm25 import NeighbourFlags, WordScores
from semsearch.results.explanation import (
    AlignedWord,
    Cosine,
    Dense,
    Explanation,
    Lexical,
    Near,
    Pairs,
    Quoted,
    Relevance,
    TermScore,
    WordShare,
)
from semsearch.results.hits import Hit
from semsearch.results.options import Mode, Origin, Weights
from semsearch.search.index_reader import IndexReader
from semsearch.search.on_demand_vectors import embed_titles
from semsearch.search.query import english_of, foreign_terms, names_in
from semsearch.search.quote import REACH, RECALLED, is_aligned_across
from semsearch.search.ranking import Likelihood, relevance, relevance_numbers, trust
from semsearch.search.scoring import Pool, feedback_scores
from semsearch.storage.catalogue import PassageRow, SentenceSpans, Titled, get_spans, need_passages
from semsearch.text.languages import ENGLISH, language_of_passage
from semsearch.text.terms import named_terms
from semsearch.text.tokens import with_parts, words as split_words

if TYPE_CHECKING:
    import sqlite3


class Explainer:
    """Explains the hits of one query on one generation. Without an embedder, by words alone."""

    def __init__(
        self,
        reader: IndexReader,
        embedder: SentenceEmbedder | None,
        query: str,
        mode: Mode,
        language: str | None = None,
    ) -> None:
        self.language = language
        self._names: set[int] = set()  # terms that count where the passage is in another language
        if embedder is not None and language is not None:
            embedder = reader.embedder_of(embedder, [language])
        spoken = None if language is None else [language]
        self.reader = reader
        self.query = query
        self.mode: Mode = mode
        self._embedder = embedder
        self._terms = named_terms(query, reader.languages)
        english = None if embedder is None or language is None else partial(english_of, embedder)
        if english is not None and language is not None and language not in reader.languages:
            self._terms = foreign_terms(query, language, reader.languages, english)
        self._lookup = None if mode == "dense" else reader.lexical.find(self._terms.terms)
        if english is not None:
            scores = WordScores(self._lookup or reader.lexical.find(self._terms.terms), reader.lexical)
            names = names_in(scores, self._terms, language, english)
            self._names = set() if names is None else set(names.lookup.terms.tolist())
        self._vector = None if embedder is None else embedder.transform([query], spoken)[0]
        self._word_shares = (
            None
            if embedder is None or self._vector is None
            else embedder.shares(query, language).summing_to(self._vector)
        )
        self._unknown = 0.0 if embedder is None else 1 - float(embedder.tokenize([query], spoken).known_shares[0])
        self._topics = None if embedder is None or not reader.topics else reader.topics.shares(self._terms.terms)

    def explain(self, db: sqlite3.Connection, hit: Hit, origin: Origin) -> Explanation:
        """Explain a hit: the parts of its score, and how each came about. `origin`: how the parts became one score."""
        spans = get_spans(db, np.array([hit.passage_id], dtype=np.int64))
        neighbours = NeighbourFlags(spans.before, spans.after)
        weights, models = origin.weights, np.array(origin.models, dtype=np.int64)
        passage = need_passages(db, [hit.passage_id])[hit.passage_id]
        (of_document,) = self.reader.languages_of(db, spans.documents)
        self._is_other = self.language is not None and of_document != self.language
        self._spoken = None if self.language is None else language_of_passage(passage.text, of_document)
        lexical = self._lexical(hit.passage_id, weights, neighbours)
        cosines = self._cosines(hit.passage_id)
        pairs, sentence = None, hit.sentence
        if any(cosine.of == "passage" for cosine in cosines):
            pairs, sentence = self._pairs(passage, hit.format, *self._nearest(db, passage, spans))
        if pairs is not None:
            cosines.append(_of_words("sentence", pairs.question, [sum(row) for row in pairs.shares]))
            cosines += self._of_title(Titled(hit.document, hit.title))
            if self._is_other and is_aligned_across(self.language or ENGLISH, self.reader.language_documents):
                own = hit.origin is not None and (hit.origin.query, hit.origin.generation) == (
                    origin.query,
                    origin.generation,
                )
                cosines += self._aligned(passage, hit.format, cosines, hit.dense if own else None)
        dense = _mean(cosines, weights) if cosines else None
        added = (*(origin.boosts or ()), origin.support, origin.rerank, origin.exact)
        near = self._near(hit.passage_id, weights, models) if len(models) and (lexical or dense) else None
        return Explanation(
            query=origin.query,
            mode=self.mode,
            sentence=sentence,
            score=sum(part.points for part in (lexical, dense, near, *added) if part is not None),
            lexical=lexical,
            dense=dense,
            near=near,
            pairs=pairs,
            unknown=() if self._word_shares is None else self._word_shares.unknown,
            boosts=origin.boosts,
            exact=origin.exact,
            support=origin.support,
            rerank=origin.rerank,
            fused=origin.fused,
            relevance=self._relevance(hit.passage_id, neighbours, lexical, dense, origin),
            quote=self._quote(passage, hit.format),
        )

    def _quote(self, passage: PassageRow, format: str) -> Quoted | None:
        """The alignment of the query's words with the sentence of a passage that is quoted."""
        has_vectors = self._embedder is not None and self._word_shares is not None and self._word_shares.rows.any()
        vectors = self._embedder.chosen_.vectors if self._embedder is not None and has_vectors else None
        aligner = self.reader.aligner
        asked = aligner.asked(self._terms, self._lookup, vectors, self.language)
        spoken = [] if self._spoken is None else [self._spoken]
        if not asked.names:
            return None
        found = aligner.scored(asked, vectors, [passage], [format], spoken)
        (chosen,) = found.chosen
        pieces = [passage.text[slice(*passage.sentences[[q.first, q.last], [0, 1]].tolist())] for q in found.quotes]
        reach = range(min(REACH, chosen) + 1)
        near = np.stack([found.plain[chosen - step] * RECALLED**step for step in reach])
        words: list[AlignedWord] = []
        for row, (name, step) in enumerate(zip(asked.names, near.argmax(axis=0).tolist(), strict=True)):
            weight = float(found.prose[chosen] * found.weights[0, row] * RECALLED**step)
            similarity, match = float(found.plain[chosen - step, row]), ""
            if similarity:
                there = [*dict.fromkeys(split_words(pieces[chosen - step]))]
                alone = aligner.similarities(asked, vectors, there, spoken * len(there))[:, row]
                match = there[int(alone.argmax())] if alone.max() > 0.99 * similarity else name  # a term of two words
            words.append(AlignedWord(name, match, similarity, step, weight, weight * similarity))
        return Quoted(pieces[chosen], sum(word.share for word in words), tuple(words))

    def _relevance(
        self, passage_id: int, neighbours: NeighbourFlags, lexical: Lexical | None, dense: Dense | None, origin: Origin
    ) -> Relevance | None:
        relative, whole = origin.relative, origin.exact is not None
        if relative is None:  # of a hit that an earlier version found
            return None
        general = np.zeros(0, np.float32) if self._vector is None else self._vector
        has_vector = bool(general.any() or (self._topics is not None and self._topics.any()))
        cosine, bm25 = 0.0 if dense is None else dense.cosine, 0.0 if lexical is None else lexical.bm25
        counted = float(trust(self.reader.spread(general[None]))[0]) if has_vector else 0.0
        words = None
        if self._lookup is not None and not self._is_other:
            rows = self.reader.lexical.locate(np.array([passage_id], dtype=np.int64), neighbours)
            words = bm25 / self._lookup.usual
            whole |= bool(WordScores(self._lookup, self.reader.lexical).scored(rows)[1][0])
        share = relative.dense * cosine + relative.lexical * bm25 / relative.best
        topics = not has_vector or self.reader.topics is not None
        aligned = dense is not None and any(each.of == "words" for each in dense.cosines)
        numbers = np.array(
            relevance_numbers(vector=has_vector, words=words is not None, topics=topics, aligned=aligned)
        )
        compared = counted * cosine, words or 0.0, share, self._unknown, whole
        (likely,) = relevance(numbers, Likelihood(*(np.array([each]) for each in compared))).tolist()
        meant = (cosine, counted) if has_vector else (None, None)
        return Relevance(likely, meant[0], meant[1], words, share, self._unknown, whole)

    def _lexical(self, passage_id: int, weights: Weights, neighbours: NeighbourFlags) -> Lexical | None:
        if self._lookup is None:
            return None
        rows = self.reader.lexical.locate(np.array([passage_id], dtype=np.int64), neighbours)
        found = self.reader.lexical.explain(self._lookup, rows)
        positions = np.searchsorted(self._lookup.terms, self._terms.terms)
        distinct = dict.fromkeys(
            zip(positions.tolist(), self._terms.words, strict=True)
        )  # a word's own in each language
        counts, near = (
            _by_word([word for _, word in distinct], each[[position for position, _ in distinct], 0])
            for each in (found.counts, found.neighbours)
        )
        counted = [not self._is_other or term in self._names for term in self._terms.terms.tolist()]
        scores = _by_word(self._terms.words, np.where(counted, found.scores[positions, 0], 0))
        bm25 = sum(scores.values())
        if not bm25:
            return None
        terms = tuple(TermScore(word, int(counts[word]), int(near[word]), score) for word, score in scores.items())
        return Lexical(weights.lexical * bm25 / weights.best, weights.lexical, bm25, weights.best, terms)

    def _near(self, passage_id: int, weights: Weights, models: Int64) -> Near:
        (cosine,) = feedback_scores(self.reader, Pool.of([np.array([passage_id], dtype=np.int64)]), [models]).tolist()
        return Near(weights.near * cosine, weights.near, cosine, tuple(models.tolist()))

    def _cosines(self, passage_id: int) -> list[Cosine]:
        """The cosines of the query with a passage's topics and general vector, where these are known."""
        if self._word_shares is None:
            return []
        found: list[Cosine] = []
        found_rows, halves = (
            self.reader.stored("passage", np.array([passage_id], dtype=np.int64)).rows,
            self.reader.halves,
        )
        vector = found_rows[0] if len(found_rows) else None
        if (
            not self._is_other
            and vector is not None
            and self._topics is not None
            and self._topics.any()
            and halves.topics(vector).any()
        ):
            found.append(_of_words("topics", self._terms.words, self._topics @ halves.topics(vector)))
        if vector is not None and self._word_shares.rows.any() and halves.general(vector).any():
            found.append(_of_words("passage", self._word_shares.words, self._word_shares.rows @ halves.general(vector)))
        return found

    def _of_title(self, titled: Titled) -> list[Cosine]:
        """The cosine of the query with a document's title, if the title says something."""
        assert self._word_shares is not None  # there is a cosine of the passage
        assert self._embedder is not None
        vector = embed_titles(self._embedder, [titled])[0]
        return [_of_words("title", self._word_shares.words, self._word_shares.rows @ vector)] if vector.any() else []

    def _aligned(
        self, passage: PassageRow, format: str, cosines: Sequence[Cosine], counted: float | None
    ) -> list[Cosine]:
        """How well a passage in another language has the words of the query, beside the cosines.

        If they were not aligned when the hit was found, no words are told, but what counted instead; `counted`: the
        dense score of the hit, if known.
        """
        assert self._embedder is not None
        aligner, vectors = self.reader.aligner, self._embedder.chosen_.vectors
        asked = aligner.asked(self._terms, self._lookup, vectors, self.language)
        if not asked.names:
            return []
        (shares,) = aligner.aligned(asked, vectors, [passage], [format], [self._spoken or ENGLISH]).tolist()
        share, weight = tuning.TUNING.aligned_across, sum(each.weight for each in cosines)
        if counted is not None and share:
            mean = sum(each.weight * each.cosine for each in cosines) / weight
            instead = (counted * (1 + share) - mean) / share
            if abs(instead - sum(shares)) > _OTHER:
                return [Cosine("words", instead, share * weight, ())]
        parts = tuple(WordShare(word, each) for word, each in _by_word(asked.names, shares).items())
        return [Cosine("words", sum(shares), share * weight, parts)]

    def _pairs(self, passage: PassageRow, format: str, number: int, vector: Float32 | None) -> tuple[Pairs, str]:
        assert self._word_shares is not None  # there is a cosine of the passage
        assert self._embedder is not None
        text = passage.sentence(number)
        sentence = self._embedder.shares(with_parts(text, format), self._spoken)
        if vector is not None:
            sentence = sentence.summing_to(vector)
        matrix = self._word_shares.rows @ sentence.rows.T
        shares = tuple(tuple(row) for row in matrix.tolist())
        return Pairs(self._word_shares.words, sentence.words, shares, sentence.unknown), text

    def _nearest(self, db: sqlite3.Connection, passage: PassageRow, spans: SentenceSpans) -> tuple[int, Float32 | None]:
        """The number and the stored vector of the passage's sentence nearest in meaning; None if none has a vector."""
        assert self._word_shares is not None  # there is a cosine of the passage
        found = self.reader.sentences(db, np.array([passage.id], dtype=np.int64), spans)
        if not len(found.rows):
            return 0, None
        best = int((found.rows @ self._word_shares.rows.sum(axis=0)).argmax())
        return int(found.positions[best]), found.rows[best]


_OTHER = 0.004  # the difference of cosines that are not the same but for rounding


def _mean(cosines: Sequence[Cosine], weights: Weights) -> Dense:
    """The weighted mean of cosines. Their weights are in tenths; they become shares of the cosines that are known."""
    total = sum(cosine.weight for cosine in cosines)
    parts = tuple(replace(each, weight=each.weight / total) for each in cosines)
    cosine = sum(part.weight * part.cosine for part in parts)
    return Dense(weights.dense * cosine, weights.dense, cosine, parts)


def _of_words(
    of: Literal["topics", "passage", "sentence", "title"],
    words: Sequence[str],
    shares: npt.NDArray[Any] | Sequence[float],
) -> Cosine:
    by_word = _by_word(words, shares)
    parts = tuple(WordShare(word, share) for word, share in by_word.items())
    tuned = tuning.TUNING
    shares_of = {
        "topics": tuned.topics_share,
        "passage": tuned.passage_share,
        "sentence": tuned.sentence_share,
        "title": tuned.title_share,
    }
    return Cosine(of, sum(by_word.values()), shares_of[of], parts)


def _by_word(words: Sequence[str], values: npt.NDArray[Any] | Sequence[float]) -> dict[str, float]:
    """The sum of the values of each different word, in the words' order. (n,), (n,)"""
    sums: dict[str, float] = {}
    for word, value in zip(words, values, strict=True):
        sums[word] = sums.get(word, 0.0) + float(value)
    return sums
