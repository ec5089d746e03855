"""Explain a hit: the record that the stages left of its score, and the share that each word of the query has in it.

The points are not computed again. What is: BM25 by term, and the cosines by word, from the query and the sentence
nearest in meaning, which are embedded again word by word (semsearch.embedding.contributions), and the stored vectors of
the passage. So the shares sum to what was recorded, up to rounding. The quoted sentence, often the same one, does not
count for the score (semsearch.search.quote).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt

from semsearch import tuning
from semsearch.arrays.types import Float32
from semsearch.embedding.contributions import WordShares
from semsearch.lexical.bm25 import NeighbourFlags
from semsearch.results.explanation import (
    AlignedWord,
    Cosine,
    Dense,
    Explanation,
    Lexical,
    Near,
    Pairs,
    Quoted,
    TermScore,
    WordShare,
)
from semsearch.results.hits import Hit
from semsearch.results.options import Origin, SearchOptions
from semsearch.search.across_languages import alignments, english_of, foreign_terms
from semsearch.search.candidates import IndexView, Query
from semsearch.search.kept_rows import embed_titles
from semsearch.search.make_hits import origin_of
from semsearch.search.pipeline import rank
from semsearch.search.query import embed, prepare
from semsearch.search.quote import REACH, RECALLED, ScoredSentences, asked_words, similarities
from semsearch.search.scoring import shares_of_cosines
from semsearch.storage.catalogue import PassageRow, SentenceSpans, Titled, get_spans, need_passages
from semsearch.text.terms import named_terms
from semsearch.text.tokens import with_parts, words as split_words


def origin_now(text: str, passage_id: int, options: SearchOptions, index: IndexView) -> Origin:
    """The record of a passage for a query, whether it would be among the hits or not; it need not have the phrases."""
    query = replace(prepare(text, options, index), syntax=None, allowed=None, included=np.array([passage_id]))
    candidates = rank(query, index)
    origin = origin_of(query, candidates, int(np.searchsorted(candidates.ids, passage_id)), index)
    assert origin is not None  # a query that was asked has one
    return origin


def explain(hit: Hit, origin: Origin, index: IndexView) -> Explanation:
    """Explain a hit by the record of its score."""
    passage = need_passages(index.db, [hit.passage_id])[hit.passage_id]
    spans = get_spans(index.db, np.array([passage.id], dtype=np.int64))
    query = _as_compared(origin, index)
    lexical = _lexical(query, origin, spans, passage, index)
    shares = None if query.embedder is None else _word_shares(query)
    dense, pairs, sentence = None, None, hit.sentence
    if shares is not None and any(name in origin.cosines for name in shares_of_cosines()):
        dense, pairs, sentence = _dense(hit, query, origin, shares, spans, passage, index)
    near = None
    if origin.models and (lexical or dense):
        cosine = origin.cosines.get("feedback", 0.0)
        near = Near(origin.points.get("feedback", 0.0), origin.weights.near, cosine, origin.models)
    return Explanation(
        query=origin.query,
        mode=origin.mode,
        sentence=sentence,
        score=origin.score,
        lexical=lexical,
        dense=dense,
        near=near,
        pairs=pairs,
        unknown=() if shares is None else shares.unknown,
        boosts=origin.boosts,
        exact=origin.exact,
        support=origin.support,
        rerank=origin.rerank,
        fused=origin.fused,
        relevance=origin.relevance,
        quote=_quote(query, passage, hit.format, index),
    )


def _as_compared(origin: Origin, index: IndexView) -> Query:
    """The query by which a hit was found, as far as its words and its vector go."""
    reader, text, language = index.reader, origin.query if origin.text is None else origin.text, origin.language
    embedder = None if origin.mode == "lexical" else reader.embedder(index.db)
    terms, vector = named_terms(text, reader.languages), None
    if embedder is not None and language is not None:
        embedder = reader.embedder_of(embedder, [language])
        if language not in reader.languages:
            terms = foreign_terms(text, language, reader.languages, english_of(embedder))
    if embedder is not None:
        vector, _ = embed(text, terms.terms, language, embedder, index)
        vector = vector if vector.any() else None
    words = None if origin.mode == "dense" else reader.lexical.scores(terms.terms)
    options = SearchOptions(mode=origin.mode)
    return Query(text, options, vector, words, origin.query, terms, embedder, language=language)


def _word_shares(query: Query) -> WordShares:
    assert query.embedder is not None  # without one, nothing is compared by meaning
    return query.embedder.shares(query.text, query.language)


def _lexical(
    query: Query, origin: Origin, spans: SentenceSpans, passage: PassageRow, index: IndexView
) -> Lexical | None:
    """The terms of the query in a passage. In another language than the query, fewer of them count than it has."""
    if query.words is None or query.terms is None or "lexical" not in origin.points:
        return None
    lookup, weights, lexical = query.words.lookup, origin.weights, index.reader.lexical
    rows = lexical.locate(np.array([passage.id], dtype=np.int64), NeighbourFlags(spans.before, spans.after))
    held = lexical.explain(lookup, rows)
    bm25 = origin.points["lexical"] * weights.best / weights.lexical
    positions = np.searchsorted(lookup.terms, query.terms.terms)
    distinct = dict.fromkeys(zip(positions.tolist(), query.terms.words, strict=True))
    counts, near = (
        _by_word([word for _, word in distinct], each[[position for position, _ in distinct], 0])
        for each in (held.counts, held.neighbours)
    )
    scores = _by_word(query.terms.words, held.scores[positions, 0])
    if query.language is not None and sum(scores.values()) > bm25 * 1.0001:
        names = None if query.names is None else query.names()
        kept = set() if names is None else set(names.lookup.terms.tolist())
        counted = [term in kept for term in query.terms.terms.tolist()]
        scores = _by_word(query.terms.words, np.where(counted, held.scores[positions, 0], 0))
    terms = tuple(TermScore(word, int(counts[word]), int(near[word]), score) for word, score in scores.items())
    return Lexical(origin.points["lexical"], weights.lexical, bm25, weights.best, terms)


def _dense(
    hit: Hit,
    query: Query,
    origin: Origin,
    shares: WordShares,
    spans: SentenceSpans,
    passage: PassageRow,
    index: IndexView,
) -> tuple[Dense, Pairs | None, str]:
    """The recorded cosines by words of the query; the pairs of words in that of the sentence nearest in meaning."""
    assert query.embedder is not None  # without one, nothing is compared by meaning
    assert query.terms is not None
    reader, cosines, weights = index.reader, origin.cosines, shares_of_cosines()
    ids, pairs, sentence = np.array([passage.id], dtype=np.int64), None, hit.sentence
    by_word: dict[str, Mapping[str, float]] = {}
    rows = reader.passage_vectors.fetch(ids).rows
    vector = rows[0] if len(rows) else np.zeros(0, dtype=np.float32)
    if "topics" in cosines and reader.topics is not None:
        topics = reader.topics.shares(query.terms.terms)
        by_word["topics"] = _by_word(query.terms.words, topics @ reader.halves.topics(vector))
    if "passage" in cosines:
        asked = reader.halves.general(query.vector) if query.vector is not None else shares.rows.sum(axis=0)
        shares = shares.summing_to(asked)
        by_word["passage"] = _by_word(shares.words, shares.rows @ reader.halves.general(vector))
        number, of_sentence = _nearest(asked, spans, ids, index)
        sentence = passage.sentence(number)
        spoken = None if query.language is None else reader.languages_of_passages(index.db, [passage])[0]
        parts = query.embedder.shares(with_parts(sentence, hit.format), spoken)
        parts = parts if of_sentence is None else parts.summing_to(of_sentence)
        matrix = shares.rows @ parts.rows.T
        pairs = Pairs(shares.words, parts.words, tuple(tuple(row) for row in matrix.tolist()), parts.unknown)
        by_word["sentence"] = _by_word(shares.words, matrix.sum(axis=1))
        if "title" in cosines:
            title = embed_titles(query.embedder, [Titled(hit.document, hit.title)])[0]
            by_word["title"] = _by_word(shares.words, shares.rows @ title)
    if "words" in cosines:
        asked_, weights = asked_words(query, index), weights | {"words": tuning.TUNING.aligned_across}
        by_word["words"] = _by_word(asked_.names, alignments(query, [passage], index)[0])
        is_same = abs(sum(by_word["words"].values()) - cosines["words"]) < _OTHER
        by_word["words"] = by_word["words"] if is_same else {}  # not aligned, but counted as the worst that was
        known = sum(weights[name] for name in cosines if name in weights and name != "words")
        weights = weights | {"words": weights["words"] * known}
    total = sum(weights[name] for name in by_word)
    parts_ = tuple(
        Cosine(name, cosines[name], weights[name] / total, tuple(WordShare(*each) for each in of_words.items()))  # type: ignore[arg-type]
        for name, of_words in by_word.items()
    )
    dense = sum(part.weight * part.cosine for part in parts_)
    return Dense(origin.points.get("dense", 0.0), origin.weights.dense, dense, parts_), pairs, sentence


_OTHER = 0.004  # the difference of cosines that are not the same but for rounding


def _nearest(
    asked: Float32, spans: SentenceSpans, ids: npt.NDArray[Any], index: IndexView
) -> tuple[int, Float32 | None]:
    """The number and the stored vector of the passage's sentence nearest in meaning; None if none has a vector."""
    stored = index.reader.sentences(index.db, ids, spans)
    if not len(stored.rows):
        return 0, None
    best = int((stored.rows @ asked).argmax())
    return int(stored.positions[best]), stored.rows[best]


def _quote(query: Query, passage: PassageRow, format: str, index: IndexView) -> Quoted | None:
    """The alignment of the query's words with the sentence of a passage that is shown."""
    asked = asked_words(query, index)
    if not asked.names:
        return None
    sentences = passage.sentence_texts
    (spoken,) = index.reader.languages_of_passages(index.db, [passage])
    texts = [with_parts(text, format) for text in sentences]
    similar = similarities(asked, texts, [spoken] * len(texts))
    scored = ScoredSentences.of(asked, similar)
    chosen = int(scored.scores.argmax())
    near = np.stack([similar[chosen - step] * RECALLED**step for step in range(min(REACH, chosen) + 1)])
    words: list[AlignedWord] = []
    for row, (name, step) in enumerate(zip(asked.names, near.argmax(axis=0).tolist(), strict=True)):
        weight, similarity, match = float(scored.weights[row] * RECALLED**step), float(similar[chosen - step, row]), ""
        if similarity:
            there = [*dict.fromkeys(split_words(texts[chosen - step]))]
            alone = similarities(asked, there, [spoken] * len(there))[:, row]
            match = there[int(alone.argmax())] if alone.max() > 0.99 * similarity else name
        words.append(AlignedWord(name, match, similarity, step, weight, weight * similarity))
    return Quoted(sentences[chosen], sum(word.share for word in words), tuple(words))


def _by_word(words: Sequence[str], values: npt.NDArray[Any] | Sequence[float]) -> dict[str, float]:
    """The sum of the values of each different word, in the words' order. (n,), (n,)"""
    sums: dict[str, float] = {}
    for word, value in zip(words, values, strict=True):
        sums[word] = sums.get(word, 0.0) + float(value)
    return sums
