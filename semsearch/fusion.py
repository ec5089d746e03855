"""Two scores for each candidate, one of meaning and one of words, to one score. Pure.

The cosine is kept as it is; BM25, which has no scale of its own, is divided by the best one of the question. Measured
on seven collections against ranks (reciprocal rank fusion), z-scores and both halves over their best: as good as the
best of these, and the cosine's part does not depend on what else was found. docs/measurements.md has the table.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

Float = npt.NDArray[np.float64]
DENSE_WEIGHT = 0.4


def fuse(dense: Float, lexical: Float) -> Float:
    """w · cosine + (1 - w) · BM25 / best BM25. (n,), (n,) -> (n,); NaN in means nothing known by that half.

    Where one half knows nothing of any candidate, the other decides alone. NaN out means that neither knows anything.
    """
    best = np.nanmax(lexical, initial=0.0)
    shares = np.nan_to_num(lexical) / best if best > 0 else np.zeros(len(lexical))
    if np.isnan(dense).all():
        fused = shares
    elif best <= 0:
        fused = np.nan_to_num(dense)
    else:
        fused = DENSE_WEIGHT * np.nan_to_num(dense) + (1 - DENSE_WEIGHT) * shares
    return np.asarray(np.where(np.isnan(dense) & np.isnan(lexical), np.nan, fused))
