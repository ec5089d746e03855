"""Two scores for each candidate, one of meaning and one of words, to one score. Pure.

The cosine is kept as it is; BM25, which has no scale of its own, is divided by the best one of the question. Measured
on seven collections against ranks (reciprocal rank fusion), z-scores and both halves over their best: as good as the
best of these, and the cosine's part does not depend on what else was found. docs/research/measurements.md: the table.
Cosines are seldom near one: with seven tenths of the weight, the two parts move a score about as much.

A third part brings up what is near the passage that answers best: the cosine with the first of the ranking so far. It
is feedback (Rocchio 1971) without a second search: moving the question towards that passage would add the same numbers
to all scores, to a factor.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from semsearch import tuning
from semsearch.results.origin import Weights

Float = npt.NDArray[np.float64]


def weigh(*, is_dense: bool, best: float, near: float = 0.0) -> Weights:
    """The weights where a half knows something, or nothing of any candidate, and then the other decides alone.

    `is_dense`: whether meaning knows any; `best`: the best BM25, 0 where no candidate shares a word; `near`: the share
    of nearness, where both halves know something.
    """
    if best <= 0:
        return Weights(1.0, 0.0)
    if not is_dense:
        return Weights(0.0, 1.0, best)
    dense = tuning.TUNING.dense_weight
    return Weights((1 - near) * dense, (1 - near) * (1 - dense), best, near)


def weights_of(dense: Float, lexical: Float, *, near: float = 0.0) -> Weights:
    """The weights for candidates. (n,), (n,), NaN where a half knows nothing"""
    return weigh(is_dense=not np.isnan(dense).all(), best=float(np.nanmax(lexical, initial=0.0)), near=near)


def fuse(dense: Float, lexical: Float, weights: Weights | None = None) -> Float:
    """w · cosine + (1 - w) · BM25 / best BM25. (n,), (n,) -> (n,); NaN in means nothing known by that half.

    Where one half knows nothing of any candidate, the other decides alone. NaN out means that neither knows anything.
    Other weights may be given.
    """
    return fuse_each(dense, lexical, [weights or weights_of(dense, lexical)], np.zeros(len(dense), dtype=np.intp))


def fuse_each(dense: Float, lexical: Float, weights: Sequence[Weights], owners: npt.NDArray[np.intp]) -> Float:
    """Fuse the scores of several queries' candidates; `owners`: each one's query. (p,), (p,), q weights, (p,)"""
    table = np.array([(each.dense, each.lexical, each.best) for each in weights], dtype=np.float64).reshape(-1, 3)
    of_dense, of_lexical, best = table[owners].T
    unknown = np.isnan(dense), np.isnan(lexical)
    fused = of_dense * np.where(unknown[0], 0, dense) + of_lexical * (np.where(unknown[1], 0, lexical) / best)
    return np.asarray(np.where(unknown[0] & unknown[1], np.nan, fused))
