"""The formulas of the ranking: the mean of cosines, fusion of both retrievers, and the relevance of a passage.

The relevance of a passage is the probability that it answers. Of the passage with the best score it is learned from the
judged questions of several collections, and from questions of other collections, which nothing answers; of others it
is less, by how far their scores fall behind:

    P(answers) = 1 / (1 + exp(-(b + c · cosine · min(1, 0.1 / spread) + w · words + u · unknown - f · (1 - share))))

    cosine   of the best passage
    spread   the standard deviation of the question's cosines with passages of the index, which is large where words
             have estimated vectors, as in a language that the word vectors lack
    words    BM25 of the best passage / ((k1 + 1) √(Σ idf · idf of the rarest word)): comparable between questions, long
             ones counting more
    unknown  the share of the question's words without a vector; 0 if the best passage has none of the question's words,
             and then the cosine, which such words lower, is multiplied by the share of the others
    share    the score as a share of the best one, both before boosts and exact words

So it agrees with the order, but where boosts or exact words change that. Where words or vectors are not compared, the
sum has numbers of its own. More features were no better on unseen collections (docs/research/measurements.md,
"Relevance").
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from semsearch import tuning
from semsearch.arrays.types import Float64
from semsearch.results.options import Mode
from semsearch.results.origin import Weights
from semsearch.search.candidates import Candidates, Query, RelevanceOf
from semsearch.search.index_reader import IndexView
from semsearch.text.languages import RULES

# -- The dense score ---------------------------------------------------------------------------------------------------


def shares_of_cosines() -> dict[str, float]:
    """The parts that each cosine is of the dense score, where all are known."""
    tuned = tuning.TUNING
    return {
        "topics": tuned.topics_share,
        "passage": tuned.passage_share,
        "sentence": tuned.sentence_share,
        "title": tuned.title_share,
    }


def mean_cosine(cosines: Mapping[str, Float64]) -> Float64:
    """The weighted mean of the cosines of each passage, by what is compared, without those that are NaN. -> (n,)"""
    total = score = np.zeros(1)
    for name, share in shares_of_cosines().items():
        is_known = ~np.isnan(cosines[name])
        total = total + share * is_known
        score = score + np.where(is_known, share * cosines[name], 0.0)
    return np.asarray(score / np.where(total == 0, np.nan, total))


# -- Fusion ------------------------------------------------------------------------------------------------------------

_ALONE: dict[Mode, Weights] = {"dense": Weights(1.0, 0.0), "lexical": Weights(0.0, 1.0)}


def weights_of(query: Query, candidates: Candidates) -> Weights:
    """The weights by which the scores of a query's candidates are fused."""
    if query.options.mode in _ALONE:
        return _ALONE[query.options.mode]
    return weigh(
        is_dense=not np.isnan(candidates.dense.cosine).all(),
        best=float(np.fmax.reduce(candidates.lexical.bm25, initial=0.0)),
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
    return weights.dense * np.nan_to_num(dense), weights.lexical * np.nan_to_num(lexical) / weights.best


# -- Relevance ---------------------------------------------------------------------------------------------------------

_DIGITS = 4  # further ones are noise, and long in JSON


def relevance(query: Query, candidates: Candidates, index: IndexView) -> Candidates:
    """How likely each passage answers. It adds no points."""
    scores = candidates.scores
    if query.original is None or np.isnan(scores).all():
        return candidates
    reader, best = index.reader, int(np.nanargmax(scores))
    has_vector, has_words, trusted = query.vector is not None, query.words is not None, 1.0
    if query.vector is not None:
        trusted = float(trust(np.float64(reader.spread(reader.halves.general(query.vector)))))
    topics = not has_vector or reader.topics is not None  # a search by words alone opens none
    numbers = relevance_numbers(vector=has_vector, words=has_words, topics=topics)
    others = candidates.other_languages
    if others is not None and others.are_other[best] and query.language is not None:  # whose words are others
        aligned = is_aligned_across(query.language, reader.language_documents)
        numbers = relevance_numbers(vector=True, words=False, topics=topics, aligned=aligned)
    bm25 = np.nan_to_num(candidates.lexical.bm25[best])
    words = float(bm25 / (1.0 if query.words is None else query.words.lookup.usual))
    cosine = float(np.nan_to_num(candidates.dense.cosine[best]))
    level = logit_of_best(numbers, cosine=cosine * trusted, words=words, unknown=query.share_without_vectors)
    share = np.clip(1 - (scores[best] - scores) / max(float(scores[best]), 1e-9), 0, 1)
    candidates.relevance = RelevanceOf(level, likelihood(level, share), share, cosine, trusted, words)
    return candidates


_FEW_OWN = 0.1  # share of the documents that are in the query's language


def is_aligned_across(language: str, documents: Mapping[str, int]) -> bool:
    """Whether the alignment of a query's words counts in the ranking of passages in other languages.

    Hardly any of the index's `documents` of each language may be in its own: beside passages in it, their translations
    would gain too much. A query has whole words, not characters or sequences of letters, if none is.
    """
    own, is_whole = documents.get(language, 0), not (RULES[language].pairs or RULES[language].sequences)
    return not own or (is_whole and own <= _FEW_OWN * sum(documents.values()))


def relevance_numbers(*, vector: bool, words: bool, topics: bool = True, aligned: bool = False) -> tuple[float, ...]:
    """Bias, and what cosine, words and unknown are multiplied by, for a query with a vector or words or without.

    `topics`: whether the index has topics; `aligned`: whether the cosine has the alignment of words across languages.
    """
    tuned = tuning.TUNING
    if aligned:
        return tuned.relevance_aligned
    if vector and words:
        bias, *others = tuned.relevance
        return bias + (0.0 if topics else tuned.relevance_of_small), *others
    return tuned.relevance_without_words if vector else tuned.relevance_without_vectors


def trust(spread: Float64 | np.float64) -> Float64:
    """How much a query's cosines count, 0 to 1, by their spread in the index. (n,) -> (n,)"""
    usual = tuning.TUNING.usual_spread
    return np.asarray(usual / np.maximum(spread, usual))


def logit_of_best(numbers: tuple[float, ...], *, cosine: float, words: float, unknown: float) -> float:
    """The logarithm of the odds that the best passage answers; `cosine` is times its trust."""
    bias, of_cosine, of_words, of_unknown = numbers
    if words <= 0 < of_words and cosine > 0:
        cosine *= 1 - unknown
    return bias + of_cosine * cosine + of_words * max(words, 0.0) + (of_unknown * unknown if words > 0 else 0.0)


def likelihood(level: float, share: Float64) -> Float64:
    """P(answers), 0 to 1, by the odds of the best passage and the shares of its score. (n,) -> (n,)"""
    return np.asarray(np.round(1 / (1 + np.exp(tuning.TUNING.relevance_fall * (1 - share) - level)), _DIGITS))
