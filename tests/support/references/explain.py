"""The share of each pair of words in the cosine of two texts, by loops: oracle of semsearch.embedding.weighted_sums.

The vectors, weights, directions and strengths are given; the rest is the two papers', as in
tests/support/references/papers.py.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import numpy as np


def pairs(
    question: Sequence[str],
    sentence: Sequence[str],
    vectors: Mapping[str, np.ndarray],
    weights: Mapping[str, float],
    directions: np.ndarray,
    strengths: np.ndarray,
    *,
    normalise: bool,
) -> np.ndarray:
    """For each word of the question, and each of the sentence, as often as they stand there. (q, s)"""
    left, right = (
        parts([word for word in text if word in vectors], vectors, weights, directions, strengths, normalise=normalise)
        for text in (question, sentence)
    )
    result = np.zeros((len(left), len(right)))
    for i, one in enumerate(left):
        for j, other in enumerate(right):
            result[i, j] = sum(x * y for x, y in zip(one, other, strict=True))
    return result


def parts(
    text: Sequence[str],
    vectors: Mapping[str, np.ndarray],
    weights: Mapping[str, float],
    directions: np.ndarray,
    strengths: np.ndarray,
    *,
    normalise: bool,
) -> list[np.ndarray]:
    """The part that each word adds to the text's unit vector."""
    found = []
    for word in text:
        vector = vectors[word].astype(float).copy()
        if normalise:
            for column in range(len(vector)):
                norm = math.sqrt(sum(float(vectors[other][column]) ** 2 for other in text))
                vector[column] = vector[column] / norm if norm else 0.0
        vector = weights[word] * vector / len(text)
        rest = vector.copy()
        for direction, strength in zip(directions, strengths, strict=True):
            rest = rest - strength * (vector @ direction) * direction
        found.append(rest)
    length = math.sqrt(float(sum(found) @ sum(found))) if found else 0.0
    return [part / length for part in found]
