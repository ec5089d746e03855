"""How passages in another language than the question's compare with it. An index in English alone is never here."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from semsearch import tuning
from semsearch.arrays.types import Bool, Float32, Float64
from semsearch.lexical.bm25 import WordScores
from semsearch.results.explanation import Weights
from semsearch.search.alignment import query_words, similarities
from semsearch.search.candidates import Candidates, DenseScores, OtherLanguages, Query, fused, mean_cosine, weights_of
from semsearch.search.index_reader import IndexView
from semsearch.storage.passage_rows import PassageRow
from semsearch.text.languages import RULES
from semsearch.text.terms import hashes_of, spelled
from semsearch.word_vectors.language_table import LanguageTable
from semsearch.word_vectors.multilingual import english_of, language_table
from semsearch.word_vectors.table import WordVectors

# -- The stage ---------------------------------------------------------------------------------------------------------


def across_languages(query: Query, candidates: Candidates, index: IndexView) -> Candidates:
    """Compare passages in another language than the query's, which have neither its topics nor its words.

    Of the words only names and numbers can be the same. The cosine has the weight by which the nearest passages in the
    query's own language would have about their scores, and counts how well the passage's words, and those of its
    headings, align with the query's: static vectors find a word's translation better than the mean of all words finds
    that of a text (docs/research/measurements.md, "Languages").
    """
    if query.language is None or not len(candidates.ids):
        return candidates
    languages = index.languages_of_documents(candidates.spans.documents)
    other = np.array([language != query.language for language in languages], dtype=np.bool_)
    if not other.any():
        return candidates
    if (names := names_in(query)) is not None:
        bm25 = names.scored(index.reader.lexical.locate(candidates.ids, candidates.neighbours))
        candidates.lexical = replace(candidates.lexical, bm25=np.where(other, bm25, candidates.lexical.bm25))
    dense = candidates.dense
    general = dense.cosine
    if dense.cosines:
        topics = dense.cosines["topics"]
        general = mean_cosine({**dense.cosines, "topics": np.full(len(other), np.nan)})
        cosines = {**dense.cosines, "topics": np.where(other, np.nan, topics)}
        candidates.dense = replace(dense, cosine=np.where(other, general, dense.cosine), cosines=cosines)
    weights = _weights_of_others(weights_of(query, candidates), candidates, other, general)
    are_aligned = _are_aligned(query.language, index.reader.language_documents)
    candidates.other_languages = OtherLanguages(other, weights, are_aligned)
    if dense.cosines and are_aligned:
        candidates.dense = _aligned(query, candidates, candidates.other_languages, index)
    return candidates


_FEW_OWN = 0.1  # share of the documents that are in the query's language


def _are_aligned(language: str, documents: Mapping[str, int]) -> bool:
    """Whether the alignment of a query's words counts in the ranking of passages in other languages.

    Hardly any of the index's `documents` of each language may be in its own: beside passages in it, their translations
    would gain too much. A query has whole words, not characters or sequences of letters, if none is.
    """
    own, is_whole = documents.get(language, 0), not (RULES[language].pairs or RULES[language].sequences)
    return not own or (is_whole and own <= _FEW_OWN * sum(documents.values()))


def _weights_of_others(own: Weights, candidates: Candidates, other: Bool, general: Float64) -> Weights:
    """The weights of passages in `other` languages, by ridge regression towards all weight, which the cosine has
    without any passage in the query's language that is near. `general`: the mean cosines without topics. (n,)"""
    tuned = tuning.TUNING
    there = np.flatnonzero(~other & ~np.isnan(general))
    weight = own.dense + own.lexical
    if len(there):
        there = there[np.argsort(-general[there], kind="stable")[: tuned.across_nearest]]
        dense, lexical = fused(candidates.dense.cosine[there], candidates.lexical.bm25[there], own)
        near = np.maximum(general[there], 0)
        weight = (float((dense + lexical) @ near) + tuned.across_ridge * weight) / (
            float(near @ near) + tuned.across_ridge
        )
        weight = min(weight, tuned.across_most)
    return Weights(weight, tuned.words_across * own.lexical, own.best, own.near)


def _aligned(query: Query, candidates: Candidates, others: OtherLanguages, index: IndexView) -> DenseScores:
    """Let the alignment of words count for the best passages; the others as if theirs were as the worst of these."""
    tuned, dense = tuning.TUNING, candidates.dense
    at = np.flatnonzero(others.are_other & ~np.isnan(dense.cosine))
    scores = sum(fused(dense.cosine[at], candidates.lexical.bm25[at], others.weights))
    most = max(tuned.across_aligned, query.options.k + tuned.across_aligned_beyond)
    best = at[np.argsort(-scores, kind="stable")[:most]]
    if not len(best):
        return dense
    ids = candidates.ids[best].tolist()
    passages = index.passages(ids)
    aligned = alignments(query, [passages[id_] for id_ in ids], index).sum(axis=1)
    values, cosine = np.full(len(candidates.ids), np.nan), dense.cosine.copy()
    values[at] = aligned.min()
    values[best] = aligned
    cosine[at] = (cosine[at] + tuned.aligned_across * values[at]) / (1 + tuned.aligned_across)
    return replace(dense, cosine=cosine, cosines={**dense.cosines, "words": values})


def alignments(query: Query, passages: Sequence[PassageRow], index: IndexView) -> Float64:
    """What each word of a query adds to how well passages have them all: idf_i (max_j A_ij + B_i) / 2 Σ idf.

    A_ij is how well sentence j of the passage has the word (semsearch.search.alignment), B_i how well the headings
    above have it. They count as a sentence, too; where there are none, B_i = max_j A_ij. Rows sum to 0 to 1. (n, q)
    """
    asked = query_words(query, index)
    languages = index.languages_of(passages)
    sentences = [tuple(passage.sentence_texts) for passage in passages]
    headings = [("\n".join(passage.headings),) for passage in passages]
    similar = similarities(asked, [*sentences, *headings], [*languages, *languages])
    n, starts = sum(map(len, sentences)), np.cumsum([0, *map(len, sentences)])[:-1]
    above: Float32 = similar[n:]
    best = np.maximum(np.maximum.reduceat(similar[:n], starts, axis=0), above)
    bare = [at for at, passage in enumerate(passages) if not passage.headings]
    above[bare] = best[bare]
    idf = np.square(asked.weights)
    return np.asarray((best + above) / 2 * (idf / max(float(idf.sum()), 1e-9)))


# -- Words that are the same in other languages ------------------------------------------------------------------------

_FREQUENT = 20_000  # words of a language, which are no names


def names_in(query: Query) -> WordScores | None:
    """The words of a query that are the same in other languages: with digits, or none of the frequent words of its
    language. None if it is not compared by words."""
    if query.words is None or query.terms is None or query.language is None or query.embedder is None:
        return None
    english = english_of(query.embedder.chosen_.vectors)
    table = language_table(query.language, english) or english
    ids = table.lookup(hashes_of([spelled(word, query.language) for word in query.terms.words]))
    is_frequent = (ids >= 0) & (table.frequencies[np.maximum(ids, 0)] > _least_frequent(table))
    has_digit = np.array([any(map(str.isdigit, word)) for word in query.terms.words], dtype=np.bool_)
    return query.words.only(query.terms.terms[has_digit | ~is_frequent])


_least: dict[str, float] = {}


def _least_frequent(table: WordVectors | LanguageTable) -> float:
    """The p(w) above which a word of a table is one of its frequent words."""
    if table.digest not in _least:  # it takes longer than all else that is done with a question's names
        p = table.frequencies
        _least[table.digest] = float(np.partition(p, -_FREQUENT)[-_FREQUENT]) if len(p) > _FREQUENT else 0.0
    return _least[table.digest]
