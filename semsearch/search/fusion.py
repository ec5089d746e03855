"""The formulas of the scores: the weighted mean of the cosines, and the fusion of both retrievers."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from semsearch import tuning
from semsearch.arrays.types import Float64
from semsearch.results.options import Mode
from semsearch.results.origin import Weights
from semsearch.search.candidates import Candidates, Query

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
