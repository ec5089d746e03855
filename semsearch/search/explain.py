"""Explain a hit: the record that the stages left of its score, and the share that each word of the query has in it.

The points are not computed again. What is: BM25 by term, and the cosines by word, from the query, which is embedded
again word by word (semsearch.embedding.weighted_sums), and the stored vectors of the passage and its sentences. So the
shares sum to what was recorded, up to rounding. The quoted sentence, often the one nearest in meaning, does not count
for the score (semsearch.search.quote).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from semsearch import tuning
from semsearch.arrays.types import Int64
from semsearch.embedding.weighted_sums import WordShares
from semsearch.results.explanation import Cosine, Explanation, TermScore, WordShare
from semsearch.results.hits import Hit
from semsearch.results.options import SearchOptions
from semsearch.results.origin import Origin
from semsearch.search.alignment import alignments, names_in, read_query_words, similarities
from semsearch.search.candidates import Query, shares_of_cosines
from semsearch.search.index_reader import IndexView
from semsearch.search.make_hits import origins_of
from semsearch.search.pipeline import best_sentences, rank
from semsearch.search.prepare_query import prepare, with_terms, with_vector
from semsearch.search.quote import compare, quote
from semsearch.storage.passage_rows import PassageRow, SentenceSpans
from semsearch.text.tokens import words as split_words


def origin_now(text: str, passage_id: int, options: SearchOptions, index: IndexView) -> Origin:
    """The record of a passage for a query, whether it would be among the hits or not; it need not have the phrases."""
    query = replace(prepare(text, options, index), allowed=None, included=np.array([passage_id]))
    ranked = rank(query, index)
    ranking, _ = quote(compare(query, ranked, index), ranked)  # which may exchange passages
    candidates = ranking.candidates
    (origin,) = origins_of(query, candidates, [int(np.searchsorted(candidates.ids, passage_id))], index)
    assert origin is not None  # a query that was typed has one
    return origin


def explain(hit: Hit, origin: Origin, index: IndexView) -> Explanation:
    """Explain a hit by the record of its score."""
    text, options = origin.query if origin.text is None else origin.text, SearchOptions(mode=origin.mode)
    typed = with_terms(text, origin.language, options, index)
    query = replace(with_vector(typed, origin.language, index), original=origin.query)
    (row,), ids = index.passages([hit.passage_id]).values(), np.array([hit.passage_id], dtype=np.int64)
    passage = _Passage(row, ids, index.spans(ids), index.languages_of([row])[0])
    words = None if query.embedder is None else query.embedder.shares(text, origin.language)
    cosines, sentence = tuple[Cosine, ...](), hit.sentence
    if words is not None and query.vector is not None and not shares_of_cosines().keys().isdisjoint(origin.cosines):
        cosines, sentence = _cosines(query, origin, words, passage, index)
    return Explanation(
        query=origin.query,
        mode=origin.mode,
        score=origin.score,
        points=origin.points,
        weights=origin.weights,
        sentence=sentence,
        terms=_terms(query, origin, passage, index),
        cosines=cosines,
        unknown=() if words is None else words.unknown,
        boosts=origin.boosts,
        exact=origin.exact,
        rerank=origin.rerank,
        fused=origin.fused,
        relevance=origin.relevance,
        quoted_for=_quoted_for(query, hit, passage, index),
    )


class _Passage(NamedTuple):
    row: PassageRow
    ids: Int64  # (1,)
    spans: SentenceSpans
    language: str


def _terms(query: Query, origin: Origin, passage: _Passage, index: IndexView) -> tuple[TermScore, ...]:
    """The terms of the query in a passage. In another language than the query, fewer of them count than it has."""
    if query.words is None or query.terms is None or "lexical" not in origin.points:
        return ()
    lookup, weights, lexical = query.words, origin.weights, index.reader.lexical
    rows = lexical.locate(passage.ids, passage.spans.before, passage.spans.after)
    held = lexical.explain(lookup, rows)
    bm25 = origin.points["lexical"] * weights.best / weights.lexical
    positions = np.searchsorted(lookup.terms, query.terms.terms)
    distinct = dict.fromkeys(zip(positions.tolist(), query.terms.words, strict=True))
    counts, near = (
        _by_word([word for _, word in distinct], values[[position for position, _ in distinct], 0])
        for values in (held.counts, held.neighbours)
    )
    scores = held.scores[positions, 0]
    if query.language is not None and scores.sum() > bm25 * 1.0001:
        names = names_in(query)
        scores = np.where(np.isin(query.terms.terms, [] if names is None else names.terms), scores, 0)
    return tuple(
        TermScore(word, int(counts[word]), int(near[word]), score)
        for word, score in _by_word(query.terms.words, scores).items()
    )


_ROUNDING = 0.004  # the difference of cosines that are not the same but for rounding


def _cosines(
    query: Query, origin: Origin, words: WordShares, passage: _Passage, index: IndexView
) -> tuple[tuple[Cosine, ...], str]:
    """The recorded cosines by words of the query, and the sentence nearest in meaning.

    A cosine is the product of a vector of the passage and the sum of the vectors of the query's words: so the share of
    a word is the product of the first with its own.
    """
    assert query.terms is not None  # there are cosines
    assert query.vector is not None
    reader, cosines, weights = index.reader, origin.cosines, shares_of_cosines()
    general, topics = reader.halves.of(index.vectors_of(passage.ids, len(query.vector))[0])
    of_query = reader.halves.general(query.vector)
    words = words.summing_to(of_query)
    number, by_word = 0, dict[str, Mapping[str, float]]()
    if "topics" in cosines and reader.topics is not None:
        by_word["topics"] = _by_word(query.terms.words, reader.topics.shares(query.terms.terms) @ topics)
    if "passage" in cosines:
        by_word["passage"] = _by_word(words.words, words.rows @ general)
        number = int(best_sentences(of_query, passage.ids, passage.spans, index)[1][0])
        stored = index.sentences(passage.ids, passage.spans)
        nearest = (words.rows @ row for row in stored.rows[stored.positions == number])  # none without vectors of them
        by_word["sentence"] = _by_word(words.words, next(nearest, np.zeros(len(words.words))))
        if "title" in cosines:
            (title,) = index.titles(passage.spans.documents)
            by_word["title"] = _by_word(words.words, words.rows @ title)
    if "words" in cosines:
        query_words = read_query_words(query, index)
        of_words = _by_word(query_words.names, alignments(query_words, [passage.row.id], index)[0])
        is_aligned = abs(sum(of_words.values()) - cosines["words"]) < _ROUNDING  # else it counts as the worst that is
        by_word["words"] = of_words if is_aligned else {}
        known = sum(weights[name] for name in cosines if name in weights)
        weights = weights | {"words": tuning.TUNING.aligned_across * known}
    total = sum(weights[name] for name in by_word)
    parts = tuple(
        Cosine(name, cosines[name], weights[name] / total, tuple(WordShare(*share) for share in shares.items()))  # type: ignore[arg-type]
        for name, shares in by_word.items()
    )
    return parts, passage.row.sentence(max(number, 0))


_ALIKE = 0.1  # words that are less similar have nothing in common


def _quoted_for(query: Query, hit: Hit, passage: _Passage, index: IndexView) -> dict[str, str]:
    """The words of the query that the shown sentence has, each with the sentence's most similar word."""
    query_words, words = read_query_words(query, index), tuple(dict.fromkeys(split_words(hit.sentence)))
    if not words or not query_words.names:
        return {}
    similar = similarities(query_words, [words], [passage.language])
    nearest = zip(query_words.names, similar.argmax(axis=0).tolist(), similar.max(axis=0).tolist(), strict=True)
    return {name: words[number] for name, number, similarity in nearest if similarity >= _ALIKE}


def _by_word(words: Sequence[str], values: npt.NDArray[Any] | Sequence[float]) -> dict[str, float]:
    """The sum of the values of each different word, in the words' order. (n,), (n,)"""
    sums: dict[str, float] = {}
    for word, value in zip(words, values, strict=True):
        sums[word] = sums.get(word, 0.0) + float(value)
    return sums
