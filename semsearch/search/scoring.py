"""The formulas of the ranking: the mean of cosines, fusion of both retrievers, and the relevance of a passage.

The relevance of a passage is the probability that it answers, learned from the judged questions of several collections,
and from questions of other collections, which nothing answers:

    P(answers) = 1 / (1 + exp(-(b + c · cosine · min(1, 0.1 / spread) + w · words + s · share + u · unknown)))

    spread   the standard deviation of the question's cosines with passages of the index, which is large where words
             have estimated vectors, as in a language that the word vectors lack
    words    BM25 / ((k1 + 1) √(Σ idf · idf of the rarest word)): comparable between questions, long ones counting more
    share    of the best passage's score by both retrievers: where a better passage is, this one is less likely meant
    unknown  the share of the question's words without a vector; 0 if the passage has none of the question's words, and
             then the cosine, which such words lower, is multiplied by the share of the others

A passage with all words of the question has at least 0.2: of questions about something else hardly one has it, but a
frequent word says little by itself. Where words or vectors are not compared, the sum has numbers of its own. More
features were no better on unseen collections (docs/research/measurements.md, "Relevance").
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from semsearch import tuning
from semsearch.arrays.types import Bool, Float64
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
    """How likely each passage answers. It adds no points; nor do later stages count for it."""
    if query.original is None or not len(candidates.ids):
        return candidates
    reader, fused_scores = index.reader, candidates.scores
    best = max(float(np.fmax.reduce(fused_scores, initial=0.0)), 0.0)
    has_vector, has_words, trusted = query.vector is not None, query.words is not None, 1.0
    if query.vector is not None:
        trusted = float(trust(reader.spread(reader.halves.general(query.vector[None])))[0])
    words = candidates.lexical.bm25 / (1.0 if query.words is None else query.words.lookup.usual)
    topics = not has_vector or reader.topics is not None  # a search by words alone opens none
    numbers = np.array(relevance_numbers(vector=has_vector, words=has_words, topics=topics))
    if candidates.other_languages is not None and query.language is not None:  # whose words are others
        aligned = is_aligned_across(query.language, reader.language_documents)
        others = relevance_numbers(vector=True, words=False, topics=topics, aligned=aligned)
        numbers = np.where(candidates.other_languages.are_other[:, None], np.array(others), numbers)
    share = fused_scores / (best or np.inf)
    cosine, unknown = candidates.dense.cosine * trusted, np.float64(query.share_without_vectors)
    features = Likelihood(cosine, words, share, unknown, candidates.lexical.has_all)
    candidates.relevance = RelevanceOf(likelihood(numbers, features), trusted, words, share)
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
    """Bias and coefficients of the others, for a query with or without a vector, by words or not. (5,)

    `topics`: whether the index has topics; `aligned`: whether the cosine has the alignment of words across languages.
    """
    tuned = tuning.TUNING
    if aligned:
        return tuned.relevance_aligned
    if vector and words:
        bias, *others = tuned.relevance
        return bias + (0.0 if topics else tuned.relevance_of_small), *others
    return tuned.relevance_without_words if vector else tuned.relevance_without_vectors


def trust(spread: Float64) -> Float64:
    """How much a query's cosines count, 0 to 1, by their spread in the index. (n,) -> (n,)"""
    usual = tuning.TUNING.usual_spread
    return np.asarray(usual / np.maximum(spread, usual))


@dataclass(frozen=True, slots=True)
class Likelihood:
    """What relevance is estimated from. (n,) each; NaN counts as 0"""

    cosine: Float64  # times its trust
    words: Float64
    share: Float64
    unknown: Float64 | np.float64
    whole: Bool  # whether the passage has all words of the question


def likelihood(numbers: Float64, by: Likelihood) -> Float64:
    """P(answers), 0 to 1, rising with cosine, words and share. Numbers (n, 5) or (5,) -> (n,)"""
    bias, of_cosine, of_words, of_share, of_unknown = numbers.T
    tuned, has_words = tuning.TUNING, by.words > 0
    cosine = np.where(np.isnan(by.cosine), 0, by.cosine)
    cosine *= np.where(has_words | (of_words == 0) | (cosine < 0), 1, 1 - by.unknown)
    logits = bias + of_cosine * cosine + of_words * np.fmax(by.words, 0)
    logits += of_share * np.fmax(by.share, tuned.least_share) + of_unknown * np.where(has_words, by.unknown, 0)
    least = np.where(by.whole, tuned.relevance_of_all, 0)
    return np.asarray(np.round(np.fmax(1 / (1 + np.exp(-logits)), least), _DIGITS))
