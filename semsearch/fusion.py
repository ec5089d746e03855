"""Two scores for each candidate, one of meaning and one of words, to one score. Pure."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

Float = npt.NDArray[np.float64]
LEXICAL_WEIGHT = 0.5


def fuse(dense: Float, lexical: Float, *, lexical_weight: float = LEXICAL_WEIGHT) -> Float:
    """Each score in units of its best, then their weighted mean. (n,), (n,) -> (n,); NaN means not found by that half.

    Where one half found nothing at all, the other decides alone, with its own scores.
    """
    if np.isnan(lexical).all():
        return dense
    if np.isnan(dense).all():
        return lexical
    weight = lexical_weight
    return np.asarray((1 - weight) * np.nan_to_num(_relative(dense)) + weight * np.nan_to_num(_relative(lexical)))


def _relative(scores: Float) -> Float:
    """Scores over their largest, negative ones at zero."""
    best = np.nanmax(scores, initial=0.0)
    return np.asarray(np.clip(scores, 0, None) / best) if best > 0 else np.asarray(scores * 0)
