"""What a model says of passages, and of those that are most like each: passages that are alike answer alike.

    said_i = z(cosine_i) + β Σ_j w_ij (z(score_j) + z(cosine_j))

j are the N passages whose vectors are nearest to that of i, w_ij their cosines with it, divided by the sum of these.
Scores of a ranking that are smoothed so over similar documents rank better: Diaz, Regularizing ad hoc retrieval scores
(CIKM 2005). There one system of equations is solved; here one step is made, over the few passages that were read.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

Float = npt.NDArray[np.floating]

NEIGHBOURS = 8  # N
SHARE = 0.5  # β


def with_those_alike(cosines: Float, scores: Float, vectors: Float) -> Float:
    """What is said of n passages, by their cosines with the question, their scores before, and their vectors.

    (n,), (n,), (n, d) -> (n,). `vectors` have length one, or zero.
    """
    alone = standardised(cosines)
    return alone + SHARE * (_weights(vectors) @ (standardised(scores) + alone))


def standardised(values: Float) -> Float:
    """(x - mean) / standard deviation; zeros if all are equal. (n,) -> (n,)"""
    deviation = values.std()
    return (values - values.mean()) / deviation if deviation > 0 else np.zeros_like(values)


def _weights(vectors: Float) -> Float:
    """How much each passage hears of each other: rows that sum to one, or are zero where nothing is alike. (n, n)"""
    alike = np.maximum(vectors @ vectors.T, 0)
    np.fill_diagonal(alike, 0)
    if len(alike) > NEIGHBOURS:
        least = np.sort(alike, axis=1)[:, -NEIGHBOURS, None]
        alike = np.where(alike >= least, alike, 0)
    sums = alike.sum(axis=1, keepdims=True)
    return np.asarray(alike / np.where(sums > 0, sums, 1))
