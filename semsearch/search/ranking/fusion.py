"""Fuse the two scores of each candidate, one by meaning and one by words, into one score. Pure.

The cosine is kept as it is; BM25, which has no scale of its own, is divided by the best one for the query. Measured on
seven collections against ranks (reciprocal rank fusion), z-scores and both halves over their best: as good as the best
of these, and the cosine's part does not depend on the other candidates. docs/research/measurements.md has the table.
Cosines are seldom near one: with seven tenths of the weight, the two parts move a score about as much.

A third part favours candidates near the best passage: the cosine with the first of the ranking so far. It is feedback
(Rocchio 1971) without a second search: moving the query towards that passage would add the same numbers to all scores,
up to a factor.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from semsearch import tuning
from semsearch.results.origin import Weights

Float = npt.NDArray[np.float64]


def weigh(*, is_dense: bool, best: float, near: float = 0.0, known: float = 1.0) -> Weights:
    """Choose the weights of the parts of a score. Where one half scores no candidate, the other decides alone.

    `is_dense`: whether any candidate has a dense score; `best`: the best BM25, 0 where no candidate shares a word;
    `near`: the weight of nearness, which counts only where both halves score candidates; `known`: the share of the
    query's words that the word vectors know.
    """
    if best <= 0:
        return Weights(1.0, 0.0)
    if not is_dense:
        return Weights(0.0, 1.0, best)
    dense = dense_weight(known)
    return Weights((1 - near) * dense, (1 - near) * (1 - dense), best, near)


def dense_weight(known: float) -> float:
    """The weight of meaning: less where the word vectors know few of the query's words, as in another language.

    What they know nothing of is guessed from its pieces, or not compared; topics still know the corpus's own words.
    """
    tuned = tuning.TUNING
    share = max(0.0, (known - tuned.known_least) / (1 - tuned.known_least))
    return share * tuned.dense_weight + (1 - share) * tuned.dense_weight_unknown


def weights_of(dense: Float, lexical: Float, *, near: float = 0.0) -> Weights:
    """Choose the weights for candidates with these scores, NaN where a half has none. (n,), (n,)"""
    return weigh(is_dense=not np.isnan(dense).all(), best=float(np.nanmax(lexical, initial=0.0)), near=near)


def fuse(dense: Float, lexical: Float, weights: Weights | None = None) -> Float:
    """Fuse scores: w · cosine + (1 - w) · BM25 / best BM25. NaN is a score that is not known. (n,), (n,) -> (n,)

    Where one half scores no candidate, the other decides alone. Other weights may be given.
    """
    return fuse_each(dense, lexical, [weights or weights_of(dense, lexical)], np.zeros(len(dense), dtype=np.intp))


def fuse_each(dense: Float, lexical: Float, weights: Sequence[Weights], owners: npt.NDArray[np.intp]) -> Float:
    """Fuse the scores of several queries' candidates; `owners`: each candidate's query. (p,), (p,), q weights, (p,)"""
    table = np.array([(each.dense, each.lexical, each.best) for each in weights], dtype=np.float64).reshape(-1, 3)
    of_dense, of_lexical, best = table[owners].T
    unknown = np.isnan(dense), np.isnan(lexical)
    fused = of_dense * np.where(unknown[0], 0, dense) + of_lexical * (np.where(unknown[1], 0, lexical) / best)
    return np.asarray(np.where(unknown[0] & unknown[1], np.nan, fused))
