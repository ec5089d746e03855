"""Join two unit vectors of a passage into one: the general one (d,), of its words, and that of its topics (k,).

    [√(3/7) · general ; √(4/7) · topics]

The inner product of two such vectors is three sevenths of the one cosine and four of the other, so that one scan ranks
by both. Of a passage's score four parts are the cosine of its topics, three each those of the general vectors of the
passage and of its best sentence, and one that of its document's title. A half of which nothing is known is zero, and
the score is then the mean of what is known, under the same weights: a query of words that the corpus lacks is answered
as if there were no topics, a query of words that only the corpus has by topics alone. In the scan, which has only one
inner product, a passage that lacks a half loses that half's score. Without topics, general vectors stay as they are.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from semsearch import tuning

Float32 = npt.NDArray[np.float32]
Float64 = npt.NDArray[np.float64]


def join(general: Float32, topics: Float32) -> Float32:
    """Join general and topic vectors, both of length one or zero, by their weights. (n, d), (n, k) -> (n, d + k)"""
    return np.concatenate((general * _general_length(), topics * _topics_length()), axis=1)


@dataclass(frozen=True, slots=True)
class Halves:
    """Splits joined vectors into their halves. The last k dimensions are topics; with k = 0 there are none."""

    k: int

    def general(self, vectors: Float32) -> Float32:
        """The general half of joined vectors, of length one or zero. (..., d + k) -> (..., d)"""
        return np.asarray(vectors[..., : -self.k] / _general_length()) if self.k else vectors

    def topics(self, vectors: Float32) -> Float32:
        """The topics' half of joined vectors, of length one or zero. (..., d + k) -> (..., k)"""
        return np.asarray(vectors[..., vectors.shape[-1] - self.k :] / _topics_length())

    def direction(self, vectors: Float32) -> Float32:
        """One vector for several passages: the direction of their sum, in each half. (n, d + k) -> (d + k,)"""
        total: Float32 = vectors.sum(axis=0, dtype=np.float32)
        general = _direction(self.general(total))
        return join(general[None], _direction(self.topics(total))[None])[0] if self.k else general


def combined(topics: Float64, general: Float64, sentence: Float64, title: Float64) -> Float64:
    """The weighted mean of each passage's four cosines, without those that are NaN. (n,) each -> (n,)"""
    tuned, cosines = tuning.TUNING, np.stack((topics, general, sentence, title))
    shares = np.array([[tuned.topics_share], [tuned.passage_share], [tuned.sentence_share], [tuned.title_share]])
    weights = np.where(np.isnan(cosines), 0.0, shares)
    total = weights.sum(axis=0)
    score: Float64 = (weights * np.nan_to_num(cosines)).sum(axis=0) / np.where(total > 0, total, np.nan)
    return score


def _general_length() -> np.float32:
    tuned = tuning.TUNING
    return np.float32((tuned.passage_share / (tuned.passage_share + tuned.topics_share)) ** 0.5)


def _topics_length() -> np.float32:
    tuned = tuning.TUNING
    return np.float32((tuned.topics_share / (tuned.passage_share + tuned.topics_share)) ** 0.5)


def _direction(vector: Float32) -> Float32:
    length = float(np.linalg.norm(vector))
    return np.asarray(vector / np.float32(length or 1))
