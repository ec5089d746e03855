"""How likely passages answer a query (the relevance), and whether the index does (the verdict).

The relevance of a passage is the probability that it answers. Of the passage with the best score it is learned from the
judged questions of several collections, and from questions of other collections, which nothing answers; of others it
is less, by how far their scores fall behind:

    P(answers) = 1 / (1 + exp(-(b + c · cosine · min(1, 0.1 / spread) + w · words + u · unknown - f · (1 - share))))

    cosine   of the best passage
    spread   the standard deviation of the question's cosines with passages of the index, which is large where words
             have estimated vectors, as in a language that the word vectors lack
    words    BM25 of the best passage / ((k1 + 1) √(Σ idf · idf of the rarest word)): comparable between questions
    unknown  the share of the question's words without a vector; 0 if the best passage has none of the question's words,
             and then the cosine, which such words lower, is multiplied by the share of the others
    share    the score as a share of the best one, both before boosts and exact words

Where words or vectors are not compared, the sum has numbers of its own. The verdict is one score of the query:

    score    = b + r · logit(relevance) + c · coverage + n · log(1 + passages) + m · log(words) + f · foreign

    relevance  of the best passage
    coverage   how much of the query one of the three best passages says, the geometric mean of its words:
               exp(Σ_i w_i log max(A_i, ε) / Σ_i w_i), A_i how well the passage, a heading, the document's title or its
               file's name has the i-th word (semsearch.search.alignment), w_i = √idf_i · a / (a + p_i) (Arora et al.
               2017): a word counts that is rare both in the index and in general text
    passages   of the index: in a large one something is near any query
    words      of the query: a single word is met by chance
    foreign    1 if no document is in the query's language: its words are compared by their vectors alone

docs/research/measurements.md, "Relevance" and "The verdict", has how the numbers were learned, and how right they are.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from semsearch import tuning
from semsearch.arrays.types import Float64
from semsearch.lexical.corrections import PLAIN_VERBS
from semsearch.results.hits import Verdict
from semsearch.search.alignment import QueryWords
from semsearch.search.candidates import Candidates, Query, Ranking, RelevanceOf
from semsearch.search.index_reader import IndexView
from semsearch.search.quote import Compared
from semsearch.text.languages import RULES

# -- Relevance ---------------------------------------------------------------------------------------------------------

_DIGITS = 4  # further ones are noise, and long in JSON


def relevance(query: Query, candidates: Candidates, index: IndexView) -> Candidates:
    """How likely each passage answers. It adds no points."""
    scores = candidates.scores
    if query.original is None or np.isnan(scores).all():
        return candidates
    reader, best = index.reader, int(np.argmax(np.where(np.isnan(scores), -np.inf, scores)))
    has_vector, has_words, trusted = query.vector is not None, query.words is not None, 1.0
    if query.vector is not None:
        trusted = float(cosine_confidence(np.float64(reader.spread(reader.halves.general(query.vector)))))
    topics = not has_vector or reader.topics is not None  # a search by words alone opens none
    numbers = relevance_weights(vector=has_vector, words=has_words, topics=topics)
    if candidates.are_other is not None and candidates.are_other[best]:  # whose words are others
        numbers = relevance_weights(vector=True, words=False, topics=topics, aligned=candidates.are_aligned)
    bm25, cosine = (
        0.0 if math.isnan(value) else float(value) for value in (candidates.bm25[best], candidates.cosine[best])
    )
    words = bm25 / (1.0 if query.words is None else query.words.normalizer)
    level = logit_of_best(numbers, cosine=cosine * trusted, words=words, unknown=query.share_without_vectors)
    share = np.clip(1 - (scores[best] - scores) / max(float(scores[best]), 1e-9), 0, 1)
    candidates.relevance = RelevanceOf(level, likelihood(level, share), share, cosine, trusted, words)
    return candidates


def relevance_weights(*, vector: bool, words: bool, topics: bool = True, aligned: bool = False) -> tuple[float, ...]:
    """Bias, and the weights of cosine, words and unknown, for a query with or without a vector, with or without words.

    `topics`: whether the index has topics; `aligned`: whether the cosine has the alignment of words across languages.
    """
    tuned = tuning.TUNING
    if aligned:
        return tuned.relevance_aligned
    if vector and words:
        bias, *others = tuned.relevance
        return bias + (0.0 if topics else tuned.relevance_of_small), *others
    return tuned.relevance_without_words if vector else tuned.relevance_without_vectors


def cosine_confidence(spread: Float64 | np.float64) -> Float64:
    """How much a query's cosines count, 0 to 1, by their spread in the index. (n,) -> (n,)"""
    usual = tuning.TUNING.usual_spread
    return np.asarray(usual / np.maximum(spread, usual))


def logit_of_best(numbers: tuple[float, ...], *, cosine: float, words: float, unknown: float) -> float:
    """The logarithm of the odds that the best passage answers; `cosine`: times its confidence."""
    bias, of_cosine, of_words, of_unknown = numbers
    if words <= 0 < of_words and cosine > 0:
        cosine *= 1 - unknown
    return bias + of_cosine * cosine + of_words * max(words, 0.0) + (of_unknown * unknown if words > 0 else 0.0)


def likelihood(level: float, share: Float64) -> Float64:
    """P(answers), 0 to 1, by the odds of the best passage and the shares of its score. (n,) -> (n,)"""
    return np.asarray(np.round(1 / (1 + np.exp(tuning.TUNING.relevance_fall * (1 - share) - level)), _DIGITS))


# -- The verdict -------------------------------------------------------------------------------------------------------

_LEAST = 0.05  # ε
_LEAST_RARITY = 0.1  # a / (a + p) that a single foreign word needs: not "wat", Dutch for what


class Judgement(NamedTuple):
    """The verdict on a query, with the features that decide it."""

    verdict: Verdict
    missing: tuple[str, ...]  # its words that no passage has
    features: tuple[float, ...]  # 1, logit of the relevance, coverage, log of passages, log of words, foreign


def judge(query: Query, compared: Compared | None, ranking: Ranking, index: IndexView) -> Judgement | None:
    """Judge whether the index answers a query; None for passages that stand for one, which has no words to align."""
    candidates, tuned = ranking.candidates, tuning.TUNING
    if query.original is None or compared is None:
        return None
    missing = _missing(query.original, query, compared.query_words, index)
    if candidates.relevance is None or not ranking.order:
        return Judgement("not here", missing, ())
    is_foreign = query.language is not None and query.language not in index.reader.languages
    is_uninformative = is_foreign and _rarity(compared.query_words).max(initial=0) < _LEAST_RARITY
    features = (
        1.0,
        min(max(candidates.relevance.level, -9.0), 9.0),
        0.0 if is_uninformative else _coverage(compared),
        float(np.log1p(index.reader.lexical.passages)),
        float(np.log(max(query.word_count, 1))),
        float(is_foreign),
    )
    score = float(np.dot(features, tuned.verdict))
    if any(id_ in candidates.literal for id_ in candidates.ids[compared.best].tolist()):
        score = max(score, tuned.verdict_not_here)  # an exact part of the query is there
    verdict: Verdict = "answers" if score >= 0 else "perhaps" if score >= tuned.verdict_not_here else "not here"
    return Judgement(verdict, missing, features)


def _coverage(compared: Compared) -> float:
    """The largest share of a query that one of the best passages has, with its title and headings, 0 to 1."""
    weights = compared.query_words.weights * _rarity(compared.query_words)
    if not weights.sum():
        return 0.0
    best = [compared.passages[at] for at in compared.best]
    similar = np.maximum([passage.alone.max(axis=0) for passage in best], [passage.around for passage in best])
    return float(np.exp(np.log(np.maximum(similar, _LEAST)) @ (weights / weights.sum())).max())


def _rarity(query_words: QueryWords) -> Float64:
    """a / (a + p) of each word. (q,)"""
    a = tuning.TUNING.verdict_a
    return np.asarray(a / (a + query_words.frequencies))


def _missing(original: str, query: Query, query_words: QueryWords, index: IndexView) -> tuple[str, ...]:
    """The words of a query that no passage has, but for such as are frequent in general; none of single characters."""
    reader = index.reader
    if query.language is not None:
        rules = RULES[query.language]
        if query.language not in reader.languages or rules.pairs or rules.sequences:
            return ()
    are_informative = ~query_words.are_indexed & (_rarity(query_words) >= 0.5)
    missing = (name for name, is_missing in zip(query_words.names, are_informative.tolist(), strict=True) if is_missing)
    return tuple(name for name in missing if name not in PLAIN_VERBS or name in original.casefold())
